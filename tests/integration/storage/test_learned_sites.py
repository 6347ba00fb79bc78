"""What a page says cannot keep from PostgreSQL what is learned of its site, and of others."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import psycopg2
import pytest

from crawler.extract import extract, parse
from crawler.extract.template import Book
from crawler.learned_sites import template_rows
from crawler.stores.template_rows import read_templates, write_templates

pytestmark = pytest.mark.postgres
HALF, ZERO = "x\ud800y", "a\0b"


@pytest.mark.parametrize("text", [HALF, ZERO])
def test_a_template_with_what_is_no_text_is_stored_and_the_others_with_it(
    database: str, text: str
) -> None:
    book = Book()
    for site, sku in (("first.example", "1"), ("hostile.example", text), ("last.example", "2")):
        for number in range(20):
            offer = {"@type": "Offer", "price": f"{number}.50", "priceCurrency": "EUR"}
            data = {"@type": "Product", "name": f"Lamp {sku} {number}", "brand": sku}
            data = {"@context": "https://schema.org", **data, "sku": sku, "offers": offer}
            said = f'<script type="application/ld+json">{json.dumps(data)}</script>'
            url = f"https://{site}/p/{number}"
            book.judge(site, extract(parse(f"<html>{said}<h1>Lamp {number}</h1>", url)))
    rows = list(template_rows(book, 1, datetime.now(UTC)))
    with psycopg2.connect(database) as connection, connection.cursor() as cursor:
        write_templates(cursor, rows)
    sites = {site for site, _, _ in read_templates(database)}
    assert sites == {"first.example", "hostile.example", "last.example"}

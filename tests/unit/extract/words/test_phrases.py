"""Each phrase that shops write of their stock, and each label of a number or a maker, is understood."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from crawler.extract import extract, parse

PHRASES = tomllib.loads((Path(__file__).parent / "phrases.toml").read_text("utf-8"))
ROWS = ["<p>{}: {}</p>", "<table><tr><th>{}</th><td>{}</td></tr></table>", "<li><b>{}</b> {}</li>"]
STOCK = {
    "in_stock": {"InStock", "LimitedAvailability"},
    "out_of_stock": {"OutOfStock", "Discontinued"},
    "pre_order": {"PreOrder"},
}
VALUES = {"sku": "TR-3200B", "brand": "Felsental", "gtin": "4000000000112"}


def read(lang: str, body: str, *, sells: bool = True) -> dict[str, Any]:
    words = PHRASES[lang]
    button = f"<button>{words['buy']}</button>" if sells else ""
    page = (
        f'<html lang="{lang}"><title>Nordwand Trekking 320 | Shop</title>'
        f'<h1>Nordwand Trekking 320</h1><img src="/1.jpg"><div class="price">{words["price"]}</div>'
        f"{button}{body}"
    )
    return extract(parse(page, "https://shop.example/p/nordwand-trekking-320")).fields


@pytest.mark.parametrize("lang", PHRASES)
@pytest.mark.parametrize("kind", STOCK)
def test_each_phrase_of_the_stock_is_understood(lang, kind):
    sells = kind != "out_of_stock"
    read_as = {
        phrase: read(lang, f"<p>{phrase}</p>", sells=sells).get("availability")
        for phrase in PHRASES[lang][kind]
    }
    assert {phrase for phrase, stock in read_as.items() if stock not in STOCK[kind]} == set()


@pytest.mark.parametrize("lang", PHRASES)
@pytest.mark.parametrize("field", VALUES)
def test_each_label_of_a_number_or_a_maker_is_understood(lang, field):
    labels = PHRASES[lang][field]
    value = VALUES[field]
    missed = [
        (label, row)
        for label in labels
        for row in ROWS
        if read(lang, row.format(label, value)).get(field) != value
    ]
    assert missed == []

"""What the parser got wrong on pages and series of templates that nobody had tried: one case a cause."""

import json
from decimal import Decimal
from typing import Any

from crawler.extract import Found, extract, parse
from crawler.extract.money.amounts import find_prices

BUY = "<button>Add to cart</button>"
PRICE = "<p class=price>$40.00</p>"


def found(body: str, title: str = "Oak Lamp", data: dict[str, Any] | None = None) -> Found:
    node = {"@context": "https://schema.org", "@type": "Product", **(data or {})}
    head = f'<script type="application/ld+json">{json.dumps(node)}</script>' if data else ""
    html = f"<html lang=en><head><title>{title}</title>{head}</head><body>{body}</body></html>"
    return extract(parse(html, "https://shop.example/p/oak-lamp"))


def test_a_cyrillic_letter_before_figures_begins_a_code_and_is_no_rouble() -> None:
    assert [str(money.value) for money in find_prices("Арт. Р402, 3 310 р")] == ["3310"]
    body = "<h1>Лампа</h1><div>Арт. Р402</div><div>3 310 руб.</div><button>Купить</button>"
    fields = found(body, title="Лампа").fields
    assert (fields["price"], fields["sku"]) == (Decimal(3310), "Р402")

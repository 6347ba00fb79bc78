"""Which of a page's amounts is the product's price, by what stands around it."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.extract import extract, parse
from crawler.extract.external_id import product_part

SHOP = "https://shop.example/p/drill-12"


def read(*parts: str, head: str = "", url: str = SHOP) -> dict[str, Any]:
    head, body = f"<head><title>Steel drill</title>{head}</head>", "".join(parts)
    html = f"<html lang=en>{head}<body><main>{body}</main></body></html>"
    return dict(extract(parse(html, url)).fields)


def price(*parts: str) -> tuple[str | None, str | None]:
    """Return the price and the one before, of a product's page with these parts."""
    button = "<button>Add to cart</button><p>SKU: AB-12</p>"
    found = read("<h1>Steel drill</h1>", *parts, button)
    told = [found.get(name) for name in ("price", "regular_price")]
    return tuple(None if one is None else str(one) for one in told)  # type: ignore[return-value]


FILLER = "".join(f"<p>Line {'abcdefgh'[n % 8]} of the text that says a lot</p>" for n in range(30))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        # The nearest to the heading, and what a class names before what none does.
        (["<p>$5.00</p>", FILLER, "<p>$7.00</p>"], ("5.00", None)),
        (["<p>$27.00</p>", '<p class="price">$5.00</p>'], ("5.00", None)),
        (['<p class="price">$0.00</p>', "<p>$5.00</p>"], ("5.00", None)),
        # What words around it say that it is.
        (["<p>Shipping $3.00</p>", "<p>$5.00</p>"], ("5.00", None)),
        (["<p>Shipping:</p><p>$3.00</p>", FILLER, "<p>$5.00</p>"], ("5.00", None)),
        (["<p>You save $3.00</p>", "<p>$5.00</p>"], ("5.00", None)),
        (["<p>$5.00 plus shipping</p>"], ("5.00", None)),
        (["<p>$0.50 / 100 g</p>", "<p>$5.00</p>"], ("5.00", None)),
        (["<p>100 g = $0.50</p>", "<p>$5.00</p>"], ("5.00", None)),
        (["<p>3 x $2.00</p>", "<p>$5.00</p>"], ("5.00", None)),
        # The price before a reduction: by an element, a word, a class, or its place beside.
        (["<p><del>$9.00</del></p><p>$5.00</p>"], ("5.00", "9.00")),
        (["<p>Was $9.00</p><p>$5.00</p>"], ("5.00", "9.00")),
        (['<p class="old-price">$9.00</p><p class="price">$5.00</p>'], ("5.00", "9.00")),
        (["<p>$9.00</p><p>$5.00</p>"], ("5.00", "9.00")),
        (["<p>$5.00</p><p>$9.00</p>"], ("5.00", "9.00")),
        (["<p>$5.00</p><p>$26.00</p>"], ("5.00", None)),  # five times as much is another thing's
        (["<p>$5.00</p><p>€9.00</p>"], ("5.00", None)),
        (["<p>$5.00</p><p>$9.00</p><p>$12.00</p>"], ("5.00", None)),  # of three none is told
        # An amount that nobody pays.
        (["<p><s>$9.00</s></p>"], (None, None)),
        (['<p class="regular-price">$9.00</p>'], ("9.00", None)),
        # A range begins with the least.
        (["<p>$5.00 - $9.00</p>"], ("5.00", None)),
        # What stands three times is rather the price than what stands once.
        (["<p>$7.00</p><p>for members only</p>", "<p>$5.00</p><p>and now</p>" * 3], ("5.00", None)),
        # What is hidden is not shown.
        (['<p style="display:none">$1.00</p>', "<p>$5.00</p>"], ("5.00", None)),
    ],
)  # fmt: skip
def test_the_price_is_told_by_what_stands_around_it(
    parts: list[str], expected: tuple[str | None, str | None]
) -> None:
    assert price(*parts) == expected


def test_an_amount_far_from_the_heading_is_no_price() -> None:
    assert price(FILLER * 2, "<p>$5.00</p>") == ("5.00", None)
    assert price(FILLER * 6, "<p>$5.00</p>") == (None, None)


def test_tiles_of_a_listing_hold_other_products_prices() -> None:
    link, shown = '<a href="/p/{0}"><h3>Other {0}</h3></a>', '<span class="price">${0}.00</span>'
    tile = f'<div class="tile">{link}{shown}</div>'
    tiles = "".join(tile.format(n) for n in (2, 3, 4))
    assert price(tiles, '<p class="price">$5.00</p>')[0] == "5.00"


@pytest.mark.parametrize(
    ("metas", "expected"),
    [
        ({"product:price:amount": "5", "product:price:currency": "EUR"}, ("5", None, "EUR")),
        ({"product:sale_price:amount": "5", "product:price:amount": "9",
          "product:price:currency": "EUR"}, ("5", "9", "EUR")),
        ({"product:sale_price:amount": "9", "product:price:amount": "5",
          "product:price:currency": "EUR"}, ("9", None, "EUR")),
        ({"twitter:label1": "Price", "twitter:data1": "€5.00"}, ("5.00", None, "EUR")),
        ({"twitter:label2": "Price", "twitter:data2": "€5.00"}, ("5.00", None, "EUR")),
        ({"twitter:label1": "Colour", "twitter:data1": "€5.00"}, (None, None, None)),
    ],
)  # fmt: skip
def test_meta_elements_tell_a_price(
    metas: dict[str, str], expected: tuple[str | None, ...]
) -> None:
    named = {"og:type": "product", "og:title": "Steel drill", **metas}
    head = "".join(f'<meta property="{key}" content="{value}">' for key, value in named.items())
    found = read("<h1>Steel drill</h1>", head=head)
    told = [found.get(name) for name in ("price", "regular_price", "currency")]
    assert tuple(None if one is None else str(one) for one in told) == expected


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("https://a.example/p/red", "red"),
        ("https://a.example/p/red/", "red"),
        ("https://a.example/p/red/index.html", "red"),
        ("https://a.example/index.php?product_id=7&x=1", "7"),
        ("https://a.example/shop.aspx?pid=7", "7"),
        ("https://a.example/servlet/ProductDisplay?storeId=1&langId=-1&productId=7", "7"),
        ("https://a.example/-/GBP/ViewProduct-Start?SKU=7", "7"),
        ("https://a.example/red?id=7", "red"),  # its name is in the path
        ("https://a.example/?x=1", None),
    ],
)
def test_an_address_names_its_product(url: str, part: str | None) -> None:
    assert product_part(url) == part


def test_a_number_of_the_shops_is_the_id_before_the_address_is() -> None:
    shown = "<h1>Steel drill</h1><p class=price>$5.00</p><button>Add to cart</button>"
    both = "<p>SKU: AB-12</p><p>EAN: 4006381333931</p>"
    assert read(shown, both)["external_id"] == "AB-12"
    assert read(shown, "<p>EAN: 4006381333931</p>")["external_id"] == "4006381333931"
    assert read(shown)["external_id"] == "drill-12"

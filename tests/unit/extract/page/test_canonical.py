"""Which canonical address of a page is believed."""

import pytest

from crawler.extract import extract, parse

SHOP = "https://shop.example"


@pytest.mark.parametrize(
    ("path", "canonical", "expected"),
    [
        ("/lamp-3?ref=7", "/lamp-3", f"{SHOP}/lamp-3"),
        ("/lamp-3", "/", None),
        ("/lamp-3", "https://www.shop.example", None),
        ("/?p=3", "/", None),
        ("/", "https://www.shop.example/", "https://www.shop.example/"),
        ("/lamp-3", "", None),
    ],
)
def test_the_front_page_is_no_other_pages_canonical_address(
    path: str, canonical: str, expected: str | None
) -> None:
    html = f'<html><head><link rel="canonical" href="{canonical}"></head><body>Lamp</body></html>'
    assert parse(html, SHOP + path).canonical == expected


@pytest.mark.parametrize(
    ("path", "canonical", "key"),
    [
        ("/product.php?id=12", "/product.php", "12"),
        ("/detail?no=12", "/detail", f"{SHOP}/detail?no=12"),
        ("/item.php?a=1&b=2", "/item.php", f"{SHOP}/item.php?a=1&b=2"),
        ("/p/lamp.html?sku=3", "/p/lamp.html", "lamp"),  # a variant of the product
        ("/products/display", "/products/display", "display"),
    ],
)
def test_the_name_of_the_script_that_shows_all_products_is_no_products_key(
    path: str, canonical: str, key: str
) -> None:
    html = (
        f'<html><head><link rel="canonical" href="{canonical}"></head><body><h1>Oak lamp</h1>'
        "<p class=price>12 €</p><button>Add to cart</button></body></html>"
    )
    assert extract(parse(html, SHOP + path)).fields["external_id"] == key

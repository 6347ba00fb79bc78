"""Which canonical address of a page is believed."""

import pytest

from crawler.extract import parse

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

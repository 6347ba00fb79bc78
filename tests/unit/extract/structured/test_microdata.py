"""Microdata whose values are written in an unusual place."""

from __future__ import annotations

import pytest

from crawler.extract import extract, parse

PAGE = (
    '<html lang=en><title>Lamp</title><div itemscope itemtype="https://schema.org/Product">'
    '<h1 itemprop="name">Lamp</h1>{}<div itemprop="offers" itemscope'
    ' itemtype="https://schema.org/Offer"><meta itemprop="price" content="9.50">'
    '<meta itemprop="priceCurrency" content="EUR"></div></div>'
)


@pytest.mark.parametrize(
    ("brand", "expected"),
    [
        ('<img itemprop="brand" src="/acme.png" alt="Acme">', "Acme"),
        ('<a itemprop="brand" href="/acme"><img src="/acme.png" alt="Acme"></a>', "Acme"),
        ('<a itemprop="brand" href="/acme">Acme</a>', "Acme"),
        ('<img itemprop="brand" src="/acme.png">', None),
        ('<link itemprop="brand" href="/acme">', None),
    ],
)
def test_the_address_of_a_brands_page_or_picture_is_no_brand(
    brand: str, expected: str | None
) -> None:
    found = extract(parse(PAGE.format(brand), "https://shop.example/lamp"))
    assert found.fields.get("brand") == expected

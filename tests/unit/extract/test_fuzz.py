"""The default parser never raises: saved pages cut, mixed and damaged, and data of any shape."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.cleaning.money import money
from crawler.extract import extract, find_links, parse
from crawler.extract.money.amounts import find_prices, parse_price
from crawler.extract.scripts import literal
from tests.pages import cases

URL = "https://shop.example/p/lamp-12"
PAGES = [case.body for case in cases()]
FAST = settings(
    max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
KEYS = (
    "@type", "@id", "@graph", "name", "offers", "price", "priceCurrency", "availability", "image",
    "hasVariant", "isVariantOf", "sku", "gtin", "brand", "aggregateRating", "ratingValue", "url",
    "reviewCount", "itemListElement", "priceSpecification", "lowPrice", "additionalProperty",
    "mainEntity", "itemOffered", "variants", "prices", "amount", "value", "description",
)  # fmt: skip
TEXTS = ("Product", "ProductGroup", "Offer", "AggregateOffer", "BreadcrumbList", "lamp", "12,50 €",
         "1.299", "#a", "http://[bad", "\x00", "\ud800", "InStock", "EUR", "", "9" * 400)  # fmt: skip
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(TEXTS),
    st.text(max_size=20),
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=25,
)


def read(content: bytes, url: str = URL) -> Any:
    page = parse(content, url, "text/html")
    found = extract(page)
    find_links(page)
    product = found.product()
    if product is not None:
        price = product.price
        assert price is None or (isinstance(price, Decimal) and price.is_finite() and price >= 0)
        assert all(image.startswith("http") for image in product.images)
    return product


@FAST
@given(st.binary(max_size=400))
def test_any_bytes(content: bytes) -> None:
    read(content)
    read(b"<html><h1>x</h1>" + content)


@FAST
@given(st.data())
def test_a_saved_page_cut_mixed_and_damaged(data: st.DataObject) -> None:
    one, two = data.draw(st.sampled_from(PAGES)), data.draw(st.sampled_from(PAGES))
    start = data.draw(st.integers(0, len(one)))
    end = data.draw(st.integers(0, len(two)))
    junk = data.draw(
        st.sampled_from([b"", b"\xff", b"\0", b"</div>" * 40, b"<!--", b'"', b"{[", b"<svg>"])
    )
    read(one[:start] + junk + two[end:])


@FAST
@given(values)
def test_structured_data_of_any_shape(value: Any) -> None:
    text = json.dumps(
        {"@context": "https://schema.org", "@type": "Product", "x": value, "offers": value}
    )
    graph = json.dumps([value, {"@graph": value}])
    read(
        f'<h1>lamp</h1><script type="application/ld+json">{text}</script>'
        f'<script type="application/ld+json">{graph}</script>'.encode("utf-8", "replace")
    )


@FAST
@given(values)
def test_state_of_any_shape(value: Any) -> None:
    node = {"name": "lamp", "price": value, "variants": value, "currency": value, "images": value}
    text = json.dumps([node, value]).replace("</", "<\\/")
    attribute = json.dumps(node).replace("&", "&amp;").replace('"', "&quot;")
    read(
        f"<h1>lamp</h1><script>window.__STATE__ = {text};</script><script id=__NUXT_DATA__ "
        f'type="application/json">{text}</script><div data-product="{attribute}"></div>'
        f"<script>window.__NUXT__=(function(a,b){{return {text}}}({text}))</script>".encode(
            "utf-8", "replace"
        )
    )


@FAST
@given(st.text(alphabet="{}[](),:'\"`\\/*!-.0123456789abnuxtrefvoid \n", max_size=60))
def test_literals_of_any_text(text: str) -> None:
    for reader in (literal.parse, literal.parse_call, literal.text_at):
        try:
            reader(text, 0)
        except literal.Unreadable:
            continue


@FAST
@given(st.text(alphabet="0123456789.,'  €$£krRszłEURUSD-–:%/٣۴５", max_size=40))
def test_amounts_of_any_text(text: str) -> None:
    assert all(amount.value >= 0 for amount in find_prices(text, "USD"))
    parse_price(text)
    amount, _ = money(text)
    assert amount is None or amount.is_finite()


@pytest.mark.parametrize(
    "url", ["", "x", "http://", "http://[::1", "https://a.example/%zz?#", "ftp://a/b"]
)
def test_addresses_of_any_kind(url: str) -> None:
    for body in PAGES[:6]:
        read(body, url)

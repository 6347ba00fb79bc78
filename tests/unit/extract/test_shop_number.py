"""Which number is a product's own where a page shows several, and when it has none."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.extract import extract, parse
from crawler.extract.shop_number import in_address, set_number

PLAIN = "https://shop.example/lamp"


def number(
    fields: dict[str, Any] | None = None,
    sources: dict[str, str] | None = None,
    shown: dict[str, Any] | None = None,
    *,
    raw: bytes = b"",
    url: str = PLAIN,
    canonical: str | None = None,
) -> tuple[Any, Any, Any]:
    """Set the number of a product's page; gives sku, its source, and mpn."""
    found, told = dict(fields or {}), dict(sources or {})
    head = f'<link rel="canonical" href="{canonical}">' if canonical else ""
    page = parse(head.encode() + b"<p>" + raw, url)
    set_number(found, told, shown or {}, page)
    return found.get("sku"), told.get("sku"), found.get("mpn")


@pytest.mark.parametrize(
    ("fields", "source", "sku"),
    [
        ({"sku": "77"}, "json-ld", "AB-12"),  # an internal number gives way to the labelled one
        ({"sku": "77"}, "text", "77"),
        ({"sku": "77"}, None, "77"),
        ({"sku": "77", "gtin": "AB-12"}, "json-ld", "77"),  # the label was that of a barcode
        ({"sku": "77", "mpn": "AB-12"}, "json-ld", "77"),
        ({"sku": "AB-12"}, "json-ld", "AB-12"),
    ],
)
def test_a_labelled_number_goes_before_an_internal_one(
    fields: dict[str, Any], source: str | None, sku: str
) -> None:
    sources = {"sku": source} if source else {}
    assert number(fields, sources, {"sku": "AB-12"})[0] == sku


def test_a_model_is_the_makers_number_where_the_shop_has_one_of_its_own() -> None:
    shown = {"attributes": {"model": "GSB-18"}}
    assert number({"sku": "77"}, {}, shown) == ("77", None, "GSB-18")
    assert number({"sku": "GSB-18"}, {}, shown) == ("GSB-18", None, None)
    assert number({"sku": "77", "mpn": "own"}, {}, shown) == ("77", None, "own")
    assert number({}, {}, shown) == ("GSB-18", "text", None)


@pytest.mark.parametrize("model", ["Pixel 9", "2026", "abc", ""])
def test_a_models_name_or_year_is_no_number(model: str) -> None:
    assert number({}, {}, {"attributes": {"model": model}}) == (None, None, None)


def test_booksellers_know_books_by_their_barcode() -> None:
    assert number({}, {}, {"gtin": "9780262033848"})[:2] == ("9780262033848", "text")
    assert number({}, {}, {"gtin": "4006381333931"})[:2] == (None, None)


@pytest.mark.parametrize(
    ("source", "sku"),
    [("json-ld", "X9"), ("url", None), ("text", None), (None, None)],
)
def test_the_products_key_is_its_number_where_the_shop_itself_names_it(
    source: str | None, sku: str | None
) -> None:
    sources = {"external_id": source} if source else {}
    assert number({"external_id": "X9"}, sources)[:2] == (sku, source if sku else None)


def test_of_forms_addresses_and_buttons_the_first_that_names_one_number_counts() -> None:
    sku, button = b"<a data-sku='S-1'>", b"<a data-product-id='P2'>"
    url = "https://shop.example/lamp-48213.html"
    assert number(raw=sku + button, url=url)[:2] == ("S-1", "state")
    assert number(raw=button, url=url)[:2] == ("48213", "url")
    assert number(raw=button, canonical=url)[:2] == ("48213", "url")
    assert number(raw=button)[:2] == ("P2", "state")
    assert number()[:2] == (None, None)


def test_the_field_of_the_form_goes_before_a_number_in_the_address() -> None:
    field = b'<input type="hidden" name="sku" value="W-12">'
    url = "https://shop.example/lamp-48213.html"
    assert number(raw=field, url=url)[:2] == ("W-12", "state")
    made = {"external_id": "W-12", "mpn": "W-12"}
    assert number(made, {"external_id": "text"}, raw=field, url=url)[:2] == ("W-12", "state")
    tiles = field + b'<input name="sku" value="W-13">'
    assert number(raw=tiles, url=url)[:2] == ("48213", "url")


def test_an_id_that_only_scripts_know_gives_way_to_their_number_in_the_address() -> None:
    state, url = {"external_id": "4AB2XKQ9"}, "https://shop.example/ip/lamp/48213"
    held = b'{"id":"4AB2XKQ9","itemId":"48213"}'
    assert number(state, {"external_id": "state"}, raw=held, url=url)[:2] == ("48213", "url")
    assert number(state, {"external_id": "json-ld"}, raw=held, url=url)[:2] == (
        "4AB2XKQ9",
        "json-ld",
    )
    assert number(state, {"external_id": "state"}, url=url)[:2] == ("4AB2XKQ9", "state")
    both = f"{url}?id=4AB2XKQ9"
    assert number(state, {"external_id": "state"}, raw=held, url=both)[0] == "4AB2XKQ9"


@pytest.mark.parametrize(
    "raw",
    [
        b"<a data-sku='S-1'><a data-sku='S-2'>",  # tiles of other products carry theirs
        b"<a data-sku='lamp'>",
        b" " * 400_000 + b"<a data-sku='S-1'>",
    ],
)
def test_numbers_of_several_products_and_words_are_none(raw: bytes) -> None:
    assert number(raw=raw)[:2] == (None, None)


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://a.example/x?colour=red&sku=A-7", "A-7"),
        ("https://a.example/x?colour=red", None),
        ("https://a.example/dp/one-two-3x", None),  # more words than a number has
        ("https://a.example/dp/b00-1x", "b00-1x"),
        ("https://a.example/red-lamp-2026.html", None),
        ("https://a.example/red-lamp-48213/index.html", "48213"),
        ("https://a.example/red-lamp-48213/", "48213"),
        ("https://a.example/48213-red-lamp", "48213"),
        ("https://a.example/red%2D48213", "48213"),
        ("https://a.example/red-lamp--abc-0012", "abc-0012"),
        ("https://a.example/red-lamp-abc-0012", "0012"),
        ("https://12345.example/red-lamp", None),
    ],
)
def test_an_address_names_a_number_in_few_forms(url: str, found: str | None) -> None:
    assert in_address(url) == found


@pytest.mark.parametrize("sku", ["1004466226", "313628519"])
def test_of_two_labelled_numbers_the_one_that_structured_data_tell_is_the_shops(sku: str) -> None:
    offer = '{"price":"9","priceCurrency":"EUR","availability":"InStock"}'
    held = f'{{"@type":"Product","name":"Lamp","sku":"{sku}","offers":{offer}}}'
    page = (
        f'<script type="application/ld+json">{held}</script><h1>Lamp</h1><p>Internet # 313628519</p>'
        "<p>Store SKU # 1004466226</p><p>9 €</p><button>Buy now</button>"
    )
    assert extract(parse(page, PLAIN)).fields["sku"] == sku


def test_a_number_before_the_heading_that_the_address_holds_goes_before_a_model() -> None:
    page = (
        "<ol><li><a href='/'>Home</a><li><em>Item#: N82E16819</em></ol><h1>Lamp</h1><p>9 €</p>"
        "<button>Buy now</button><table><tr><th>Model<td>GSB-18</table>"
    )
    assert extract(parse(page, "https://shop.example/p/N82E16819")).fields["sku"] == "N82E16819"

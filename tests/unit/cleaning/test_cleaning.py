"""Bad input: each value is cleaned or refused with its reason, and nothing raises."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.cleaning.money import currency, money
from crawler.cleaning.product import clean, from_mapping
from crawler.cleaning.rejection import rejection
from crawler.cleaning.text import line, plain, prose
from crawler.extract.template.stored_form import stored_form
from crawler.items import Product
from crawler.stores.attempts import Attempt
from crawler.stores.content_hash import digest
from crawler.stores.rows import body_of, product_row, rejected_row

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def cleaned(**fields: Any) -> Product:
    made = Product(**{"url": "https://www.shop.example/p/1", "name": "Lamp", **fields})
    clean(made, NOW)
    return made


@pytest.mark.parametrize(
    "name",
    ["Siodło Koń", "Größe L", "Стул", "Šály", "5 °C", "LEGO®", "Été à l’île", "日本語"],
)
def test_a_text_that_was_encoded_twice_is_stored_as_it_was_written(name: str) -> None:
    read = bytes(range(0x80, 0xA0)).decode("cp1252", "replace")
    of_byte = {byte: char for byte, char in enumerate(read, 0x80) if char != "\ufffd"}
    twice = name.encode().decode("latin-1").translate(of_byte)
    assert twice != name
    assert line(twice) == line(name) == name
    assert prose(f"{twice}\n{twice}") == f"{name}\n{name}"
    assert stored_form(twice) == stored_form(name)


@pytest.mark.parametrize(
    "name", ["NESCAFÉ®", "JOSÉ™", "DÉJÀ «VU»", "Größe Ä…", "Ñandú", "ÅÄÖ", "100 µm ± 5", "¿Qué?"]
)
def test_letters_before_a_sign_are_no_text_that_was_encoded_twice(name: str) -> None:
    assert line(name) == name


@pytest.mark.parametrize(
    ("text", "amount", "code"),
    [
        ("12.34", "12.34", None),
        ("1.168,70 €", "1168.70", "EUR"),
        ("from $5", "5.00", "USD"),
        ("CHF 1'234.50", "1234.50", "CHF"),
        ("1 299,00 zł", "1299.00", "PLN"),
        ("CHF 1’299.00", "1299.00", "CHF"),
        ("KWD 12.500", "12.50", "KWD"),
        ("SKU 4711 12,99 €", "12.99", "EUR"),
        ("3 for £10", "10.00", "GBP"),
        ("1.2万円", "12000.00", "JPY"),
        ("\u0661\u0662\u0669\u066b\u0665\u0660 ر.س", "129.50", "SAR"),
        ("20% off", None, None),
        ("Free", "0.00", None),
        ("$1,299.99 - $1,500", "1299.99", "USD"),
        ("1e2", "100.00", None),
        ("-5.00", "-5.00", None),
        ("−5,00 €", "-5.00", "EUR"),
        ("Call us", None, None),
        ("", None, None),
        (Decimal("12.3450"), "12.345", None),
        (5, "5.00", None),
        (float("inf"), None, None),
        (True, None, None),
    ],
)
def test_prices(text: Any, amount: str | None, code: str | None) -> None:
    found, sign = money(text)
    assert (None if found is None else str(found), sign) == (amount, code)


@pytest.mark.parametrize(
    ("text", "code", "amount"),
    [
        ("12,500", "KWD", "12.50"),
        ("12,500", "EUR", "12500.00"),
        ("12.990", "CLP", "12990.00"),
        ("12.990", "EUR", "12.99"),
    ],
)
def test_an_items_currency_says_what_the_separators_of_its_price_mean(
    text: str, code: str, amount: str
) -> None:
    made = cleaned(price=text, currency=code)
    assert (str(made.price), made.currency) == (amount, code)


def test_a_range_is_no_negative_price() -> None:
    assert money("5 - 10 €")[0] == 5


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": None}, "no name"),
        ({"name": " \0 "}, "no name"),
        ({"url": ""}, "no url"),
        ({"url": "/p/1"}, "url '/p/1' is not absolute"),
        ({"url": "https://a.example/" + "x" * 3000}, "url is longer than 2048 characters"),
        ({"price": "-5"}, "price -5.00 is negative"),
        ({"price": "999999999999"}, "price 1.000e+12 is absurd"),
        ({"price": Decimal("1e999999")}, "price 1.000e+999999 is absurd"),
        ({"currency": "doubloons", "price": "5"}, "unknown currency 'DOUBLOONS'"),
        ({"price": "Call us"}, None),
        ({"price": "30000000", "currency": "VND"}, None),
        ({"scraped_at": NOW + timedelta(days=400)}, None),
    ],
)
def test_what_cannot_be_kept_has_its_reason(fields: dict[str, Any], reason: str | None) -> None:
    assert rejection(cleaned(**fields)) == reason


def test_values_come_to_their_types() -> None:
    made = cleaned(
        name=" Cafe\u0301 &amp; Bar\n",
        price="1.168,70 €",
        availability="http://schema.org/OutOfStock",
        gtin="4 006381 333931",
        rating="4,5 / 5",
        review_count="1,234 reviews",
        images=["/i/1.jpg", "//cdn.example/2.jpg", "data:image/png;base64,xx", None, 5],
        breadcrumbs=[" A ", "", "B"],
        attributes={" Colour ": " red ", "": "x"},
        canonical_url="/p/1",
        scraped_at=NOW + timedelta(days=1),
    )
    assert made.name == "Café & Bar"
    assert (made.price, made.currency) == (Decimal("1168.70"), "EUR")
    assert made.availability == "OutOfStock"
    assert made.gtin == "4006381333931"
    assert (made.rating, made.review_count) == (4.5, 1234)
    assert made.images == ["https://www.shop.example/i/1.jpg", "https://cdn.example/2.jpg"]
    assert made.breadcrumbs == ["A", "B"]
    assert made.attributes == {"Colour": "red"}
    assert made.canonical_url == "https://www.shop.example/p/1"
    assert made.scraped_at == NOW
    assert (made.site_id, made.external_id) == ("shop.example", "4006381333931")


def test_text_loses_nul_bytes_and_lone_surrogates() -> None:
    assert line("a\0b\ud800c") == "ab\ufffdc"
    assert line("\ud83d\ude00") == "😀"
    assert plain({"a\0": ["\ud800", {"b": object}]})["a"][0] == "\ufffd"


def test_a_description_of_a_megabyte_is_cut() -> None:
    assert len(prose("word " * 200_000) or "") == 50_000


def test_a_price_written_in_another_way_is_the_same_product() -> None:
    one, two = cleaned(price="5"), cleaned(price=Decimal("5.000"), url="https://shop.example/x")
    assert digest(one) == digest(two)
    assert digest(one) != digest(cleaned(price="5.01"))


def test_a_foreign_item_keeps_what_has_no_field_of_its_own() -> None:
    made = from_mapping(
        {"url": "https://a.example/1", "name": "x", "colour": "red", "images": None}
    )
    clean(made, NOW)
    assert (made.attributes, made.images) == ({"colour": "red"}, [])


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
    | st.decimals(allow_nan=True) | st.datetimes(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(
    st.dictionaries(
        st.sampled_from([name for name in Product.__annotations__ if name != "url"]), _ANYTHING
    )
)
def test_whatever_a_page_holds_is_stored_or_refused(fields: dict[str, Any]) -> None:
    """The pipeline keeps the reason when cleaning fails; a row that is made must be sound."""
    made = Product(**{"url": "https://shop.example/p/1", **fields})
    try:
        clean(made, NOW)
    except Exception:
        made.name = None
    reason = rejection(made)
    if reason is not None:
        assert rejected_row(made, reason).body
        return
    try:
        row = product_row(made, digest(made))
    except (TypeError, ValueError):
        assert rejected_row(made, "cannot be stored").body
        return
    assert "\\x00" not in repr(orjson.loads(row.body)).replace("\\\\", "")
    assert body_of(made) == row.body


def test_the_rows_that_wait_take_the_memory_that_is_counted_for_them() -> None:
    """A worker counts a row's JSON: one that held orjson's buffer took eight times as much."""
    product = Product(url="https://shop.example/p/1", name="Lamp", description="bright " * 40)
    attempt = Attempt(url="https://shop.example/p/1", domain="shop.example", outcome="done")
    for make in (lambda: body_of(product), lambda: rejected_row(product, "why").body, attempt.row):
        make()
        tracemalloc.start()
        try:
            rows = [make() for _ in range(50)]
            taken, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert taken < 2 * sum(map(len, rows)) + 20_000


def test_currencies() -> None:
    assert [currency(x) for x in ("eur", "€", "US$", " ", None, "XXL")] == [
        "EUR", "EUR", "USD", None, None, "XXL",
    ]  # fmt: skip

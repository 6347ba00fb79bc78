"""What all known products of a make have since: noticed, held back, and mended where that is possible."""

from collections.abc import Callable
from copy import deepcopy
from decimal import Decimal
from functools import cache
from typing import Any

import attrs
import pytest

from crawler.extract import extract, parse
from crawler.extract.template import Book
from crawler.extract.template.mass_changes import Change, Contrast
from crawler.extract.template.observation import Observation
from crawler.extract.template.price_rates import Pair, have_few_fees
from scrapy_seine.urls import tidy
from tests.benchmarks.shops import SHOPS, Thing, things

GOODS = things(110, 4)
WOO = next(shop for shop in SHOPS if shop.name == "woo")
KNOWN = {
    tidy(WOO.url(thing)): {
        "name": thing.name,
        "price": str(thing.price),
        "regular_price": str(thing.regular) if thing.regular else None,
        "sku": thing.sku,
        "availability": "InStock" if thing.in_stock else "OutOfStock",
    }
    for thing in GOODS
}


def read(book: Book, thing: Thing, shown: Thing, structured: bool = False) -> Any:
    found = extract(parse(WOO.page(shown, structured), WOO.url(thing)))
    judged = book.judge("shop", found)
    for site, urls in list(book.awaited_pages()):
        book.recall(site, {url: KNOWN.get(url) for url in urls})
    return found, judged


@cache
def _taught() -> Book:
    book = Book()
    for thing in GOODS[:60]:
        read(book, thing, thing)
    return book


def crawl(change: Callable[[Thing], Thing], last: int = 110) -> tuple[list[Any], Any, Any]:
    """Read pages that tell something else of each product; what was told, and the last page."""
    told: list[Any] = []
    book = deepcopy(_taught())
    book._drifted = told.append
    for thing in GOODS[60:last]:
        found, judged = read(book, thing, change(thing))
    return told, found, judged


def test_what_all_names_have_before_and_behind_is_no_part_of_them() -> None:
    told, found, judged = crawl(lambda t: attrs.evolve(t, name=f"TopShop: {t.name} (new)"), 90)
    assert [(drift.field, drift.kind) for drift in told] == [("name", "affix")]
    assert found.fields["name"] == GOODS[89].name
    assert "name" not in judged.doubts


@pytest.mark.parametrize(
    "price",
    [
        lambda t: t.price * Decimal("1.0837"),
        lambda t: t.price / Decimal("1.19"),
        lambda t: t.price + 5,
        lambda t: t.price * 3,
        lambda t: Decimal(int(t.price)),
    ],
    ids=["rate", "tax", "fee", "other amount", "cut cents"],
)
def test_prices_that_differ_in_one_way_on_all_pages_are_doubtful(price: Any) -> None:
    def change(thing: Thing) -> Thing:
        now = price(thing).quantize(Decimal("0.01"))
        return attrs.evolve(thing, price=now, regular=None)

    told, _, judged = crawl(change, 90)
    assert ("price", "changed") in {(drift.field, drift.kind) for drift in told}
    assert judged.doubts["price"].kind == "changed"


@pytest.mark.parametrize(
    "price",
    [
        lambda t: t.price * (1 + Decimal(t.number % 13) / 100),
        lambda t: t.price.to_integral_value() + Decimal("0.99"),
    ],
    ids=["new prices", "other endings"],
)
def test_prices_of_a_shop_that_changes_them_are_believed(price: Any) -> None:
    def change(thing: Thing) -> Thing:
        now = price(thing).quantize(Decimal("0.01"))
        return attrs.evolve(thing, price=now, regular=None)

    told, _, judged = crawl(change)
    assert not told
    assert not judged.doubts


@pytest.mark.parametrize(
    "rate",
    [
        lambda t: Decimal("0.603") + Decimal(t.number * 7 % 36) / 100,
        lambda t: (
            Decimal(1) if t.number % 6 == 0 else Decimal(8170 + t.number * 137 % 1400) / 10_000
        ),
        lambda t: Decimal((2, 3, 4, 6)[t.number % 4]) * Decimal(88 + t.number % 10) / 100,
        lambda t: Decimal(115 + t.number * 7 % 30) / 100,
    ],
    ids=["cheapest variant's", "members' on most pages", "packs'", "another country's"],
)
def test_another_price_in_the_place_of_nearly_all_is_doubtful(rate: Any) -> None:
    def change(thing: Thing) -> Thing:
        now = (thing.price * rate(thing)).quantize(Decimal("0.01"))
        return attrs.evolve(thing, price=now, regular=None)

    told, _, judged = crawl(change, 102)
    assert ("price", "changed") in {(drift.field, drift.kind) for drift in told}
    assert judged.doubts["price"].kind == "changed"


@pytest.mark.parametrize(
    ("share", "rate"),
    [
        (3, lambda t: Decimal("0.6") + Decimal(t.number * 7 % 36) / 100),
        (10, lambda t: Decimal("0.6") + Decimal(t.number % 8) / 20),
        (10, lambda t: Decimal(85 + t.number * 7 % 30) / 100),
        (10, lambda t: Decimal(104 + t.number * 7 % 16) / 100),
        (10, lambda t: Decimal(120 + t.number % 7 if t.number % 9 else 50) / 100),
    ],
    ids=["on a part", "round discounts", "up and down", "a raise", "one at half its price"],
)
def test_prices_that_fall_as_in_a_sale_without_marks_are_believed(share: int, rate: Any) -> None:
    def change(thing: Thing) -> Thing:
        factor = rate(thing) if thing.number % 10 < share else 1
        now = (thing.price * factor).quantize(Decimal("0.01"))
        return attrs.evolve(thing, price=now, regular=None)

    told, _, judged = crawl(change)
    assert not told
    assert not judged.doubts


@pytest.mark.parametrize("rate", ["1.03", "1.05", "1.09"])
@pytest.mark.parametrize("undone", [False, True])
def test_a_raise_of_all_prices_by_a_few_whole_percent_is_believed_and_said(
    rate: str, undone: bool
) -> None:
    factor = 1 / Decimal(rate) if undone else Decimal(rate)

    def change(thing: Thing) -> Thing:
        now = (thing.price * factor).quantize(Decimal("0.01"))
        return attrs.evolve(thing, price=now, regular=None)

    told, _, judged = crawl(change)
    assert {(drift.field, drift.kind) for drift in told} == {("price", "minor")}
    assert not judged.doubts


@pytest.mark.parametrize(("old", "new"), [("1.21", "1.22"), ("1.22", "1.24"), ("1.19", "1.16")])
def test_a_new_rate_of_the_tax_on_all_prices_is_believed_and_said(old: str, new: str) -> None:
    def change(thing: Thing) -> Thing:
        now = (thing.price / Decimal(old) * Decimal(new)).quantize(Decimal("0.01"))
        return attrs.evolve(thing, price=now, regular=None)

    told, _, judged = crawl(change)
    assert {(drift.field, drift.kind) for drift in told} == {("price", "minor")}
    assert not judged.doubts


def converted(rate: str) -> list[Change]:
    contrast, changes = Contrast(), list[Change]()
    for number in range(90):
        price = Decimal(1_099 + 617 * number) / 100
        is_converted = number % 6 == 0
        now = (price * Decimal(rate)).quantize(Decimal("0.01")) if is_converted else price
        changes += contrast.note({"price": now}, {}, {"price": str(price)})
    return changes


def test_prices_of_another_country_on_a_part_of_the_pages_are_doubtful() -> None:
    (change,) = converted("1.0837")
    assert not change.believed
    assert "on a part of the pages" in change.reason


@pytest.mark.parametrize("rate", ["0.80", "1.05"])
def test_a_part_of_the_products_may_be_raised_or_reduced_by_a_round_rate(rate: str) -> None:
    assert all(change.believed for change in converted(rate))


@pytest.mark.parametrize("rate", ["0.80", "0.90"])
def test_a_discount_of_one_round_rate_on_all_prices_is_believed_and_said(rate: str) -> None:
    def change(thing: Thing) -> Thing:
        now = (thing.price * Decimal(rate)).quantize(Decimal("0.01"))
        return attrs.evolve(thing, price=now, regular=None)

    told, _, judged = crawl(change, 90)
    assert [(drift.field, drift.kind) for drift in told] == [("price", "minor")]
    assert f"{rate} times" in told[0].reason
    assert not judged.doubts


@pytest.mark.parametrize(("step", "is_doubted"), [("0.013", True), ("0.05", False)])
def test_whole_prices_that_fall_by_round_percentages_now_and_then_are_no_sale(
    step: str, is_doubted: bool
) -> None:
    contrast = Contrast()
    for n in range(20):
        stored_price = 39 + 10 * n
        price = round(stored_price * (1 - Decimal(step) * (4 + n % 7)))
        contrast.note({"price": Decimal(price)}, {}, {"price": str(stored_price)})
    assert ("price" in contrast.changed) is is_doubted


def test_prices_that_fell_before_the_field_was_mended_are_forgotten() -> None:
    contrast = Contrast()
    for n in range(18):
        if n == 10:
            contrast.mark_mended("price")
        stored_price = Decimal(1000 + 10 * n)
        price = stored_price * (Decimal("0.613") + Decimal(n * 7 % 31) / 100)
        contrast.note({"price": price}, {}, {"price": str(stored_price)})
    assert "price" not in contrast.changed


def test_what_was_free_and_has_a_price_now_is_compared_without_a_rate() -> None:
    contrast = Contrast()
    for n in range(20):
        contrast.note({"price": Decimal(n)}, {}, {"price": "0"})
        contrast.note({"price": Decimal(0)}, {}, {"price": str(n)})
    assert not contrast.changed


def test_prices_that_return_to_the_ones_before_are_the_shop_s() -> None:
    contrast = Contrast()
    for n in range(10):
        now, stored = Decimal(100 + n), Decimal(100 + n) * Decimal("1.19")
        before = {"price": str(stored), "earlier_price": str(now)}
        assert not contrast.note({"price": now}, {}, before)
    assert not contrast.changed


def test_a_sale_that_says_so_is_none_by_any_rate() -> None:
    def change(thing: Thing) -> Thing:
        now = (thing.price / Decimal("1.19")).quantize(Decimal("0.01"))
        return attrs.evolve(thing, price=now, regular=thing.price)

    assert not crawl(change)[0]


def test_numbers_that_a_shop_writes_without_hyphens_are_those_of_before() -> None:
    told, _, judged = crawl(lambda t: attrs.evolve(t, sku=t.sku.replace("-", "")), 90)
    assert not told
    assert not judged.doubts


def test_an_internal_number_in_the_place_of_the_sku_is_doubtful_and_so_is_the_key() -> None:
    told, found, judged = crawl(lambda t: attrs.evolve(t, sku=str(900_000 + t.number)), 90)
    assert ("sku", "changed") in {(drift.field, drift.kind) for drift in told}
    assert found.fields["external_id"] == found.fields["sku"]
    assert {judged.doubts["sku"].kind, judged.doubts["external_id"].kind} == {"changed"}


def test_stock_that_is_exchanged_on_all_pages_is_doubtful() -> None:
    told, _, _ = crawl(lambda t: attrs.evolve(t, in_stock=not t.in_stock))
    assert "availability" in {drift.field for drift in told}


def test_stock_of_which_some_stayed_is_news_of_the_products() -> None:
    contrast = Contrast()
    for n in range(60):
        now = "OutOfStock" if n % 8 == 0 else "InStock"
        contrast.needs_comparison(sampled=True, stock=now)
        assert not contrast.note({"availability": now}, {}, {"availability": "OutOfStock"})


def test_a_change_that_is_over_is_forgotten() -> None:
    book = deepcopy(_taught())
    for thing in GOODS[60:90]:
        read(book, thing, attrs.evolve(thing, sku=str(900_000 + thing.number)))
    for thing in GOODS:
        _, judged = read(book, thing, thing)
    assert not judged.doubts


def seen(value: Any, **votes: Any) -> dict[str, Observation]:
    return {"sku": Observation(value, "text", {"text": value, **votes}, None)}


def test_a_source_that_tells_the_stored_values_is_named() -> None:
    contrast = Contrast()
    told = [
        change
        for n in range(6)
        for change in contrast.note(
            {"sku": f"9{n}"}, seen(f"9{n}", state=f"A{n}"), {"sku": f"A{n}"}
        )
    ]
    assert [change.source for change in told] == ["state"]


@pytest.mark.parametrize("field", ["brand", "images", "description"])
def test_a_field_in_another_form_than_it_is_stored_in_tells_nothing(field: str) -> None:
    contrast = Contrast()
    for n in range(20):
        assert not contrast.note({field: [f"a{n}"]}, {}, {field: [f"b{n}"]})


@pytest.mark.parametrize("odd", [None, "", "NaN", [], {}, 0, True, "1e999999", ["x"], b"\xff"])
def test_odd_values_are_no_harm(odd: Any) -> None:
    contrast = Contrast()
    for field in ("name", "sku", "price", "availability", "images", "breadcrumbs", "gtin"):
        for n in range(20):
            contrast.note({field: odd}, {}, {field: f"x{n}"})
            contrast.note({field: f"x{n}"}, {}, {field: odd})


def test_sold_out_products_of_a_sale_may_show_the_reduced_price_alone() -> None:
    contrast = Contrast()
    for number in range(1, 60):
        before, now = Decimal(10 * number), Decimal("8.4") * number
        fields = {"price": now, "regular_price": before if number % 7 else None}
        assert not contrast.note(fields, {}, {"price": str(before)})
    assert not contrast.changed


_FEES = (Decimal("0.25"), Decimal("1.50"), Decimal("3.10"), Decimal("4.50"))


def test_a_deposit_of_a_few_amounts_on_all_prices_is_noticed_within_thirty_pages() -> None:
    plain = {t.number: attrs.evolve(t, regular=None) for t in GOODS}

    def dearer(thing: Thing) -> Thing:
        fee = _FEES[thing.number * 7 % 11 % 4]
        return attrs.evolve(plain[thing.number], price=thing.price + fee)

    told, _, judged = crawl(dearer, 90)
    assert ("price", "changed") in {(drift.field, drift.kind) for drift in told}
    assert judged.doubts["price"].kind == "changed"


def test_a_raise_by_steps_that_grow_with_the_price_is_none() -> None:
    def dearer(thing: Thing) -> Thing:
        steps = sum(thing.price > bound for bound in range(90, 900, 90))
        step = Decimal(steps + 1) / 2
        return attrs.evolve(thing, price=thing.price + step, regular=None)

    told, _, judged = crawl(dearer)
    assert not told
    assert not judged.doubts


def test_a_raise_to_prices_with_the_endings_of_before_is_none() -> None:
    ended = {t.number: Decimal(int(t.price)) + Decimal("0.99") for t in GOODS}
    contrast = Contrast()
    for thing in GOODS:
        price = ended[thing.number]
        fields = {"price": price + 1 + thing.number * 7 % 11 % 4}
        assert not contrast.note(fields, {}, {"price": str(price)})


@pytest.mark.parametrize(
    ("fee", "is_believed"), [("5", True), ("10", True), ("15", False), ("4.95", False)]
)
def test_a_raise_to_the_next_of_the_shop_s_prices_is_believed_and_said(
    fee: str, is_believed: bool
) -> None:
    contrast, changes = Contrast(), list[Change]()
    for number in range(6):
        price = Decimal("34.99") + 5 * (number * 7 % 11)
        fields = {"price": price + Decimal(fee)}
        changes += contrast.note(fields, {}, {"price": str(price)})
    assert [change.believed for change in changes] == [is_believed]
    assert ("price" in contrast.changed) is not is_believed


@pytest.mark.parametrize("by_price", [False, True])
def test_fees_on_prices_without_cents_do_not_grow_with_the_prices(by_price: bool) -> None:
    pairs = []
    for number in range(16):
        price = Decimal(190 + number * 7 % 16 * 110)
        step = int(price // 600) if by_price else number
        pairs.append(Pair(price + (30, 45, 80)[step % 3], price, frozenset()))
    assert have_few_fees(pairs) is not by_price


@pytest.mark.parametrize(
    "shown",
    [lambda name: f"\u200b{name}", lambda name: name.replace("e", "e\u00ad"), lambda name: f"{name} &amp; Co"],
    ids=["blank without width", "soft hyphens", "escaped twice"],
)  # fmt: skip
def test_what_the_storage_removes_of_names_is_no_change_of_them(shown: Any) -> None:
    told: list[Any] = []
    book = Book(told.append)
    for thing in GOODS:
        name = shown(thing.name)
        found = extract(parse(WOO.page(attrs.evolve(thing, name=name), False), WOO.url(thing)))
        found.fields["name"] = name  # as other sources of a page may give it
        book.judge("shop", found)
        kept = thing.name + " & Co" * ("&" in name)
        for site, urls in list(book.awaited_pages()):
            book.recall(site, {url: {**KNOWN[url], "name": kept} for url in urls})
    assert "name" not in {drift.field for drift in told}


def test_prices_that_go_far_up_and_down_at_once_are_other_products() -> None:
    told, _, judged = crawl(lambda t: attrs.evolve(t, price=GOODS[t.number - 1].price))
    assert [(drift.field, drift.kind) for drift in told] == [("price", "changed")]
    assert "price" in judged.doubts


def test_a_raise_of_one_group_of_products_among_others_is_no_rate_of_all() -> None:
    def raised(thing: Thing) -> Thing:
        rate = "1.11" if 85 <= thing.number < 92 else ("1.06", "1.03")[thing.number % 2]
        price = (thing.price * Decimal(rate)).quantize(Decimal("0.01"))
        return attrs.evolve(thing, price=price)

    told, _, judged = crawl(raised)
    assert told == []
    assert "price" not in judged.doubts


@pytest.mark.parametrize("doubted", [True, False])
def test_names_that_an_earlier_crawl_doubted_are_no_change_when_they_are_seen_again(
    doubted: bool,
) -> None:
    contrast = Contrast()
    changes = []
    for number in range(8):
        stored: dict[str, Any] = {"name": f"Lampa {number}"}
        if doubted:
            stored["doubted"] = {"name": f"Lamp no. {number}"}
        changes += contrast.note({"name": f"Lamp No. {number}"}, {}, stored)
    assert bool(changes) is not doubted


def test_far_prices_are_doubted_however_often_they_are_seen() -> None:
    contrast = Contrast()
    for number in range(8):
        price = Decimal(10 + number)
        stored = {"price": str(price), "doubted": {"price": str(price * 10)}}
        contrast.note({"price": price * 10}, {}, stored)
    assert "price" in contrast.changed


@pytest.mark.parametrize("every", [2, 3, 5])
def test_what_a_part_of_the_names_has_behind_it_is_no_part_of_them(every: int) -> None:
    def called(thing: Thing) -> Thing:
        return attrs.evolve(
            thing, name=f"{thing.name} - gift" * (thing.number % every == 0) or thing.name
        )

    told, *_ = crawl(called)
    assert [(drift.field, drift.kind) for drift in told] == [("name", "affix")]


def test_a_text_behind_names_that_stored_ones_end_with_is_a_part_of_names() -> None:
    contrast = Contrast()
    names = [(f"Tent {n} XL", f"Tent {n} XL" if n % 2 else f"Tent {n}") for n in range(20)]
    changes = [
        c for page, stored in names for c in contrast.note({"name": page}, {}, {"name": stored})
    ]
    assert [change.affix for change in changes] == [None]

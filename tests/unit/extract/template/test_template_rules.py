"""What a make of pages is known for, and what that has against one page: each rule's edge."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from crawler.extract.template.confidence import confidence, doubted
from crawler.extract.template.observation import FIELDS, Observation, is_same_value
from crawler.extract.template.page_doubts import (
    constant_value,
    doubt_of,
    doubt_of_amounts,
    new_place_doubt,
    oddity,
)
from crawler.extract.template.profile import KNOWN, WINDOW, Field, Profile


def seen(value: Any = "1", source: str | None = "text", path: str | None = None, **votes: Any):
    told = {source: value, **{name.replace("_", "-"): vote for name, vote in votes.items()}}
    return Observation(value, source, told, path)


def taught(pages: int, one: Observation, field: str = "price") -> Field:
    known = Field()
    for _ in range(pages):
        known.learn(field, one)
    return known


def profile(**fields: Field) -> Profile:
    made = Profile()
    made.fields.update(fields)
    return made


def page(**fields: Observation) -> dict[str, Observation]:
    return {**{name: seen(None, None) for name in FIELDS}, **fields}


def kind(field: str, one: Observation, known: Field, **others: Observation) -> str:
    doubt = doubt_of(field, page(**{field: one}, **others), profile(**{field: known}))
    return doubt.kind if doubt else ""


class TestCounts:
    def test_a_page_counts_once_and_its_value_only_where_it_has_one(self) -> None:
        known = taught(3, seen("5", path="p.price"))
        known.learn("price", seen(None, None))
        assert (known.pages, known.filled) == (4, 3)
        assert (known.sources, known.paths, known.values) == (
            {"text": 3}, {"p.price": 3}, {"5": 3},
        )  # fmt: skip

    def test_a_source_agrees_with_the_chosen_value_and_the_chosen_one_if_another_confirms_it(self):
        known = taught(2, seen("5", "json-ld", text="5", state="6"))
        assert known.offered == {"json-ld": 2, "text": 2, "state": 2}
        assert known.agreed == {"json-ld": 2, "text": 2, "state": 0}
        assert known.share(known.agreed, "text") == 1.0
        assert known.share(known.agreed, "rdfa") == 0.0

    def test_a_source_that_is_alone_is_neither_right_nor_wrong(self) -> None:
        known = taught(2, seen("5", "json-ld"))
        assert (known.offered, known.agreed) == ({}, {})

    def test_counts_are_halved_when_there_are_many(self) -> None:
        known = taught(2_000, seen("5", path="p"))
        assert known.pages == 2_000
        known.learn("price", seen("5", path="p"))
        assert (known.pages, known.filled, known.paths["p"]) == (1_000, 1_000, 1_000)

    def test_of_many_values_the_frequent_ones_are_remembered(self) -> None:
        known = taught(5, seen("usual"))
        for n in range(100):
            known.learn("price", seen(n))
        assert known.values["usual"] == 5
        assert known.values["99"] == 1
        assert len(known.values) <= 24

    def test_what_is_usual_is_the_most_frequent_with_its_share(self) -> None:
        known = taught(3, seen("5"))
        known.learn("price", seen("6"))
        assert known.usual(known.values) == ("5", 0.75)
        assert known.usual(Field().values) == ("", 0.0)
        assert (known.value_share("5"), known.value_share("7")) == (0.75, 0.0)

    def test_the_newest_pages_tell_how_many_have_a_doubt_and_whether_they_differ(self) -> None:
        known = Field()
        known.recent.extend([("place", seen("1")), (None, seen("9")), ("place", seen("1"))])
        assert (known.newest("place"), known.newest("source")) == (2, 0)
        assert not known.varies("place")
        assert not known.varies("source")
        known.recent.append(("place", seen("2")))
        assert known.varies("place")

    def test_a_text_is_elsewhere_where_all_the_newest_pages_have_it_in_a_new_place(self) -> None:
        known = taught(60, seen("1", path="old"))
        for _ in range(WINDOW - 1):
            known.recent.append((None, seen("1", path="new")))
        assert not known.is_elsewhere()  # one page is missing
        known.recent.append((None, seen("1", path="new")))
        assert known.is_elsewhere()
        known.recent.append((None, seen("1", path="old")))
        assert not known.is_elsewhere()

    def test_few_known_places_make_no_new_one(self) -> None:
        known = taught(59, seen("1", path="old"))
        known.recent.extend([(None, seen("1", path="new"))] * WINDOW)
        assert not known.is_elsewhere()

    def test_a_relearned_field_knows_its_newest_pages_alone(self) -> None:
        known = taught(50, seen("1"))
        known.recent.extend([("source", seen("2"))] * 3)
        known.misses = 4
        known.relearn("price")
        assert (known.pages, known.filled, known.misses) == (3, 3, 0)
        assert (dict(known.values), list(known.recent), known.places) == ({"2": 3}, [], [])

    def test_a_new_place_forgets_all_pages_and_few_places_are_kept(self) -> None:
        known = taught(50, seen("1"))
        for place in "abcd":
            known.relearn("price", place)
        assert (known.pages, known.places) == (0, ["d", "c", "b"])

    def test_a_profile_is_stored_and_read(self) -> None:
        made = profile(name=taught(KNOWN, seen("x", path="h1")))
        made.fields["name"].places, made.fields["name"].preferred = ["h1"], "text"
        again = Profile.of(made.plain())
        assert again.plain() == made.plain()
        assert (again.known, again.pages) == (True, KNOWN)
        assert not profile(name=taught(KNOWN - 1, seen("x"))).known


class TestDoubts:
    def test_a_make_that_is_hardly_known_doubts_nothing(self) -> None:
        gone = seen(None, None)
        assert kind("price", gone, taught(KNOWN - 1, seen())) == ""
        assert kind("price", gone, taught(KNOWN, seen())) == "missing"

    def test_what_some_pages_lack_may_be_missing(self) -> None:
        known = taught(97, seen())
        for _ in range(3):
            known.learn("price", seen(None, None))
        assert kind("price", seen(None, None), known) == "missing"
        known.learn("price", seen(None, None))
        assert kind("price", seen(None, None), known) == ""

    def test_a_price_may_go_with_the_goods_and_a_currency_with_the_price(self) -> None:
        known, gone = taught(20, seen()), seen(None, None)
        out = seen("OutOfStock")
        assert kind("price", gone, known, availability=out) == ""
        assert kind("currency", gone, known, availability=out, price=seen()) == ""
        assert kind("currency", gone, known) == ""
        assert kind("currency", gone, known, price=seen()) == "missing"
        assert kind("name", gone, known, availability=out) == "missing"

    def test_a_source_that_always_agreed_disputes_a_value(self) -> None:
        known = taught(KNOWN, seen("5", "text", json_ld="5"))
        assert kind("price", seen("5", "text", json_ld="5"), known) == ""
        assert kind("price", seen("5", "text", json_ld="6"), known) == "dispute"
        assert kind("price", seen("5", "json-ld", json_ld="5"), known) == ""

    def test_a_source_that_agreed_seldom_or_a_few_times_disputes_nothing(self) -> None:
        seldom = taught(9, seen("5", "text", state="5"))
        seldom.learn("price", seen("5", "text", state="6"))
        few = taught(KNOWN - 1, seen("5", "text", state="5"))
        few.learn("price", seen("5"))
        for known in (seldom, few):
            assert kind("price", seen("5", "text", state="6"), known) == ""

    def test_a_text_in_another_place_is_doubtful_unless_another_source_tells_it(self) -> None:
        known = taught(12, seen("5", path="usual"))
        assert kind("price", seen("5", path="new"), known) == "place"
        assert kind("price", seen("5", path="usual"), known) == ""
        assert kind("price", seen("5", path="new", state="5"), known) == ""
        assert kind("price", seen("5", "state", path="new"), known) == ""
        assert kind("price", seen("5"), known) == ""
        assert kind("price", seen("5", path="new"), taught(11, seen("5", path="usual"))) == ""
        reduced = doubt_of(
            "price", page(price=seen("5", path="new")), profile(price=known), reduced=True
        )
        assert reduced is None

    def test_a_text_that_stands_in_many_places_may_stand_in_another(self) -> None:
        known = Field()
        for n in range(12):
            known.learn("price", seen("5", path=f"p{n % 3}"))
        assert kind("price", seen("5", path="new"), known) == "place"
        known.learn("price", seen("5", path="p3"))
        assert kind("price", seen("5", path="new"), known) == ""

    def test_a_lesser_source_is_doubtful_where_another_told_it_on_many_pages(self) -> None:
        known = taught(60, seen("5", "json-ld"))
        assert kind("price", seen("5", "text"), known) == "source"
        assert kind("price", seen("5", "site"), known) == ""  # no worse than the usual one
        assert kind("price", seen("5", "text", state="5"), known) == ""
        assert kind("price", seen("5", "text"), taught(59, seen("5", "json-ld"))) == ""
        known.preferred = "text"
        assert kind("price", seen("5", "text"), known) == ""

    def test_another_currency_is_doubtful_where_all_of_many_pages_have_one(self) -> None:
        known = taught(60, seen("USD"), "currency")
        assert kind("currency", seen("EUR"), known) == "constant"
        assert kind("currency", seen("USD"), known) == ""
        assert kind("currency", seen("EUR", state="EUR"), known) == ""
        assert kind("currency", seen("EUR"), taught(59, seen("USD"), "currency")) == ""
        assert kind("price", seen("6"), taught(60, seen("5"))) == ""

    @pytest.mark.parametrize(("other", "value"), [(3, "USD"), (4, None)])
    def test_what_stands_on_nearly_all_pages_is_constant(self, other: int, value: object) -> None:
        known = taught(60 - other, seen("USD"), "currency")
        for _ in range(other):
            known.learn("currency", seen("EUR"))
        assert constant_value(known) == value

    def test_nothing_is_constant_on_few_pages(self) -> None:
        assert constant_value(taught(KNOWN - 1, seen("USD"))) is None
        assert constant_value(taught(KNOWN, seen("USD"))) == "USD"

    def test_a_new_make_doubts_a_text_that_nothing_else_tells(self) -> None:
        known = Field(probation=1)
        assert new_place_doubt("price", seen("5"), known) is not None
        assert new_place_doubt("price", seen("5"), Field()) is None
        assert new_place_doubt("price", seen(None), known) is None
        assert new_place_doubt("price", seen("5", "json-ld"), known) is None
        assert new_place_doubt("price", seen("5", state="5"), known) is None

    def test_a_price_before_that_is_lower_is_doubtful_as_a_text_alone(self) -> None:
        def told(one: Observation, below: Decimal | None = Decimal(4)) -> bool:
            return doubt_of_amounts(one, Profile(), below=below) is not None

        assert told(seen("5"))
        assert not told(seen("5"), None)
        assert not told(seen("5", "json-ld"))
        assert not told(seen("5", json_ld="5"))


class TestOddities:
    def test_one_price_for_all_is_told_from_twenty_products_on(self) -> None:
        assert oddity("price", taught(19, seen("5"))) is None
        found = oddity("price", taught(20, seen("5")))
        assert found is not None
        assert found[0] == "constant"

    def test_a_text_that_never_agrees_is_told(self) -> None:
        never, known = Field(), Field()
        for n in range(20):
            never.learn("price", seen(n, "json-ld", text=n + 1))
            known.learn("price", seen(n, "json-ld", text=n if n < 2 else n + 1))
        found = oddity("price", never)
        assert found is not None
        assert found[0] == "disagree"
        assert oddity("price", known) is None  # a tenth agrees

    def test_a_currency_that_the_text_never_agrees_on_is_told_and_one_currency_is_not(self) -> None:
        never, known = Field(), Field()
        for _ in range(20):
            never.learn("currency", seen("EUR", "json-ld", text="USD"))
            known.learn("currency", seen("EUR", "json-ld", text="EUR"))
        found = oddity("currency", never)
        assert found is not None
        assert found[0] == "disagree"
        assert oddity("currency", known) is None

    @pytest.mark.parametrize(("text", "kind"), [("USD", None), (None, None), ("EUR", "disagree")])
    def test_a_sign_that_stands_for_the_currency_as_well_does_not_contradict_it(
        self, text: str | None, kind: str | None
    ) -> None:
        known = Field()
        for _ in range(20):
            known.learn("currency", seen("AUD", "state", text=text or "USD"))
        newest = seen("AUD", "state", **({"text": text} if text else {}))
        known.recent.append((None, newest))
        found = oddity("currency", known)
        assert (found and found[0]) == kind

    def test_prices_that_differ_are_not_odd(self) -> None:
        known = Field()
        for n in range(40):
            known.learn("price", seen(n))
        assert oddity("price", known) is None


class TestConfidence:
    def test_nothing_is_known_of_no_value(self) -> None:
        assert confidence("price", seen(None), Field()) == 0.0

    def test_a_better_source_and_one_that_agrees_are_worth_more(self) -> None:
        text = confidence("price", seen("5"), Field())
        ld = confidence("price", seen("5", "json-ld"), Field())
        both = confidence("price", seen("5", "json-ld", text="5"), Field())
        against = confidence("price", seen("5", "json-ld", state="6"), Field())
        assert against < ld < both
        assert text == ld == pytest.approx(0.95)

    def test_a_price_that_only_the_text_has_is_never_sure_enough_for_a_jump(self) -> None:
        varied = Field()
        for n in range(60):
            varied.learn("price", seen(n, path="p"))
        assert confidence("price", seen("5", path="p"), varied) == 0.96
        assert confidence("price", seen("5", path="p", state="5"), varied) > 0.97

    def test_a_systems_number_that_stands_in_for_that_of_most_pages_data_is_not_sure(self) -> None:
        known, alone = Field(), Field()
        for n in range(28):
            known.learn("sku", seen(f"A{n}", "json-ld"))
            alone.learn("sku", seen(str(1000 + n), "state"))
        for n in range(4):
            known.learn("sku", seen(str(1000 + n), "state"))
        assert confidence("sku", seen("1066", "state"), known) < 0.95
        assert confidence("sku", seen("1066", "state"), alone) >= 0.95

    def test_a_doubt_bounds_it(self) -> None:
        known = taught(60, seen("5", "json-ld", text="5"))
        assert doubted(confidence("price", seen("5", "json-ld", text="5"), known)) == 0.3

    def test_a_place_that_all_pages_have_is_worth_something_if_prices_differ_there(self) -> None:
        varied, same_price = Field(), taught(KNOWN, seen("5", path="p"))
        for n in range(KNOWN):
            varied.learn("price", seen(n, path="p"))
        here = seen("5", path="p")
        assert confidence("price", here, varied) > confidence("price", here, same_price)
        assert confidence("price", here, same_price) < 0.7

    def test_half_of_the_prices_in_a_place_may_be_one(self) -> None:
        half, more = Field(), Field()
        for n in range(10):
            half.learn("price", seen("5" if n < 5 else 10 + n, path="p"))
            more.learn("price", seen("5" if n < 6 else 10 + n, path="p"))
        here = seen("5", path="p")
        assert confidence("price", here, half) > confidence("price", here, more)

    def test_stock_that_nearly_all_products_have_is_still_typical_of_stock(self) -> None:
        mixed, same_stock = Field(), taught(100, seen("InStock"), "availability")
        for n in range(100):
            mixed.learn("availability", seen("InStock" if n < 97 else "OutOfStock"))
        here = seen("InStock")
        assert confidence("availability", here, mixed) > confidence(
            "availability", here, same_stock
        )
        assert confidence("availability", seen("PreOrder"), mixed) == confidence(
            "availability", here, same_stock
        )

    def test_a_number_that_differs_on_each_page_is_typical_of_a_number(self) -> None:
        known, frame = Field(), taught(KNOWN, seen("A-1"), "sku")
        for n in range(KNOWN):
            known.learn("sku", seen(f"A-{n}"))
        assert confidence("sku", seen("A-99"), known) > confidence("sku", seen("A-1"), frame)

    def test_a_currency_of_all_pages_is_typical_unless_other_countries_write_it_so(self) -> None:
        euros = taught(KNOWN, seen("EUR"), "currency")
        dollars = taught(KNOWN, seen("USD"), "currency")
        fewer = taught(KNOWN - 1, seen("EUR"), "currency")
        assert confidence("currency", seen("EUR"), euros) > confidence(
            "currency", seen("EUR"), fewer
        )
        assert confidence("currency", seen("USD"), dollars) == 0.85

    def test_stock_of_structured_data_is_sure_where_the_page_shows_it(self) -> None:
        alone = confidence("availability", seen("InStock", "json-ld"), Field())
        shown = confidence("availability", seen("InStock", "json-ld", text="InStock"), Field())
        assert alone < 0.95 < shown

    def test_a_currency_that_is_told_by_its_code_is_typical_whoever_writes_its_sign(self) -> None:
        told = Observation("USD", "state", {"state": "USD"}, None)
        known, fewer = (taught(n, told, "currency") for n in (KNOWN, KNOWN - 1))
        assert confidence("currency", told, known) > confidence("currency", told, fewer)


@pytest.mark.parametrize(
    ("field", "one", "other", "alike"),
    [
        ("name", "Red lamp", "red  LAMP", True),
        ("name", "Red lamp", "Red lamp – Shop", True),
        ("sku", "A-1", "a-1", True),
        ("sku", "A-1", "A-12", False),
        ("name", "", "Red lamp", False),
        ("name", None, "Red lamp", False),
        ("price", "5", "5.0", False),
        ("currency", "EUR", "eur", False),
    ],
)
def test_two_sources_tell_one_value(field: str, one: Any, other: Any, alike: bool) -> None:
    assert is_same_value(field, one, other) is alike
    assert is_same_value(field, other, one) is alike

"""What an amount's own line, its neighbours and its repetitions say of it: each rule's edge."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import attrs
import pytest
from lxml.html import fragment_fromstring

from crawler.extract.money.amounts import find_prices
from crawler.extract.page import lines as flags
from crawler.extract.page.lines import Line, Lines
from crawler.extract.price.choice import (
    _cost_of_place,
    _is_regular_price,
    _Place,
    find_price,
)
from crawler.extract.price.favour import _favour, favour_repeated
from crawler.extract.price.regular_price import (
    Candidate,
    is_struck,
    mark_pairs,
)
from crawler.extract.price.sentences import is_in_prose
from crawler.extract.price.struck_below import is_labelled
from crawler.extract.price.words_around import label_before
from crawler.extract.price.words_beside import words_of
from crawler.extract.visible_signs import Visible


def line_of(text: str, mark: int, element: Any, index: int) -> Line:
    """A line as the walk over a page makes it."""
    marks = mark | flags.DIGIT if any(map(str.isdecimal, text)) else mark
    return Line(text=text, flags=marks, element=element, index=index)


def lines(*texts: str | tuple[str, int], heading: int = 0) -> Lines:
    """Lines as they are read from a page; a number beside a text has its flags."""
    made = [one if isinstance(one, tuple) else (one, 0) for one in texts]
    return Lines(
        [
            line_of(text, mark, fragment_fromstring("<p></p>"), n)
            for n, (text, mark) in enumerate(made)
        ],
        heading,
    )


def candidate(
    text: str, index: int = 1, *, mark: int = 0, tag: str = "p", nth: int = 0, **more: Any
) -> Candidate:
    money = list(find_prices(text))[nth]
    element = fragment_fromstring(f"<{tag}>{text}</{tag}>")
    line = line_of(text, mark, element, index)
    usual = {"cost": index, "old": False, "other": False, "follows_link": False}
    return Candidate(money, line, **{**usual, **more})


def price(*texts: str | tuple[str, int]) -> tuple[Any, Any]:
    """The price and the one before of a product's lines."""
    seen = Visible()
    find_price(lines("Steel drill", *texts), seen, "USD", tiles=False)
    told = (seen.fields.get("price"), seen.fields.get("regular_price"))
    return tuple(None if one is None else str(one) for one in told)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("before", "label"),
    [
        (["Shipping"], "Shipping"),
        (["x" * 39], "x" * 39),
        (["x" * 40], ""),  # a sentence is no label
        (["$9.00"], ""),
        (["$9.00 You save:"], "You save"),  # the label stands behind the amount before
        (["$9.00 You save"], ""),
        (["Shipping", ("hidden", flags.HIDDEN)], "Shipping"),
    ],
)
def test_the_line_before_an_amount_may_be_its_label(before: list[Any], label: str) -> None:
    read = lines("Steel drill", *before, "$5.00")
    assert label_before(read, read.lines[-1]) == label


@pytest.mark.parametrize(
    ("before", "labelled"),
    [
        (["Lowest price of 30 days"], True),
        (["$9.00"], False),
        ([("Others", flags.HEADING)], False),
        ([], False),  # right below the product's name
        (["Lowest price", ("hidden", flags.HIDDEN)], True),
        (["Najniższa cena z 30 dni przed obniżką"], True),
        (["Words of a language"], True),
        (["List price"], False),
        (["In stock"], False),
        (["Model: K 12"], False),
    ],
)
def test_a_heading_and_an_amount_are_no_labels(before: list[Any], labelled: bool) -> None:
    read = lines("Steel drill", *before, "$5.00")
    assert is_labelled(read, read.lines[-1]) is labelled


def test_an_amount_at_the_pages_beginning_has_no_label() -> None:
    read = lines("$5.00", heading=-1)
    assert (label_before(read, read.lines[0]), is_labelled(read, read.lines[0])) == ("", False)


def words(text: str, nth: int) -> str:
    monies = list(find_prices(text))
    since = monies[nth - 1].end if nth else 0
    until = monies[nth + 1].start if nth + 1 < len(monies) else len(text)
    return " ".join(words_of(monies[nth], text, since, until).split())


def test_of_several_amounts_of_a_line_each_has_the_words_beside_it() -> None:
    several = "now $5.00 each, postage $3.00 extra"
    assert words(several, 0) == "now each, postage"
    assert words(several, 1) == "extra"
    assert words("now $5.00, postage $3.00", 1) == ", postage"  # none behind the last
    assert words("postage $3.00 - $5.00", 1) == "postage $3.00 -"  # of a span all
    assert words("you save $5.00 today", 0) == "you save today"


def test_of_a_long_line_the_words_around_an_amount_count() -> None:
    text = f"{'far ' * 200}near $5.00 near {'far ' * 200}"
    found = words(text, 0).split()
    assert (found.count("near"), 200 < len(found) < 260) == (2, True)


@pytest.mark.parametrize(
    ("likely", "unlikely"),
    [
        ({"index": 1}, {"index": 2}),
        ({"index": 2}, {"index": -1}),  # before the heading
        ({"mark": flags.PRICE}, {}),
        ({}, {"follows_link": True}),
        ({}, {"currency": None}),
        ({}, {"mark": flags.LINK, "text": "see our $5.00"}),
        ({}, {"value": 0}),
        ({}, {"text": "$5.00" + " and more" * 20}),
        ({"text": "$5.00 and" + " more" * 20}, {"text": "$5.00 and" + " more" * 30}),
    ],
)
def test_a_place_makes_an_amount_more_or_less_likely_the_price(
    likely: dict[str, Any], unlikely: dict[str, Any]
) -> None:
    def cost(*, index: int = 1, text: str = "$5.00", mark: int = 0, **more: Any) -> int:
        (money,) = find_prices(text)
        element = fragment_fromstring("<div><a><b></b></a></div>").find(".//b")
        line = line_of(text, mark, element, index)
        place = _Place(line, index, "", more.pop("follows_link", False))
        return _cost_of_place(attrs.evolve(money, **more), place)

    assert cost(**likely) < cost(**unlikely)


def test_an_amount_at_a_lines_beginning_outside_of_a_link_is_no_links() -> None:
    def cost(html: str, text: str) -> int:
        line = Line(text=text, flags=flags.LINK, element=fragment_fromstring(html), index=1)
        (money,) = find_prices(text)
        return _cost_of_place(money, _Place(line, 1, "", False))

    assert cost("<p></p>", "$5.00 details") < cost("<p></p>", "details: $5.00")
    assert cost("<p></p>", "$5.00 details") < cost("<a></a>", "$5.00 details")


def test_an_amount_that_a_page_repeats_is_favoured_up_to_a_limit() -> None:
    assert [_favour(n) for n in (1, 2, 4, 9)] == [0, 4, 12, 12]
    twice = [candidate("$5.00", 1), candidate("$5.00", 9), candidate("$7.00", 5)]
    assert [one.cost for one in favour_repeated(twice)] == [-3, 5, 5]
    for unchanged in (
        twice[:2],
        [candidate(f"${n}.00", n) for n in (1, 2, 3)],
        [candidate("$5.00", n) for n in (1, 2, 3)],
    ):
        assert favour_repeated(unchanged) == unchanged
    told_otherwise = [
        *twice[:2],
        candidate("$7.00", 5, other=True),
        candidate("$7.00", 6, old=True),
    ]
    assert favour_repeated(told_otherwise) == told_otherwise


@pytest.mark.parametrize(
    ("one", "two", "old"),
    [
        ("$9.00", "$5.00", 0),
        ("$5.00", "$9.00", 1),
        ("$5.00", "$5.00", None),
        ("$5.00", "$25.00", None),  # five times as much is another thing's
        ("$5.00", "$24.99", 1),
        ("$5.00", "€9.00", None),
        ("$5.00 for one", "$9.00", None),  # a word tells more than the place
        ("$5.00 -", "$9.00", None),
    ],
)
def test_of_two_amounts_that_stand_alone_side_by_side_the_higher_was_before(
    one: str, two: str, old: int | None
) -> None:
    found = mark_pairs([candidate(one, 1), candidate(two, 2)])
    assert [c.old for c in found] == [old == 0, old == 1]


def test_a_third_amount_beside_a_pair_or_a_price_before_leaves_it_open() -> None:
    pair = [candidate("$9.00", 1), candidate("$5.00", 2)]
    for more in (candidate("$7.00", 3), candidate("$12.00", 9, old=True)):
        assert mark_pairs([*pair, more]) == [*pair, more]
    apart = mark_pairs([*pair, candidate("$7.00", 5)])
    assert [one.old for one in apart] == [True, False, False]
    assert not any(c.old for c in mark_pairs([candidate("$9.00", 1), candidate("$5.00", 3)]))


def test_a_pair_may_stand_in_one_line_with_nothing_between() -> None:
    def both(text: str) -> list[bool]:
        one, two = candidate(text, nth=0), candidate(text, nth=1)
        two = attrs.evolve(two, line=one.line)
        return [c.old for c in mark_pairs([one, two])]

    assert both("$9.00 $5.00") == [True, False]
    assert both("$9.00 , $5.00") == [False, False]


@pytest.mark.parametrize(
    ("old", "new", "is_before"),
    [
        ({}, {}, True),
        ({"index": 14}, {}, True),
        ({"index": 15}, {}, False),  # far below
        ({"text": "$5.00"}, {}, False),
        ({"text": "€9.00"}, {}, False),
        ({"follows_link": True}, {}, False),  # another product's, in its tile
        ({"follows_link": True, "mark": flags.PRICE}, {}, True),
        ({"follows_link": True}, {"follows_link": True}, True),
    ],
)
def test_the_price_before_is_higher_near_and_in_the_same_currency(
    old: dict[str, Any], new: dict[str, Any], is_before: bool
) -> None:
    before = candidate(**{"text": "$9.00", "index": 1, **old})
    assert _is_regular_price(before, candidate(**{"text": "$5.00", "index": 2, **new})) is is_before


def test_what_is_struck_by_its_element_is_paid_by_nobody() -> None:
    assert is_struck(candidate("$9.00", old=True, tag="del"))
    assert not is_struck(candidate("$9.00", old=True, tag="p"))
    assert not is_struck(candidate("$9.00", old=False, tag="del"))


@pytest.mark.parametrize(
    ("text", "mark", "in_prose"),
    [
        ("we sold this lamp for $5.00 to somebody who likes it", 0, True),
        ("we sold this lamp for $5.00 to somebody who likes it", flags.PRICE, False),
        ("our price for you: $5.00 and not one cent more of it", 0, False),
        ("lamp for $5.00 to somebody who likes it very much", 0, False),
        ("we sold this lovely lamp to somebody for $5.00 only", 0, False),
        ("it was sold at $5.00 to you", 0, False),
    ],
)
def test_a_price_between_the_words_of_a_sentence_is_told_as_one(
    text: str, mark: int, in_prose: bool
) -> None:
    assert is_in_prose(lines("Steel drill"), candidate(text, mark=mark)) is in_prose


@pytest.mark.parametrize(("paragraphs", "in_prose"), [(8, False), (9, True)])
def test_a_price_by_a_link_in_the_middle_of_an_article_is_the_articles(
    paragraphs: int, in_prose: bool
) -> None:
    read = lines("Steel drill", *["x" * 100] * paragraphs, *["y" * 80] * 20)
    best = candidate("$5.00", paragraphs + 21, follows_link=True)
    assert is_in_prose(read, best) is in_prose


def test_the_lowest_price_of_late_is_no_price_before() -> None:
    """A marked amount without words that is lower than the price."""
    seen = Visible()
    read = lines("Steel drill", ("$5.00", flags.PRICE), ("$4.00", flags.OLD))
    find_price(read, seen, "USD", tiles=False)
    assert (seen.fields["price"], seen.fields.get("regular_price")) == (Decimal("5.00"), None)
    assert seen.struck_below == Decimal("4.00")


@pytest.mark.parametrize(
    "below",
    [
        [("€4.00", flags.OLD)],
        [("from $4.00", flags.OLD)],
        ["Lowest of late", ("$4.00", flags.OLD)],
        *([[*["and"] * 13, ("$4.00", flags.OLD)]]),
    ],
)
def test_a_lower_amount_with_words_far_away_or_of_another_currency_is_none_of_late(
    below: list[Any],
) -> None:
    seen = Visible()
    find_price(lines("Steel drill", ("$5.00", flags.PRICE), *below), seen, "USD", tiles=False)
    assert seen.struck_below is None


def test_the_regular_price_is_the_price_where_there_is_no_other_near() -> None:
    far = [("$5.00", 0)]
    assert price(("$9.00", flags.OLD | flags.PRICE)) == ("9.00", None)
    between = ["and"] * 40
    assert price(("$9.00", flags.OLD | flags.PRICE), *between, *far) == ("9.00", None)
    assert price(("$9.00", flags.OLD | flags.PRICE), *between[:9], *far) == ("5.00", "9.00")
    assert price() == (None, None)


def test_a_money_without_a_currency_is_read_where_its_class_says_price() -> None:
    assert price(("5.00", flags.PRICE)) == ("5.00", None)
    assert price(("5.00", 0)) == (None, None)
    assert price(("AB-5.00", flags.PRICE)) == (None, None)  # an identifier
    assert price(("5.00 and a lot of words", flags.PRICE)) == (None, None)

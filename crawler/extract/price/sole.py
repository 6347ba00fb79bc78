"""Know a price beside which no other amount may be the price, and one below another heading."""

from __future__ import annotations

import re
from collections.abc import Iterable

import attrs

from crawler.extract.page.class_words import UNIT_PRICE
from crawler.extract.page.lines import BEYOND, CARD, LINK, PRICE, Line, Lines
from crawler.extract.price.other_amounts import RANGE
from crawler.extract.price.per_unit import names_unit
from crawler.extract.price.regular_price import Candidate
from crawler.extract.price.words_around import label_before
from crawler.extract.price.words_beside import AROUND, BEHIND, says_from
from crawler.extract.words import CachedRule, any_word

#: The price before and the price now.
_PAIR = 2
#: Words for what a reduction saves.
_SAVES = any_word("amounts", "saved")
#: Classes of a unit's price: `<span class="unit_price">`.
_IS_OF_UNIT = CachedRule(lambda words: re.search(UNIT_PRICE, words[:200].lower()) is not None)


def is_sole(
    price: Candidate, regular: Candidate, candidates: Iterable[Candidate], walk: Lines
) -> bool:
    """Whether all other amounts in boxes for prices are another kind's, of before, or of tiles.

    The price of a unit, such as 100 g, is none of the product beside data with another price, nor
    is that of one variant: "from" stands before the price before, or above it.
    """
    before = regular.line.text[: regular.money.start] or label_before(walk, regular.line)
    if says_from(before):
        return False
    if price.unit or names_unit("", price.line.text[price.money.end :][:BEHIND]):
        return False
    rivals = (c for c in candidates if c.line.flags & PRICE)
    rivals = (c for c in rivals if not (c.other or c.old or c.follows_link))
    return not price.other and all(c.money.value == price.money.value for c in rivals)


def is_saved(
    regular: Candidate, price: Candidate, candidates: Iterable[Candidate], walk: Lines
) -> bool:
    """Whether the page says that the reduction saves the difference of both prices.

    Postage and a deposit are the difference of two sums as well, what a subscription saves is that
    from the price of one order, and a range has two prices.
    """
    if regular.now or _is_range(regular, price):
        return False
    saving = regular.money.value - price.money.value
    return any(says_saved(c, walk) for c in candidates if c.other and c.money.value == saving)


def _is_range(regular: Candidate, price: Candidate) -> bool:
    """Whether both prices stand in one line with a dash or "to" between them."""
    text = price.line.text
    between = text[price.money.end : regular.money.start]
    return regular.line.text == text and between != "" and RANGE.match(between) is not None


def says_saved(amount: Candidate, walk: Lines) -> bool:
    """Whether words beside an amount or in its label call it a saving."""
    text, money = amount.line.text, amount.money
    around = f"{text[: money.start][-AROUND:]} {text[money.end :][:AROUND]}"
    return _SAVES(around) is not None or _SAVES(label_before(walk, amount.line)) is not None


def with_saved(candidates: list[Candidate], walk: Lines) -> list[Candidate]:
    """Mark the price before, if a line has the price now and what it saves as well."""
    prices = [c for c in candidates if not c.other]
    if len(prices) != _PAIR or prices[0].old or prices[1].old:
        return candidates
    low, high = sorted(prices, key=lambda c: c.money.value)
    if not is_saved(high, low, candidates, walk):
        return candidates
    return [attrs.evolve(c, old=True, says_old=True) if c is high else c for c in candidates]


def is_beside_others(line: Line) -> bool:
    """Whether a price seems another one only by a heading about others, or by a unit in its class."""
    if not line.flags & PRICE or line.flags & (CARD | LINK):
        return False
    return bool(line.flags & BEYOND) or _IS_OF_UNIT[line.element.get("class") or ""]

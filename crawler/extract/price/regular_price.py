"""Which of two amounts side by side was the price before: the higher one, or the one not called now."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import chain, islice, pairwise, permutations

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.money.amounts import Money, find_prices
from crawler.extract.page.lines import BUTTON, DIGIT, NOW, PRICE, Line
from crawler.extract.page.page import short_text
from crawler.extract.price.other_amounts import PERCENT, POSTAGE, WITH_TAX, says_other
from crawler.extract.words import Marks, any_word
from scrapy_seine.records import Value

#: What beside an amount says more about it: words, a range, a sum, how much of it one gets.
_WORD = lazy_patterns.pattern(r"[^\W\d_]{3}|[-–—/+]|\d\s?[^\W\d_]")
_LONGEST_PAIR = 30
#: The same of a remark behind an amount that the tax is in it.
_LONGEST_REMARK = 30
#: What it costs an amount that words call postage, an instalment or a saving, in lines.
OTHER = 60
#: Lines from an amount to the one before or after: a label may stand between.
_NEAR = 2
#: What is written right before the amount that holds the tax, beside or behind the one without, and
#: how much more it is: the rates of taxes on sales, in thousandths.
_NET = any_word("amounts", "without_tax")
_TAXES = tuple(
    Decimal(rate).scaleb(-3)
    for rate in (1050, 1055, 1060, 1070, 1077, 1080, 1081, 1090, 1100, 1110, 1120, 1130, 1140, 1150,
                 1160, 1170, 1180, 1190, 1200, 1210, 1220, 1230, 1240, 1250, 1255, 1270)
)  # fmt: skip
_MAX_TAXED = Decimal("1.3")
#: What rounding costs, lines between the two, and the amounts of a page that are looked at for them.
_CENT, _NEAR_TAXED, _FIRST = Decimal("0.02"), 8, 8
#: Attributes of an amount's boxes in which templates tell that the tax is not in it.
_TELLING = ("class", "data-label", "id", "data-testid")
_NET_BOX = re.compile(
    r"(?:excl?(?:uding|usive)?|without)[-_. ]{0,2}(?:tax|vat|btw|moms|mva|gst|mwst)|(?:tax|vat)[-_]?excl"
    r"|(?:^|[-_ ])ex[-_. ]{0,2}(?:tax|vat|btw)|price[-_]{0,2}net(?:to)?\b|\bnet(?:to)?[-_]{0,2}pr"
).search
_MAX_TOLD = 300
_IS_NET = Marks(lambda told: _NET_BOX(told[:_MAX_TOLD].lower()) is not None)
#: Elements and styles that strike their text through.
_STRUCK = frozenset({"s", "del", "strike"})
_strikes = re.compile(r"text-decoration(?:-line)?\s*:[^;]{0,40}line-through", re.I).search
#: What each repetition of an amount is worth, in lines of distance.
_FAVOUR, _MAX_FAVOUR = 4, 12
_LABEL = 14
_BRACKETS = frozenset("([（")
#: Brackets and figures end what is said of an amount.
_NOT_OTHERS = lazy_patterns.pattern(r"[(（/\d]|[)）](?=\s*\S)")
#: What stands in brackets right behind an amount is about that one: `6,700円(税抜) 7,370円(税込)`.
_REMARK_BEHIND = re.compile(r"[(（]((?:[^()（）\d]|\d{1,2}\s?%){1,30})[)）]").match
_REMARK_OF_ANOTHER = re.compile(r"\d\s?[^\s\d()（）]{0,3}\s?[(（][^()（）]{1,30}[)）]\s?\Z").search
_PERCENT = re.compile(r"(?<![\d.,])(\d{1,2})\s?%").search


@attrs.frozen(eq=False, repr=False)
class Candidate(Value):
    """An amount of the page that may be the price, with what speaks for and against it."""

    money: Money
    line: Line
    cost: int
    old: bool
    other: bool
    """Postage, instalments, savings: no price of the product."""
    follows_link: bool
    now: bool = False
    """Words say that it is the price after a reduction."""
    told_old: bool = False
    """Words, and not only a class, say that it is the price before."""
    tax: bool = False
    """It is the tax that another amount includes."""


def with_tax(candidates: list[Candidate], lines: Sequence[Line]) -> list[Candidate]:
    """Take a price without tax for another amount, where the one with tax stands beside it."""
    candidates = _without_the_tax(candidates)
    others = [c for c in candidates if not c.tax]
    for one, two in chain(pairwise(others), _apart(others)):
        if abs(one.line.index - two.line.index) > _NEAR_TAXED or (one.old and two.old):
            continue
        low, high = (one, two) if one.money.value < two.money.value else (two, one)
        if high.old or not _is_taxed(low, high) or _is_told_down(high, low):
            continue
        of_low, of_high = _around(low, lines), _around(high, lines)
        told = high.money.value - low.money.value
        net = (
            _NET(of_low)
            or is_net_box(low)
            or any(c.tax and c.money.value == told for c in candidates)
        )
        if WITH_TAX(of_low) or not (net or WITH_TAX(of_high)):
            continue
        gross = high.other and net
        paid = attrs.evolve(high, other=False, cost=high.cost - OTHER) if gross else high
        # Of a table of prices all those between are net.
        first, last = sorted((low.line.index, high.line.index))
        return [
            paid
            if c is high
            else attrs.evolve(c, other=True, cost=c.cost + OTHER)
            if not c.other and (c is low or (first < c.line.index < last and _is_lower(c, high)))
            else c
            for c in candidates
        ]
    return candidates


def _is_lower(one: Candidate, high: Candidate) -> bool:
    return not one.old and one.money.value < high.money.value


def _apart(candidates: list[Candidate]) -> Iterator[tuple[Candidate, Candidate]]:
    """Pairs of amounts of which the one with tax stands a few lines off: behind a table, say."""
    for place, one in enumerate(candidates[:_FIRST]):
        yield from ((one, two) for two in candidates[place + 2 : _FIRST])


def _without_the_tax(candidates: list[Candidate]) -> list[Candidate]:
    """Take the tax itself for another amount: it stands beside what it comes to and the sum."""
    if len(candidates) < 3:
        return candidates
    for place, one in enumerate(candidates):
        around = candidates[max(0, place - 2) : place] + candidates[place + 1 : place + 3]
        near = [c for c in around if abs(c.line.index - one.line.index) <= 2 * _NEAR]
        for net, gross in permutations(near, 2):
            summed = net.money.value + one.money.value == gross.money.value
            down = gross.old or _is_told_down(gross, net)
            if summed and _is_taxed(net, gross) and not down:
                tax = attrs.evolve(one, other=True, tax=True, cost=one.cost + OTHER)
                return [tax if c is one else c for c in candidates]
    return candidates


def _is_told_down(high: Candidate, low: Candidate) -> bool:
    """Whether words say that the higher of two amounts was asked before: 20 % off is no tax."""
    return high.told_old and not low.told_old


def is_net_box(one: Candidate) -> bool:
    """Whether an attribute of an amount's box, or of the two around that, says without tax."""
    here = one.line.element
    boxes = (here, *islice(here.iterancestors(), 2))
    told = (box.get(name) or "" for box in boxes for name in _TELLING)
    return any(_IS_NET[text] for text in told if text)


def _is_taxed(low: Candidate, high: Candidate) -> bool:
    """Whether an amount is another one and its tax: to the cent, or to the unit where they have none."""
    net, gross = low.money.value, high.money.value
    if not net < gross < net * _MAX_TAXED:
        return False
    apart = abs(low.line.index - high.line.index)
    whole = apart <= _NEAR and 0 in (net % 1, gross % 1)
    rounded = 1 if whole else _CENT
    # The first rate that is not too low decides: those behind it come to more.
    place = bisect_left(_TAXES, gross - rounded, key=net.__mul__)
    return place < len(_TAXES) and net * _TAXES[place] <= gross + rounded


def _around(one: Candidate, lines: Sequence[Line]) -> str:
    """The words beside an amount, up to the next one or a bracket; where none are, those below it.

    Only a remark in brackets is known to be about the amount above it.
    """
    text, money = one.line.text, one.money
    if not any(map(str.isalpha, text[: money.start] + text[money.end :])):
        if label := _label_in_row(one.line, lines):
            return label
        below = lines[one.line.index + 1].text if one.line.index + 1 < len(lines) else ""
        return below if below[:1] in _BRACKETS and len(below) <= _LONGEST_REMARK else ""
    before, behind = text[: money.start][-_LABEL:], text[money.end :].lstrip()
    if _REMARK_OF_ANOTHER(before):
        before = ""
    if remark := _REMARK_BEHIND(behind):
        return f"{_NOT_OTHERS.split(before)[-1]} {remark[1]}"
    return f"{_NOT_OTHERS.split(before)[-1]} {_NOT_OTHERS.split(behind[:_LABEL])[0]}"


def _label_in_row(line: Line, lines: Sequence[Line]) -> str:
    """The text of the cell before an amount's in a row of a table."""
    before = lines[line.index - 1] if line.index else line
    rows = [
        next((box for box in islice(one.element.iterancestors(), 3) if box.tag == "tr"), None)
        for one in (before, line)
    ]
    return before.text if rows[0] is not None and rows[0] is rows[1] and before is not line else ""


def paired(candidates: list[Candidate], lines: Sequence[Line] = ()) -> list[Candidate]:
    """Tell which of two amounts that stand alone side by side was the price before."""
    candidates = _without_called(candidates, lines)
    plain = [c for c in candidates if not c.other and not c.old]
    reduced = [c for c in candidates if c.old]
    saved = {c.money.value for c in candidates if c.other}
    for place, (one, two) in enumerate(pairwise(plain)):
        around = plain[max(0, place - 1) : place] + plain[place + 2 : place + 3]
        low = min(one.money.value, two.money.value)
        if any(beside(c, one) and c.money.value > low for c in reduced):
            continue
        apart = not any(
            (_adjoin(c, one) or _adjoin(c, two))
            and c.money.currency in {one.money.currency, None}
            and stands_alone(c)  # words make it another kind of amount
            for c in around
        )
        told = _is_reduced(one, two) or _is_marked_down(one, two) or _saves(one, two, saved)
        high = one if one.money.value > two.money.value else two
        if told or (apart and _is_pair(one, two, lines)):
            if _is_called_other(high, lines):
                other = attrs.evolve(high, other=True, cost=high.cost + OTHER)
                return [other if c is high else c for c in candidates]
            return [attrs.evolve(c, old=True) if c is high else c for c in candidates]
    return candidates


def called_twice(candidates: list[Candidate]) -> list[Candidate]:
    """Take an amount for the price before, where a lower one near it is called the price as well.

    `Shop price: 365, VIP: 347, promotion: 310`: with other words, each in its own line.
    """
    called = [c for c in candidates if c.now and not c.old and not c.other and _word_before(c)]
    if len(called) < 2 or len({c.money.value for c in called}) != 2:
        return candidates
    low, high = sorted(called, key=lambda c: c.money.value)[:: len(called) - 1]
    words = {_word_before(c) for c in called if c.money.value == low.money.value}
    others = {_word_before(c) for c in called if c.money.value != low.money.value}
    paid = beside(low, high) and low.money.currency == high.money.currency and not words & others
    if not paid or low.line.index < high.line.index or low.money.value * 5 < high.money.value:
        return candidates
    lines = range(high.line.index, low.line.index)  # other customers' prices stand between
    return [
        c
        if c.line.index not in lines or not low.money.value < c.money.value <= high.money.value
        else attrs.evolve(c, old=True)
        if c.money.value == high.money.value
        else attrs.evolve(c, other=True, cost=c.cost + OTHER)
        for c in candidates
    ]


def _word_before(one: Candidate) -> str:
    return one.line.text[: one.money.start].strip(" :：")


def paid_in_box(candidates: list[Candidate]) -> list[Candidate]:
    """Tell which amount is asked, where a box whose class says "before" holds all the amounts.

    The lower one of two side by side is, unless it is struck through or words say otherwise.
    """
    before = [c for c in candidates if c.old and not c.other]
    if len(before) < 2 or any(not c.old and not c.other and _is_no_word(c) for c in candidates):
        return candidates
    for one, two in pairwise(before):
        near = abs(one.line.index - two.line.index) <= _NEAR
        low, high = sorted((one, two), key=lambda c: c.money.value)
        alike = one.money.currency == two.money.currency
        if not (near and alike and low.money.value < high.money.value < 5 * low.money.value):
            continue
        # Where both are called so, the one that a shop asks is the lower.
        if (not low.told_old or high.told_old) and not is_struck(low):
            return [attrs.evolve(c, old=False) if c is low else c for c in candidates]
    return candidates


def _is_no_word(one: Candidate) -> bool:
    """Whether an amount is none that a sentence tells by the way."""
    return bool(one.line.flags & PRICE) or stands_alone(one)


def near_before(candidates: list[Candidate]) -> list[Candidate]:
    """Favour an amount with the price before right beside it: points and sums have none."""
    before = [c for c in candidates if c.old and not c.other]
    if not before or len(candidates) < 3:
        return candidates
    return [
        c
        if c.old or c.other or not any(_is_right_before(old, c) for old in before)
        else attrs.evolve(c, cost=c.cost - _MAX_FAVOUR)
        for c in candidates
    ]


def _is_right_before(old: Candidate, new: Candidate) -> bool:
    apart = abs(old.line.index - new.line.index)
    near = apart <= (_NEAR if old.told_old else 1) and not new.follows_link  # its label has a line
    return near and new.money.value < old.money.value < 5 * new.money.value


def often_told(candidates: list[Candidate]) -> list[Candidate]:
    """Favour an amount that the page repeats: a price stands in the box, the bar and the summary.

    Other sellers' prices, card offers and sponsored things stand there once each.
    """
    if len(candidates) < 3:
        return candidates
    times = Counter(c.money.value for c in candidates if not c.old and not c.other)
    if len(times) < 2 or len(times) == times.total():
        return candidates
    return [
        c if c.old or c.other else attrs.evolve(c, cost=c.cost - _favour(times[c.money.value]))
        for c in candidates
    ]


def _favour(times: int) -> int:
    return min(_MAX_FAVOUR, _FAVOUR * (times - 1))


def _is_reduced(one: Candidate, two: Candidate) -> bool:
    """Whether the second of two amounts side by side is called the price that is asked now."""
    near = (
        abs(one.line.index - two.line.index) <= _NEAR and one.money.currency == two.money.currency
    )
    return (
        near and two.now and not one.now and two.money.value < one.money.value < two.money.value * 5
    )


def _is_marked_down(one: Candidate, two: Candidate) -> bool:
    """Whether the class of the lower one of two amounts, and only its, calls it the price now."""
    if abs(one.line.index - two.line.index) > _NEAR or one.money.currency != two.money.currency:
        return False
    low, high = sorted((one, two), key=lambda c: c.money.value)
    if len(high.line.text) > _LONGEST_PAIR + _LONGEST_REMARK and not _is_no_word(high):
        return False  # from what sum on postage is free
    return bool(low.line.flags & ~high.line.flags & NOW) and (
        low.money.value < high.money.value < low.money.value * 5
    )


def _saves(one: Candidate, two: Candidate, saved: set[Decimal]) -> bool:
    """Whether the page tells the difference of two amounts: what one saves, or in percent."""
    near = (
        abs(one.line.index - two.line.index) <= _NEAR and one.money.currency == two.money.currency
    )
    low, high = sorted((one.money.value, two.money.value))
    if not near or not low < high < low * 5:
        return False
    return high - low in saved or any(
        _is_percent_off(line.text, low, high) for line in (one.line, two.line)
    )


def _is_percent_off(text: str, low: Decimal, high: Decimal) -> bool:
    """Whether a text tells by how many percent one amount is lower than another."""
    told = _PERCENT(text) if "%" in text else None
    return told is not None and abs(100 * (high - low) / high - int(told[1])) <= 1


def _is_pair(one: Candidate, two: Candidate, lines: Sequence[Line]) -> bool:
    low, high = sorted((one.money.value, two.money.value))
    alone = all(stands_alone(c) for c in (one, two))
    alike = one.money.currency is not None and one.money.currency == two.money.currency
    if not (alone and alike and low * 5 > high > low):
        return False
    return _adjoin(one, two) or (one.money.value > low and _is_off_between(one, two, lines))


def _without_called(candidates: list[Candidate], lines: Sequence[Line]) -> list[Candidate]:
    """Take an amount for another one that a word between it and the next one calls so: `with card`."""
    for one, two in pairwise(candidates):
        if two.line.index - one.line.index != _NEAR or one.old or one.other or two.other:
            continue
        if _is_called_other(one, lines) and stands_alone(one) and stands_alone(two):
            other = attrs.evolve(one, other=True, cost=one.cost + OTHER)
            return [other if c is one else c for c in candidates]
    return candidates


def _is_called_other(high: Candidate, lines: Sequence[Line]) -> bool:
    """Whether the text below an amount in its box makes it another one: "with buyer protection"."""
    place = high.line.index + 1
    below = lines[place] if place < len(lines) else high.line
    apart = (below.flags ^ high.line.flags) & BUTTON
    if apart or below.flags & DIGIT or len(below.text) > _LONGEST_PAIR:
        return False
    around = set(islice(below.element.iterancestors(), 2))
    shared = any(box in around for box in islice(high.line.element.iterancestors(), 2))
    text = below.text.lower()
    return shared and says_other(text) and WITH_TAX(text) is None and POSTAGE(text) is None


def _is_off_between(one: Candidate, two: Candidate, lines: Sequence[Line]) -> bool:
    """Whether nothing but a percentage, with a word or two, stands between two amounts."""
    between = lines[one.line.index + 1 : two.line.index]
    return len(between) == 1 and "%" in (text := between[0].text) and len(text) <= _LONGEST_PAIR


def _adjoin(one: Candidate, two: Candidate) -> bool:
    if one.line is two.line:
        between = one.line.text[
            min(one.money.end, two.money.end) : max(one.money.start, two.money.start)
        ]
        return not between.strip()
    return abs(one.line.index - two.line.index) == 1


def stands_alone(one: Candidate) -> bool:
    """Whether nothing but amounts is written in its line, and that the tax is in them."""
    words = _words_beside(one)
    return not _WORD.search(words) or (
        len(words) <= _LONGEST_REMARK
        and _NET(words) is None
        and (remark := WITH_TAX(words)) is not None
        and not _WORD.search(remark.string[: remark.start()] + remark.string[remark.end() :])
    )


def _words_beside(one: Candidate) -> str:
    """What is written in a line beside its amounts and percentages; all of it where it is long."""
    text = PERCENT.sub("", one.line.text) if "%" in one.line.text else one.line.text
    if len(text) > _LONGEST_PAIR + _LONGEST_REMARK:
        return text
    for money in find_prices(text, one.money.currency):
        text = text[: money.start] + " " * (money.end - money.start) + text[money.end :]
    return " ".join(text.split())


def beside(one: Candidate, other: Candidate) -> bool:
    """Whether so few lines stand between two amounts that one box may hold both."""
    return abs(one.line.index - other.line.index) <= 12


def is_struck(candidate: Candidate) -> bool:
    """Whether an amount is struck through by its element: nobody pays that."""
    here = candidate.line.element
    boxes = [here, *islice(here.iterancestors(), 2)] if candidate.old else []
    struck = next((e for e in boxes if e.tag in _STRUCK or _strikes(e.get("style") or "")), None)
    # The line begins in that element; another amount of the line may stand behind it.
    return struck is not None and len(short_text(struck)) > candidate.money.start

"""Find the regular price among amounts side by side: the higher one, or the one without "now"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import chain, islice, pairwise, permutations

import attrs

from crawler.extract.money.amounts import Money
from crawler.extract.page.lines import BUTTON, DIGIT, LINK, NOW, PRICE, Line
from crawler.extract.price import alone
from crawler.extract.price.alone import MAX_PAIR_LINE, MAX_REMARK, are_alone, near
from crawler.extract.price.other_amounts import POSTAGE, WITH_TAX, WITHOUT_TAX, says_other
from crawler.extract.price.strikes import is_struck_at
from crawler.extract.price.tax_rates import CENT, MAX_RATIO, taxed_by
from crawler.extract.price.words_around import (
    are_told_apart,
    label_above,
    share_row,
    words_around,
    words_beside,
)
from crawler.extract.price.words_beside import CALLS_PRICE
from crawler.extract.words import CachedRule, any_word
from scrapy_seine.attrs_bases import Value

#: The cost, in lines, of an amount that words call postage, an instalment or a saving.
OTHER = 60
#: Lines from an amount to the one before or after: a label may stand between.
_MAX_LINES = 2
#: Lines between the amounts with and without tax, and amounts of a page that are paired.
_MAX_TAXED_LINES, _MAX_PAIRED = 8, 8
#: Attributes of an amount's boxes that may say "without tax".
_TAX_ATTRIBUTES = ("class", "data-label", "id", "data-testid")
_NET_BOX = re.compile(
    r"(?:excl?(?:uding|usive)?|without)[-_. ]{0,2}(?:tax|vat|btw|moms|mva|gst|mwst)|(?:tax|vat)[-_]?excl"
    r"|(?:^|[-_ ])ex[-_. ]{0,2}(?:tax|vat|btw)|price[-_]{0,2}net(?:to)?\b|\bnet(?:to)?[-_]{0,2}pr"
).search
_MAX_ATTRIBUTE = 300
_IS_NET = CachedRule(lambda value: _NET_BOX(value[:_MAX_ATTRIBUTE].lower()) is not None)
#: Words for a tax, and the characters beside its rate that may have one.
NAMES_TAX, _MAX_RATED = any_word("amounts", "tax"), 8
#: Characters of words before two amounts that are about the first: `Reg. 50 € 40 €`.
_MAX_WORD = 24
_PERCENT = re.compile(r"(?<![\d.,])(\d{1,2})\s?%").search


@attrs.frozen(eq=False, repr=False)
class Candidate(Value):
    """An amount of the page that may be the price, with the signs for and against it."""

    money: Money
    line: Line
    cost: int
    old: bool
    other: bool
    """The amount is no price of the product, but postage, an instalment or a saving."""
    follows_link: bool
    now: bool = False
    """Words call it the price after a reduction."""
    says_old: bool = False
    """Words, and not only a class, call it the price before a reduction."""
    called: bool = False
    """The words that call it the price before call the price now as well: `PVP`."""
    tax: bool = False
    """It is the tax that another amount includes."""
    unit: str = ""
    """The unit, `/ m`, if the amount is another one only because it is that of a unit."""


def prefer_gross(candidates: list[Candidate], lines: Sequence[Line]) -> list[Candidate]:
    """Mark a price without tax as another amount, if the one with tax stands beside it."""
    candidates = _mark_tax(candidates, lines)
    untaxed = [c for c in candidates if not c.tax]
    for first, second in chain(pairwise(untaxed), _distant_pairs(untaxed)):
        if abs(first.line.index - second.line.index) > _MAX_TAXED_LINES or (
            first.old and second.old
        ):
            continue
        low, high = (first, second) if first.money.value < second.money.value else (second, first)
        if high.old or not may_be_taxed(low, high) or _is_old_by_words(high, low):
            continue
        low_words, high_words = (
            words_around(low.line, low.money, lines),
            words_around(high.line, high.money, lines),
        )
        difference = high.money.value - low.money.value
        is_net = (
            WITHOUT_TAX(low_words)
            or (is_net_box(low) and low.line is not high.line)  # else the box is of both
            or any(c.tax and c.money.value == difference for c in candidates)
        )
        if WITH_TAX(low_words) or not (is_net or WITH_TAX(high_words)):
            continue
        is_gross = high.other and is_net
        gross_price = attrs.evolve(high, other=False, cost=high.cost - OTHER) if is_gross else high
        # In a table of prices, all amounts between the two are net. One of quantities repeats the
        # net amount, and lower ones behind that are net as well.
        first_line, last_line = sorted((low.line.index, high.line.index))
        places = [c.line.index for c in candidates if c.money.value == low.money.value]
        table = len(lines) if gross_price.other or len(places) == 1 else places[0]
        return [
            gross_price
            if c is high
            else attrs.evolve(c, other=True, cost=c.cost + OTHER)
            if not c.other
            and (
                c is low
                or (c.line.index >= table and c.money.value <= low.money.value)
                or (first_line < c.line.index < last_line and _is_lower(c, high))
            )
            else c
            for c in candidates
        ]
    return candidates


def may_be_taxed(low: Candidate, high: Candidate) -> bool:
    """Whether *high* is *low* and its tax, or words in both lines say so of rounded amounts."""
    if is_taxed(low, high):
        return True
    if not low.money.value < high.money.value < low.money.value * MAX_RATIO:
        return False
    return bool(
        WITHOUT_TAX(low.line.text[:_MAX_ATTRIBUTE]) and WITH_TAX(high.line.text[:_MAX_ATTRIBUTE])
    )


def net_beside(
    price: Candidate, candidates: list[Candidate], lines: Sequence[Line]
) -> Candidate | None:
    """Return the amount without tax beside a price, if words or the class of its box call it so."""
    for c in candidates:
        is_near = abs(c.line.index - price.line.index) <= _MAX_LINES
        if not is_near or not may_be_taxed(c, price):
            continue
        if (c.line is not price.line and is_net_box(c)) or WITHOUT_TAX(
            words_around(c.line, c.money, lines)
        ):
            return c
    return None


def _is_lower(amount: Candidate, high: Candidate) -> bool:
    return not amount.old and amount.money.value < high.money.value


def _distant_pairs(candidates: list[Candidate]) -> Iterator[tuple[Candidate, Candidate]]:
    """Yield pairs of amounts with others between, because a table may separate net and gross."""
    for place, candidate in enumerate(candidates[:_MAX_PAIRED]):
        yield from ((candidate, other) for other in candidates[place + 2 : _MAX_PAIRED])


def _mark_tax(candidates: list[Candidate], lines: Sequence[Line]) -> list[Candidate]:
    """Mark the tax itself as another amount: it stands beside the net amount and the sum.

    Postage, a deposit and a saving stand so as well, but no words call them a tax.
    """
    if len(candidates) < 3:
        return candidates
    for place, amount in enumerate(candidates):
        neighbours = candidates[max(0, place - 2) : place] + candidates[place + 1 : place + 3]
        near_amounts = [
            c for c in neighbours if abs(c.line.index - amount.line.index) <= 2 * _MAX_LINES
        ]
        for net, gross in permutations(near_amounts, 2):
            is_sum = net.money.value + amount.money.value == gross.money.value
            is_reduced = gross.old or _is_old_by_words(gross, net)
            if not is_sum or is_reduced or not is_taxed(net, gross):
                continue
            if _may_be_tax(amount, lines):
                tax = attrs.evolve(amount, other=True, tax=True, cost=amount.cost + OTHER)
                return [tax if c is amount else c for c in candidates]
    return candidates


def _may_be_tax(amount: Candidate, lines: Sequence[Line]) -> bool:
    """Whether the words beside an amount name a tax, or it has none."""
    words = words_beside(amount.line, amount.money)
    if not words and amount.other:
        words = label_above(amount.line, lines)
    return NAMES_TAX(words) is not None or not (words or amount.other)


def _is_old_by_words(high: Candidate, low: Candidate) -> bool:
    """Whether words call only the higher of two amounts old, because 20 % off is no tax."""
    return high.says_old and not low.says_old


def is_net_box(amount: Candidate) -> bool:
    """Whether an attribute of an amount's box, or of two boxes around it, says "without tax"."""
    element = amount.line.element
    for box in (element, *islice(element.iterancestors(), 2)):
        for name in _TAX_ATTRIBUTES:
            if (text := box.get(name)) and _IS_NET[text]:
                return True
    return False


def is_taxed(low: Candidate, high: Candidate) -> bool:
    """Whether *high* is *low* and its tax: to the cent, or to the unit if one has no cents."""
    net, gross = low.money.value, high.money.value
    distance = abs(low.line.index - high.line.index)
    is_whole = distance <= _MAX_LINES and 0 in (net % 1, gross % 1)
    return taxed_by(net, gross, 1 if is_whole else CENT) is not None


def mark_pairs(candidates: list[Candidate], lines: Sequence[Line] = ()) -> list[Candidate]:
    """Mark the regular price of two amounts that stand alone side by side."""
    candidates = _mark_called_other(candidates, lines)
    plain = [c for c in candidates if not c.other and not c.old]
    old = [c for c in candidates if c.old]
    saved = [c for c in candidates if c.other]
    for place, (first, second) in enumerate(pairwise(plain)):
        neighbours = plain[max(0, place - 1) : place] + plain[place + 2 : place + 3]
        low = min(first.money.value, second.money.value)
        if old and any(is_beside(c, first) and c.money.value > low for c in near(old, first)):
            continue
        no_third = not any(
            (_are_adjacent(c, first) or _are_adjacent(c, second))
            and c.money.currency in {first.money.currency, None}
            and stands_alone(c)  # words make it another kind of amount
            for c in neighbours
        )
        is_reduction = (
            _is_reduced(first, second)
            or _is_marked_down(first, second)
            or _saves(first, second, saved, lines)
        )
        high, lower = (first, second) if first.money.value > low else (second, first)
        if lower.follows_link and _is_in_box_with_link(lower, high, lines):
            continue
        if high.now and not lower.now and not share_row(high.line, lower.line):
            continue  # the price of one order, below that of a subscription
        if is_reduction or (no_third and _is_pair(first, second, lines)):
            if _is_called_other(high, lines):
                other = attrs.evolve(high, other=True, cost=high.cost + OTHER)
                return [other if c is high else c for c in candidates]
            return [attrs.evolve(c, old=True) if c is high else c for c in candidates]
    return candidates


def _is_in_box_with_link(low: Candidate, high: Candidate, lines: Sequence[Line]) -> bool:
    """Whether an amount and the link before it stand in a box of their own: a product seen before."""
    box = low.line.element.getparent()
    if box is None or not low.line.index or low.line.index > len(lines):
        return False
    link_boxes = lines[low.line.index - 1].element.iterancestors()
    return box in link_boxes and box not in high.line.element.iterancestors()


def mark_by_label(candidates: list[Candidate]) -> list[Candidate]:
    """Mark an amount as the price before, if a lower one near it is labelled as the price as well.

    `Shop price: 365, VIP: 347, promotion: 310`: each label differs and has its own line.
    """
    called = [c for c in candidates if c.now and not c.old and not c.other and _word_before(c)]
    if len(called) < 2 or len({c.money.value for c in called}) != 2:
        return candidates
    low, high = sorted(called, key=lambda c: c.money.value)[:: len(called) - 1]
    low_words = {_word_before(c) for c in called if c.money.value == low.money.value}
    high_words = {_word_before(c) for c in called if c.money.value != low.money.value}
    is_reduced = (
        is_beside(low, high)
        and low.money.currency == high.money.currency
        and not low_words & high_words
    )
    if not is_reduced or low.line.index < high.line.index or low.money.value * 5 < high.money.value:
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


def _word_before(amount: Candidate) -> str:
    return amount.line.text[: amount.money.start].strip(" :：")


def unmark_paid(candidates: list[Candidate]) -> list[Candidate]:
    """Mark the current price, if a box whose class says "before" holds all the amounts.

    It is the lower one of two side by side, unless it is struck through or words call it old.
    """
    old_amounts = [c for c in candidates if c.old and not c.other]
    if len(old_amounts) < 2 or any(
        not c.old and not c.other and stands_for_price(c) for c in candidates
    ):
        return candidates
    for first, second in pairwise(old_amounts):
        is_near = abs(first.line.index - second.line.index) <= _MAX_LINES
        low, high = sorted((first, second), key=lambda c: c.money.value)
        same_currency = first.money.currency == second.money.currency
        if not (
            is_near and same_currency and low.money.value < high.money.value < 5 * low.money.value
        ):
            continue
        # If words call both old, the shop asks the lower one.
        if (not low.says_old or high.says_old) and not is_struck(low):
            return [attrs.evolve(c, old=False) if c is low else c for c in candidates]
    return candidates


def stands_for_price(amount: Candidate) -> bool:
    """Whether an amount stands in a price box or alone, and not in a sentence."""
    return bool(amount.line.flags & PRICE) or stands_alone(amount)


def _is_reduced(first: Candidate, second: Candidate) -> bool:
    """Whether words call the second of two amounts side by side, and only that, the price now.

    Or the first, if the second stands in brackets behind it: `Now 40 € (retail 50 €)`.
    """
    if first.now and first.line is second.line:
        between = first.line.text[first.money.end : second.money.start]
        first, second = (second, first) if between.lstrip()[:1] == "(" else (first, second)
    return (
        abs(first.line.index - second.line.index) <= _MAX_LINES
        and first.money.currency == second.money.currency
        and second.now
        and not first.now
        and second.money.value < first.money.value < second.money.value * 5
    )


def _is_marked_down(first: Candidate, second: Candidate) -> bool:
    """Whether the class of the lower amount, and only of that, calls it the price now."""
    if (
        abs(first.line.index - second.line.index) > _MAX_LINES
        or first.money.currency != second.money.currency
    ):
        return False
    low, high = sorted((first, second), key=lambda c: c.money.value)
    if len(high.line.text) > MAX_PAIR_LINE + MAX_REMARK and not stands_for_price(high):
        return False  # the sum from which postage is free
    return bool(low.line.flags & ~high.line.flags & NOW) and (
        low.money.value < high.money.value < low.money.value * 5
    )


def _saves(
    first: Candidate, second: Candidate, saved: Sequence[Candidate], lines: Sequence[Line]
) -> bool:
    """Whether the page shows the difference of two amounts, as a saving or in percent.

    Behind a lower amount, and before the higher one, it may be what is added: postage, a deposit.
    """
    is_near = (
        abs(first.line.index - second.line.index) <= _MAX_LINES
        and first.money.currency == second.money.currency
    )
    low, high = sorted((first.money.value, second.money.value))
    if not is_near or not low < high < low * 5:
        return False
    return any(
        c.money.value == high - low
        and not (first.money.value == low and _is_between(c, first, second))
        and not POSTAGE(words_beside(c.line, c.money) or label_above(c.line, lines))
        for c in saved
    ) or any(_is_percent_off(line.text, low, high) for line in (first.line, second.line))


def _is_between(amount: Candidate, first: Candidate, second: Candidate) -> bool:
    places = [(c.line.index, c.money.start) for c in (first, amount, second)]
    return places == sorted(places)


def _is_percent_off(text: str, low: Decimal, high: Decimal) -> bool:
    """Whether a text has the percentage by which *low* is below *high*."""
    percent = _PERCENT(text) if "%" in text else None
    if percent is None or abs(100 * (high - low) / high - int(percent[1])) > 1:
        return False
    around = text[max(0, percent.start() - _MAX_RATED) : percent.end() + _MAX_RATED]
    return NAMES_TAX(around) is None


def _is_pair(first: Candidate, second: Candidate, lines: Sequence[Line]) -> bool:
    low, high = sorted((first.money.value, second.money.value))
    if first.line is second.line:  # a label before both is about the price
        text = alone.before_instalments(first.line.text, second.money.end)
        begin = (
            first.money.start if first.money.value > low and first.money.start < _MAX_WORD else 0
        )
        stand_alone = are_alone(text[begin:], first.money.currency, labelled=True)
    else:  # an amount in a link of its own leads to other offers
        is_one_linked = (first.line.flags ^ second.line.flags) & LINK
        stand_alone = not is_one_linked and stands_alone(first) and stands_alone(second)
    same_currency = (
        first.money.currency is not None and first.money.currency == second.money.currency
    )
    if not (stand_alone and same_currency and low * 5 > high > low):
        return False
    values = first.money.value, second.money.value
    if are_told_apart((first.line, second.line), values, lines):
        return False
    return _are_adjacent(first, second) or (
        first.money.value > low and _is_off_between(first, second, lines)
    )


def _mark_called_other(candidates: list[Candidate], lines: Sequence[Line]) -> list[Candidate]:
    """Mark an amount as another one, if words between it and the next say so: `with card`."""
    for first, second in pairwise(candidates):
        if (
            second.line.index - first.line.index != _MAX_LINES
            or first.old
            or first.other
            or second.other
        ):
            continue
        if _is_called_other(first, lines) and stands_alone(first) and stands_alone(second):
            other = attrs.evolve(first, other=True, cost=first.cost + OTHER)
            return [other if c is first else c for c in candidates]
    return candidates


def _is_called_other(high: Candidate, lines: Sequence[Line]) -> bool:
    """Whether the text below an amount in its box makes it another one: "with protection"."""
    place = high.line.index + 1
    below = lines[place] if place < len(lines) else high.line
    is_button = (below.flags ^ high.line.flags) & BUTTON
    if is_button or below.flags & DIGIT or len(below.text) > MAX_PAIR_LINE:
        return False
    if below.element.tag == "dt":
        return False  # it labels the next amount
    boxes = set(islice(below.element.iterancestors(), 2))
    share_box = any(box in boxes for box in islice(high.line.element.iterancestors(), 2))
    text = below.text.lower()
    return share_box and says_other(text) and WITH_TAX(text) is None and POSTAGE(text) is None


def _is_off_between(first: Candidate, second: Candidate, lines: Sequence[Line]) -> bool:
    """Whether just a percentage, with a word or two, or a label stands between two amounts."""
    if first.line is second.line:  # 20,00 zł Cena: 15,00 zł
        return CALLS_PRICE(first.line.text[first.money.end : second.money.start]) is not None
    between = lines[first.line.index + 1 : second.line.index]
    return len(between) == 1 and "%" in (text := between[0].text) and len(text) <= MAX_PAIR_LINE


def _are_adjacent(first: Candidate, second: Candidate) -> bool:
    if first.line is second.line:
        between = first.line.text[
            min(first.money.end, second.money.end) : max(first.money.start, second.money.start)
        ]
        return not between.strip()
    return abs(first.line.index - second.line.index) == 1


def stands_alone(amount: Candidate) -> bool:
    """Whether a line holds just amounts, or just a remark that the tax is included as well."""
    return are_alone(amount.line.text, amount.money.currency)


def is_beside(first: Candidate, second: Candidate) -> bool:
    """Whether two amounts are at most 12 lines apart, so that one box may hold both."""
    return abs(first.line.index - second.line.index) <= 12


def is_struck(amount: Candidate) -> bool:
    """Whether an element strikes an amount through, so that nobody pays it."""
    return amount.old and is_struck_at(amount.line.element, amount.money.start)

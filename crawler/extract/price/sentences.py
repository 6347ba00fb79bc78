"""Tell an amount within a sentence from an amount that stands alone or in a box."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from crawler.extract import lazy_patterns
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.price.line_amounts import PARAGRAPH
from crawler.extract.price.other_amounts import COSTS, EXTRA_COSTS
from crawler.extract.price.regular_price import (
    NAMES_TAX,
    Candidate,
    is_labelled_otherwise,
    stands_alone,
)
from crawler.extract.price.words_beside import (
    AROUND,
    BEHIND,
    ENDS_IN_FROM,
    calls_price,
    in_sentence,
    says_about,
    says_from,
)
from crawler.extract.stock.availability import availability_of_text

#: Words before and after an amount in a sentence, and characters of an article.
_MIN_BEFORE, _MIN_AFTER, _MIN_ARTICLE = 3, 2, 800
_WORDS = lazy_patterns.pattern(r"[^\W\d_]{2,}")
#: Characters before an amount at the start of its line.
_MAX_START = 3
#: The difference of two amounts' costs up to which other signs decide between them.
MAX_AHEAD = 20
#: Boxes in which words before an amount are no sentence, and those in which no price stands.
_BOX_FLAGS = _lines.PRICE | _lines.LABEL
_NO_PRICE = _lines.LINK | _lines.BUTTON | _lines.FACT


def is_in_prose(walk: Lines, price: Candidate) -> bool:
    """Whether a price stands within a sentence, or by a link in the middle of an article."""
    line, money = price.line, price.money
    if price.follows_link:
        above = walk.lines[max(walk.heading, 0) : line.index]
        return sum(len(n.text) for n in above if len(n.text) > PARAGRAPH) > _MIN_ARTICLE
    if line.index == walk.heading and ENDS_IN_FROM(line.text[: money.start]):
        return True  # the title of an offer of several products
    if line.flags & _BOX_FLAGS or len(line.text) < _MAX_START + BEHIND // 2:
        return False
    before, after = line.text[: money.start][-AROUND:], line.text[money.end :][:AROUND]
    before = in_sentence(before)
    if line.index == walk.heading:
        return len(_WORDS.findall(after)) > _MIN_AFTER  # a title with an amount
    has_words_before = len(_WORDS.findall(before)) >= _MIN_BEFORE
    return has_words_before and ":" not in before and len(_WORDS.findall(after)) >= _MIN_AFTER


def is_mentioned(price: Candidate, tiled: set[Decimal]) -> bool:
    """Whether words outside of a box make an amount a rough one, or that of a tile beside it."""
    if price.line.flags & _lines.PRICE or not price.money.start:
        return False
    if says_about(price.line.text[: price.money.start]):
        return True
    return price.money.value in tiled and ends_sentence(price)


def is_called_price(amount: Candidate) -> bool:
    """Whether the words before an amount in a sentence call it the price."""
    return amount.now or COSTS(amount.line.text[: amount.money.start][-AROUND:]) is not None


def ends_sentence(amount: Candidate, *, sentence_only: bool = False) -> bool:
    """Whether words that are no label stand before a price in its line, outside of price boxes.

    With *sentence_only*, whether they stand in its sentence.
    """
    before = amount.line.text[: amount.money.start][-AROUND:]
    before = in_sentence(before) if sentence_only else before
    in_box = amount.line.flags & (_BOX_FLAGS | _lines.FACT)
    is_label = in_box or amount.now  # "Was 499 now 399": words before the second amount label it
    return not is_label and ":" not in before and len(_WORDS.findall(before)) >= _MIN_BEFORE


def likelier_beside(price: Candidate, current: list[Candidate], lines: Sequence[Line]) -> Candidate:
    """Return the amount beside another one that is likelier the price than that; else that one.

    It is the amount in a price box, if the other ends a sentence, or the one that stands alone right
    below, if the other has words of its own: `12 € with code AB / 15 €`, `Case of six 90 € / 16 €`.
    """
    is_boxed = price.line.flags & _lines.PRICE
    if not is_boxed and ends_sentence(price) and (boxed := _boxed_beside(price, current)):
        return boxed
    place = price.line.index + 1
    if place not in [c.line.index for c in current]:
        return price
    if not (has_own_words(price) or is_labelled_otherwise(price, lines)):
        return price
    while below := [c for c in current if c.line.index == place]:
        if all(stands_alone(c) and not is_labelled_otherwise(c, lines) for c in below):
            plain = min(below, key=lambda c: c.cost)
            is_likely = not (plain.other or plain.follows_link or plain.line.flags & _NO_PRICE)
            is_likely &= plain.line.flags & _lines.PRICE >= is_boxed
            return plain if is_likely and plain.cost <= price.cost + MAX_AHEAD else price
        place += 1
    return price


def has_own_words(amount: Candidate) -> bool:
    """Whether words beside an amount neither call it the price nor tell of tax, postage or stock."""
    if amount.now or stands_alone(amount):
        return False
    line, money = amount.line, amount.money
    before, behind = line.text[: money.start][-AROUND:], line.text[money.end :][:BEHIND]
    if words := _WORDS.findall(before):
        is_from = len(words) == 1 and says_from(before)
        return not (is_from or calls_price(before.strip()))
    if not _WORDS.search(behind) or NAMES_TAX(behind) or EXTRA_COSTS.search(behind):
        return False
    return availability_of_text(behind) is None


def _boxed_beside(mentioned: Candidate, current: list[Candidate]) -> Candidate | None:
    """Return the amount in a box for prices that is about as likely as one in a sentence."""
    boxed = [
        c
        for c in current
        if c.line.flags & _lines.PRICE
        and not (c.other or c.follows_link)
        and c.cost <= mentioned.cost + MAX_AHEAD
    ]
    return min(boxed, key=lambda c: c.cost, default=None)

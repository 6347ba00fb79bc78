"""Tell an amount within a sentence from an amount that stands alone or in a box."""

from __future__ import annotations

from decimal import Decimal

from crawler.extract import lazy_patterns
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Lines
from crawler.extract.price.line_amounts import PARAGRAPH
from crawler.extract.price.other_amounts import COSTS, EXTRA_COSTS, WITH_TAX
from crawler.extract.price.per_unit import names_piece
from crawler.extract.price.regular_price import (
    NAMES_TAX,
    Candidate,
    stands_alone,
)
from crawler.extract.price.words_around import (
    is_labelled_otherwise,
    label_in_row,
    may_be_price,
    share_row,
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
from crawler.extract.words import entry_matcher

#: Words before and after an amount in a sentence, and characters of an article.
_MIN_BEFORE, _MIN_AFTER, _MIN_ARTICLE = 3, 2, 800
_WORDS = lazy_patterns.pattern(r"[^\W\d_]{2,}")
#: Words that may say which amount it is: in some scripts each character is one.
_OWN_WORDS = lazy_patterns.pattern(r"[^\W\d_]{2,}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
#: What stands between the ends of a range: `12 € to 15 €`.
_TO = entry_matcher("paging", "to", 3)
#: Characters before an amount at the start of its line.
_MAX_START = 3
#: The difference of two amounts' costs up to which other signs decide between them.
MAX_AHEAD = 20
#: Boxes in which words before an amount are no sentence, and those in which no price stands.
_BOX_FLAGS = _lines.PRICE | _lines.LABEL
_NO_PRICE = _lines.LINK | _lines.BUTTON | _lines.FACT
#: The highest ratio of a price before to the price that words of their own may call reduced.
_MAX_REDUCED = 2
_CELLS = frozenset({"dd", "td"})
#: Lines below an amount that are searched for one alone.
_MAX_BELOW = 6
#: The highest ratio of a regular price to the price.
_MAX_RATIO = 5
#: A whole price without its currency, from which on it is rather no number of pieces.
_MIN_UNSIGNED = 10


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


def ends_sentence(
    amount: Candidate, net: Candidate | None = None, *, sentence_only: bool = False
) -> bool:
    """Whether words that are no label stand before a price in its line, outside of price boxes.

    With *sentence_only*, whether they stand in its sentence. `173 € without tax 209 €` is none: the
    words are those of the amount without tax, *net*.
    """
    if net is not None and net.line is amount.line and net.money.start <= _MAX_START:
        return False
    before = amount.line.text[: amount.money.start][-AROUND:]
    before = in_sentence(before) if sentence_only else before
    in_box = amount.line.flags & (_BOX_FLAGS | _lines.FACT)
    is_label = in_box or amount.now  # "Was 499 now 399": words before the second amount label it
    return not is_label and ":" not in before and len(_WORDS.findall(before)) >= _MIN_BEFORE


def is_no_price_beside(amount: Candidate, regular: Candidate) -> bool:
    """Whether an amount outside of price boxes cannot be the reduced price of *regular*.

    It ends a sentence about something else, or is a small part of *regular*.
    """
    if amount.line.flags & _lines.PRICE or amount.now or amount.cost <= regular.cost:
        return False
    return ends_sentence(amount) or amount.money.value * _MAX_RATIO < regular.money.value


def likelier_beside(price: Candidate, current: list[Candidate], walk: Lines) -> Candidate:
    """Return the amount beside another one that is likelier the price than that; else that one.

    It is the amount in a price box, if the other ends a sentence, or the one that stands alone right
    below, if the other has words of its own: `12 € with code AB / 15 €`, `Case of six 90 € / 16 €`.
    """
    is_boxed = price.line.flags & _lines.PRICE
    if not is_boxed and ends_sentence(price) and (boxed := _boxed_beside(price, current)):
        return boxed
    place, lines = price.line.index + 1, walk.lines
    if _is_bare(price) or place >= len(lines) or not lines[place].flags & _lines.DIGIT:
        return price
    if not any(c.line.index == place for c in current) or not _is_qualified(price, walk):
        return price
    if share_row(price.line, lines[place]):
        return price
    for number in range(place, place + _MAX_BELOW):
        below = [c for c in current if c.line.index == number]
        if below and not any(_is_qualified(c, walk) for c in below):
            plain = min(below, key=lambda c: c.cost)
            words = _words_before(price) or label_in_row(price.line, lines)
            return plain if _is_likely_below(plain, price, words) else price
        if not below:
            break
    return price


def _is_likely_below(plain: Candidate, price: Candidate, words: str) -> bool:
    """Whether an amount alone in its line may be the price below one with *words* before it.

    Words behind an amount that is the higher one tell of no reduction (`12 € a pair / 4.90 €`), and one
    or two words before it may call it the price: `Black Friday 12 € / 15 €`.
    """
    if plain.other or plain.follows_link or plain.line.flags & _NO_PRICE:
        return False
    if plain.line.flags & _lines.PRICE < price.line.flags & _lines.PRICE:
        return False
    value, below = price.money.value, plain.money.value
    if names_piece(price.line.text[price.money.end :]) or may_be_price(value, below, words):
        return False
    is_postage = below < value and not words
    return not is_postage and plain.cost <= price.cost + MAX_AHEAD


def _words_before(amount: Candidate) -> str:
    return amount.line.text[: amount.money.start].strip(" :：-–—(")


def rival_of(price: Candidate, candidates: list[Candidate], walk: Lines) -> Decimal | None:
    """Return an amount right beside the price, if only unknown words tell the two apart; else None.

    Both have words, `Crate £90 / Bottle £16`, or the lower one above one without any: `For readers
    £14 / £16` may be a reduction.
    """
    is_bare, value = _is_bare(price), price.money.value
    if not is_bare and (beside := _beside_in_line(price, candidates)):
        return beside
    if price.money.currency is None and value < _MIN_UNSIGNED and not value % 1:
        # A figure without a sign, on a page that writes one, may count something.
        return next((c.money.value for c in candidates if c.money.currency), None)
    place, lines = price.line.index, walk.lines
    near = lines[place - 1].flags | (
        0 if is_bare or place + 1 >= len(lines) else lines[place + 1].flags
    )
    if not near & _lines.DIGIT:
        return None
    for c in candidates:
        distance = place - c.line.index
        if (
            (distance == 1 or (distance == -1 and not is_bare))
            and (
                value / _MAX_REDUCED < c.money.value < value if is_bare else c.money.value != value
            )
            and not (c.other or c.old or c.now or c.follows_link or c.line.flags & _NO_PRICE)
            and (c.line.flags ^ price.line.flags) & _lines.PRICE == 0
        ):
            may_be_before = _is_bare(c) and value < c.money.value < value * _MAX_REDUCED
            is_rival = (may_be_before or _is_qualified(c, walk)) and (
                is_bare or _is_qualified(price, walk)
            )
            return c.money.value if is_rival else None
    return None


def _beside_in_line(price: Candidate, candidates: list[Candidate]) -> Decimal | None:
    """Return another amount of the price's line, if words stand between: `12 € online / 15 €`.

    An amount much below the price is a part of it or an extra: `12 € including 2 € VAT`.
    """
    value = price.money.value
    for c in candidates:
        if (
            c.line is not price.line
            or c.money.value == value
            or c.money.value * _MAX_REDUCED < value
        ):
            continue
        first, second = sorted((c.money, price.money), key=lambda money: money.start)
        between = price.line.text[first.end : second.start]
        if not (c.other or c.old or c.now or price.now) and _tells_apart(between):
            return c.money.value
    return None


def _tells_apart(between: str) -> bool:
    """Whether words between two amounts may tell which is the price; "to" and one for stock do not.

    Single letters are signs of countries: `12,00 € [D] / 12,40 € [A]`.
    """
    if not _OWN_WORDS.search(between) or _TO(between):
        return False
    return availability_of_text(between) is None


def _is_bare(amount: Candidate) -> bool:
    """Whether an amount is all of its line's text, and no cell has it, before which a label may be."""
    money, line = amount.money, amount.line
    return not money.start and money.end == len(line.text) and line.element.tag not in _CELLS


def _is_qualified(amount: Candidate, walk: Lines) -> bool:
    """Whether words in an amount's line or row, but the product's name, make it one of several."""
    if is_labelled_otherwise(amount.line, walk.lines):
        return True
    if walk.heading >= 0 and not (amount.now or stands_alone(amount)):
        words = _words_before(amount)
        return words != walk.lines[walk.heading].text and has_own_words(amount)
    return has_own_words(amount)


def has_own_words(amount: Candidate) -> bool:
    """Whether words beside an amount neither call it the price nor tell of tax, postage or stock."""
    if amount.now or stands_alone(amount):
        return False
    line, money = amount.line, amount.money
    before, behind = line.text[: money.start][-AROUND:], line.text[money.end :][:BEHIND]
    if words := _OWN_WORDS.findall(before):
        is_from = len(words) == 1 and says_from(before)
        return not (is_from or calls_price(before.strip()) or WITH_TAX(before))
    if not _OWN_WORDS.search(behind) or NAMES_TAX(behind) or EXTRA_COSTS.search(behind):
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

"""Recognise "price on request" in place of an amount."""

from __future__ import annotations

from itertools import pairwise, takewhile

from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.page import holds_digit
from crawler.extract.price.line_amounts import says_now
from crawler.extract.price.lone_tiles import LONGEST_TILE_PRICE
from crawler.extract.price.words_beside import CALLS_PRICE
from crawler.extract.stock.availability import buys
from crawler.extract.words import CachedRule, any_word, full_matcher_of

_ON_REQUEST = any_word("amounts", "on_request")
#: The same in a box for the price: "Log in to see more".
_LOGS_IN = any_word("gate", "login")
#: The same in a box for the price, without other words: "Contact us".
_ASKS_IN_BOX = full_matcher_of(
    lambda any_of: rf"(?:[^:：]{{2,24}}[:：])?\W*(?:{any_of('amounts', 'asks_in_box')})\W*"
)
_PRESSED = frozenset({"submit", "button"})
_PRESSABLE = _lines.BUTTON | _lines.LINK
_BEGINS_OTHER = _lines.HEADING | _lines.LINK
#: Lines after the heading that are searched.
_MAX_DISTANCE = 60
#: Lines behind a price in which its buy button stands.
_MAX_BUY_DISTANCE = 12
#: Lines below the heading in which a price stands first, and characters of one with just a word.
_MAX_BELOW, _SHORT = 3, 24
#: Whether a line may hold a part of the words, which may stand in two lines.
_MAY_ASK = CachedRule(_ON_REQUEST.may_hold)
_ASKS = CachedRule(lambda text: _ASKS_IN_BOX(text) is not None)
_ASKS_OR_LOGS_IN = CachedRule(
    lambda text: _ASKS[text] or (_LOGS_IN(text) is not None and not holds_digit(text))
)


def asks_for_price(walk: Lines, before: int) -> bool:
    """Whether a short line from the heading up to line *before* says "price on request"."""
    lines = walk.lines[max(walk.heading, 0) : min(before, max(walk.heading, 0) + _MAX_DISTANCE)]
    short_lines = [line for line in lines if len(line.text) < LONGEST_TILE_PRICE]
    if any(
        _ASKS_OR_LOGS_IN[line.text]
        if line.flags & _lines.PRICE
        else _ASKS[line.text] and _is_priced(line.text)
        for line in short_lines
        if line.flags & _lines.PRICE or ":" in line.text
    ):
        return True
    if _names_no_amount(lines) or _asks_below_heading(walk):
        return True
    texts = [line.text for line in short_lines]
    if len(short_lines) < len(lines):
        texts += [part for line in lines if " | " in line.text for part in line.text.split(" | ")]
    if not any(map(_MAY_ASK.__getitem__, texts)) or _ON_REQUEST("\n".join(texts)) is None:
        return False
    return not (_is_bought(walk, before) and _asks_for_many(short_lines))


def _is_bought(walk: Lines, price_line: int) -> bool:
    """Whether a buy button stands behind a price, before the next heading: that price is paid."""
    behind = walk.lines[price_line : price_line + _MAX_BUY_DISTANCE]
    own = takewhile(lambda line: not line.flags & _lines.HEADING, behind)
    if any(line.flags & _PRESSABLE and buys(line.text) for line in own):
        return True
    return sum(buys(e.get("value") or "") for e in walk.inputs) == 1  # a listing has more


def _asks_for_many(lines: list[Line]) -> bool:
    """Whether all words for a price on request are about many pieces at once.

    They are those of a button, a link or a longer sentence, and behind the last of them neither a
    heading nor a link begins what costs something else.
    """
    asking = [(line, match) for line in lines if (match := _ON_REQUEST(line.text)) is not None]
    if not asking or not all(
        line.flags & _PRESSABLE or 2 * len(match[0]) < len(line.text) for line, match in asking
    ):
        return False
    last = asking[-1][0].index
    return not any(line.index > last and line.flags & _BEGINS_OTHER for line in lines)


def asks_in_price_box(walk: Lines) -> bool:
    """Whether a box for the price, or a line in its place, has words for a price on request."""
    if _asks_below_heading(walk):
        return True
    lines = walk.lines[max(walk.heading, 0) :][:_MAX_DISTANCE]
    boxed = (line.text for line in lines if line.flags & _lines.PRICE)
    return any(
        len(text) < LONGEST_TILE_PRICE and (_ASKS_OR_LOGS_IN[text] or says_on_request(text))
        for text in boxed
    )


def says_on_request(text: str) -> bool:
    """Whether a text says that the price has to be asked for."""
    return _ON_REQUEST(text) is not None


def has_button_for_price(walk: Lines) -> bool:
    """Whether one pressed field, where a button would buy, asks for the price: "Ask for price"."""
    captions = (
        e.get("value") or "" for e in walk.inputs if (e.get("type") or "").lower() in _PRESSED
    )
    asking = [c for c in captions if len(c) < LONGEST_TILE_PRICE and _ON_REQUEST(c)]
    return len(asking) == 1  # a listing has one in each tile


def _is_priced(text: str) -> bool:
    """Whether a text begins with a label of the price: `Price: ask us`."""
    return CALLS_PRICE(text.partition(":")[0]) is not None


def _names_no_amount(lines: list[Line]) -> bool:
    """Whether the value behind a label for the price is a word without an amount."""
    for label, value in pairwise(lines):
        if not label.flags & _lines.LABEL or (label.flags | value.flags) & _lines.DIGIT:
            continue
        if len(value.text) < LONGEST_TILE_PRICE and (
            says_now(label.text) or (_ASKS[value.text] and CALLS_PRICE(label.text))
        ):
            return True
    return False


def _asks_below_heading(walk: Lines) -> bool:
    """Whether a line right below the heading, where a price stands, is just "contact us"."""
    first = walk.heading + 1
    lines = walk.lines[first : first + _MAX_BELOW] if walk.heading >= 0 else []
    pressed = _lines.LINK | _lines.BUTTON | _lines.HEADING
    return any(_ASKS[n.text] for n in lines if not n.flags & pressed and len(n.text) < _SHORT)

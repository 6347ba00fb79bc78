"""Repair of JSON that shops' templates have broken; what cannot be repaired gives None.

Some faults have one repair: a comma too many or too few, a line break within a text, a comment,
brackets that are not closed. A quote within a text has several, so where the text ends is a guess.
What follows a block's first unreadable word is dropped, and so is a value that was cut off.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from html import unescape
from typing import Any

from crawler.extract import lazy_patterns

_WRAPPED = lazy_patterns.pattern(
    r"^\s*+(?:<!--//--><!\[CDATA\[//><!--|<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)"
)
_UNWRAPPED = lazy_patterns.pattern(
    r"(?://--><!\]\]>|-->|//\s*+\]\]>|/\*\s*+\]\]>\s*+\*/|\]\]>|;)\s*+$"
)
_LAST_COMMA = lazy_patterns.pattern(r",(\s*+[}\]])")
_NO_VALUE = lazy_patterns.pattern(r'(":\s*+)(?:undefined\s*+)?(?=[,}])')
_NO_COMMA = lazy_patterns.pattern(r'([}\]"])(\s++)(?=["{])')
_BAD_ESCAPE = lazy_patterns.pattern(r'\\(?!["\\/bfnrtu])')
_COMMENT = lazy_patterns.pattern(r"(?m)(?:^|(?<=[{[,]))[ \t\r\f\v]*+//.*$|/\*[^*]*+\*/")
#: A key or a comma at which a block was cut off, and the characters at the end that are searched.
_CUT = lazy_patterns.pattern(r'(?:,\s*+(?:"[^"]*+"\s*+(?::\s*+)?)?|:\s*+)$')
_CUT_WITHIN = 2_000
_MAX_BLOCKS = 50
#: Characters up to which a text is repaired token by token, because that costs much time.
_MAX_SCANNED_LENGTH = 300_000
#: Brackets inside each other, at most. How deep json reads differs between versions of Python.
_MAX_DEPTH = 500
_CLOSES = {"{": "}", "[": "]"}
_ENDS_KEY = lazy_patterns.pattern(r"\s{0,200}+:")
_ENDS_VALUE = lazy_patterns.pattern(r"\s{0,200}+(?:[}\]]|,\s{0,200}+(?:\"|$)|$)")
_ENDS_ENTRY = lazy_patterns.pattern(r"\s{0,200}+(?:[}\]]|,\s{0,200}+(?:[\"{\[\dtfn-]|$)|$)")
#: Tokens outside of quoted texts; the first thing that is none of them ends the readable part.
_OUTSIDE = lazy_patterns.pattern(
    r"[\s:,{}\[\]]|(?:true|false|null|NaN|-?\d[\d.eE+-]*+)(?=[\s,}\]])"
)
_TO_QUOTE = lazy_patterns.pattern(r'([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.S)
#: Quotes after one that decide whether it stands within a text, and how far away they may be.
_MAX_QUOTES, _MAX_QUOTE_DISTANCE = 20, 2_000


def repaired(text: str, guessed: set[str] | None = None) -> Any:
    """Read broken JSON, None where it is beyond repair; texts with a guessed end go to *guessed*.

    >>> repaired('{"a": "line\\nbreak", "b": [1, 2,], }')
    {'a': 'line\\nbreak', 'b': [1, 2]}
    >>> guessed = set()
    >>> repaired('{"name": "12" pan", "price": , "x": {"y": 1, "z": 2', guessed)
    {'name': '12" pan', 'price': None, 'x': {'y': 1}}
    >>> guessed
    {'12" pan'}
    """
    text = _UNWRAPPED.sub("", _WRAPPED.sub("", text)).strip().lstrip("\ufeff")
    if not text.startswith(("{", "[")):
        return None
    value = _loads(text)
    if value is None and len(text) <= _MAX_SCANNED_LENGTH:
        text = _without_small_faults(text)
        value = _loads(text)
        if value is None:
            value = _loads(requoted(text, guessed)) or None
    return value


def _loads(text: str) -> Any:
    """Return the text's value, or a list of its values where a script holds several blocks."""
    values: list[Any] = []
    place = 0
    while len(values) < _MAX_BLOCKS:
        try:
            # Line breaks within a text are the commonest fault; json accepts them if not strict.
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        values.append(value)
        place = _BETWEEN.match(text, end).end()  # type: ignore[union-attr]  # it always matches
        if text[place : place + 1] not in {"{", "["}:
            break
    return values[0] if len(values) == 1 else values or None


_BETWEEN = lazy_patterns.pattern(r"[ \t\r\n,;]*+")
_DECODER = json.JSONDecoder(strict=False)


def _without_small_faults(text: str) -> str:
    text = _LAST_COMMA.sub(r"\1", _COMMENT.sub("", text))
    text = _NO_VALUE.sub(r"\1null", text)
    text = _NO_COMMA.sub(_with_comma, text)
    text = _BAD_ESCAPE.sub("", text)
    # Entities within a text belong to it; only a block whose quotes are entities is unescaped.
    return unescape(text) if text[1:].lstrip().startswith(("&quot;", "&#34;")) else text


def requoted(text: str, guessed: set[str] | None = None) -> str:
    """Escape quotes inside texts, and close the brackets of a block that is cut off or unreadable.

    Texts whose end is a guess because of such quotes are added to *guessed*. A text in which the
    block was cut off is dropped. Empty where texts follow texts, which no JSON has, and where a block
    is nested deeper than any product's.
    """
    tokens: list[str] = []
    closers: list[str] = []
    before, pairs = "", 0  # the last token that is no white space; texts right behind a text
    place, size = 0, len(text)
    while place < size:
        char = text[place]
        if char == '"':
            pairs += before[:1] == '"'
            if pairs > 1:
                return ""  # only the last text may be one too many, where the block is cut off
            ends = _ENDS_ENTRY if closers[-1:] == ["]"] else _ENDS_VALUE
            quoted = _quoted_text(
                text, place, _ENDS_KEY if _is_key(before, closers) else ends, guessed
            )
            if quoted is None:
                break
            token, place = quoted
        elif char in "}]" and (not closers or closers.pop() != char):
            break
        elif (outside := _OUTSIDE.match(text, place)) is not None:
            token, place = outside[0], outside.end()
            closers += [_CLOSES[token]] if token in _CLOSES else []
            if len(closers) > _MAX_DEPTH:
                return ""
        else:
            break
        tokens.append(token)
        before = before if token.isspace() else token
    return _with_brackets_closed("".join(tokens), closers)


def _is_key(before: str, closers: list[str]) -> bool:
    """Return whether the text behind a token is a key: in an object, after its bracket or a comma."""
    return closers[-1:] == ["}"] and before in {"{", ","}


def _quoted_text(
    text: str, place: int, ends: re.Pattern[str], guessed: set[str] | None
) -> tuple[str, int] | None:
    """Return the text at *place* with inner quotes escaped, and its end; None if it is cut off."""
    parts: list[str] = []
    while (part := _TO_QUOTE.match(text, place + 1)) is not None:
        parts.append(part[1])
        place = part.end() - 1
        ends_surely = ends.match(text, place + 1) is not None
        if ends_surely or (ends is not _ENDS_KEY and not _text_continues(text, place + 1)):
            escaped = '\\"'.join(parts)
            if guessed is not None and (len(parts) > 1 or not ends_surely):
                _add_guess(guessed, escaped)
            return f'"{escaped}"', place + 1
    return None


def _text_continues(text: str, place: int) -> bool:
    """Return whether the text continues after the quote before *place*, which may be its end.

    The next quote that ends something decides: if it ends a key, the text ended before that key.
    """
    farthest = place + _MAX_QUOTE_DISTANCE
    for _ in range(_MAX_QUOTES):
        place = text.find('"', place, farthest) + 1
        if not place or _ENDS_KEY.match(text, place):
            return False
        if text[place - 2] != "\\" and _ENDS_VALUE.match(text, place):
            return True
    return False


def _add_guess(guessed: set[str], text: str) -> None:
    # With a broken escape in the text, the block cannot be read either.
    with suppress(ValueError):
        guessed.add(json.loads(f'"{text}"', strict=False))


def _with_brackets_closed(mended: str, closers: list[str]) -> str:
    """Return the text with its brackets closed, and without the key or value that was cut off."""
    if not closers:
        return mended
    place = max(0, len(mended) - _CUT_WITHIN)
    return mended[:place] + _CUT.sub(_last_key, mended[place:]) + "".join(reversed(closers))


def _with_comma(match: re.Match[str]) -> str:
    return match[1] + ("," if "\n" in match[2] else "") + match[2]


def _last_key(match: re.Match[str]) -> str:
    return ":null" if match[0].lstrip().startswith(":") else ""

"""JSON as shops' templates break it: read within reason, else given up.

Some faults have one mend: a comma too many or too few, a line break within a text, a comment, brackets
that are not closed. A quote within a text has not: where the text ends is a guess then. What a block
tells behind its first unreadable word, and a value in whose midst it was cut off, is left out.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from html import unescape
from typing import Any

from crawler.extract import lazy_patterns

_WRAPPED = lazy_patterns.pattern(
    r"^\s*+(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)"
)
_UNWRAPPED = lazy_patterns.pattern(r"(?:-->|//\s*+\]\]>|/\*\s*+\]\]>\s*+\*/|\]\]>|;)\s*+$")
_LAST_COMMA = lazy_patterns.pattern(r",(\s*+[}\]])")
_NO_VALUE = lazy_patterns.pattern(r'(":\s*+)(?:undefined\s*+)?(?=[,}])')
_NO_COMMA = lazy_patterns.pattern(r'([}\]"])(\s++)(?=["{])')
_BAD_ESCAPE = lazy_patterns.pattern(r'\\(?!["\\/bfnrtu])')
_COMMENT = lazy_patterns.pattern(r"(?m)^[ \t\r\f\v]*+//.*$|/\*[^*]*+\*/")
#: A key or a comma in which a block was cut off, and how far from the end it is looked for.
_CUT = lazy_patterns.pattern(r'(?:,\s*+(?:"[^"]*+"\s*+(?::\s*+)?)?|:\s*+)$')
_CUT_WITHIN = 2_000
_MOST_BLOCKS = 50
#: Longer texts are only read as they are: scanning them costs more than they are worth.
_LONGEST = 300_000
_CLOSES = {"{": "}", "[": "]"}
_ENDS_KEY = lazy_patterns.pattern(r"\s{0,200}+:")
_ENDS_VALUE = lazy_patterns.pattern(r"\s{0,200}+(?:[}\]]|,\s{0,200}+(?:\"|$)|$)")
_ENDS_ENTRY = lazy_patterns.pattern(r"\s{0,200}+(?:[}\]]|,\s{0,200}+(?:[\"{\[\dtfn-]|$)|$)")
#: What may stand outside of texts and brackets, each whole: anything else ends what can be read.
_OUTSIDE = lazy_patterns.pattern(
    r"[\s:,{}\[\]]|(?:true|false|null|NaN|-?\d[\d.eE+-]*+)(?=[\s,}\]])"
)
_TO_QUOTE = lazy_patterns.pattern(r'([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.S)
#: How many quotes behind one tell whether it stands within a text, and how far away they may be.
_MOST_QUOTES, _FARTHEST_QUOTE = 20, 2_000


def repaired(text: str, guessed: set[str] | None = None) -> Any:
    """Read broken JSON, None where it is beyond repair; *guessed* takes the texts whose end is a guess.

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
    if value is None and len(text) <= _LONGEST:
        text = _small_faults(text)
        value = _loads(text)
        if value is None:
            value = _loads(scanned(text, guessed)) or None
    return value


def _loads(text: str) -> Any:
    """The text's value, or the list of its values where several blocks stand in one."""
    found: list[Any] = []
    place = 0
    while len(found) < _MOST_BLOCKS:
        try:
            # Line breaks within a text are the commonest fault; json reads them when not strict.
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        found.append(value)
        place = _BETWEEN.match(text, end).end()  # type: ignore[union-attr]  # it always matches
        if text[place : place + 1] not in {"{", "["}:
            break
    return found[0] if len(found) == 1 else found or None


_BETWEEN = lazy_patterns.pattern(r"[ \t\r\n,;]*+")
_DECODER = json.JSONDecoder(strict=False)


def _small_faults(text: str) -> str:
    text = _LAST_COMMA.sub(r"\1", _COMMENT.sub("", text))
    text = _NO_VALUE.sub(r"\1null", text)
    text = _NO_COMMA.sub(_with_comma, text)
    text = _BAD_ESCAPE.sub("", text)
    # Entities within a text are the text's own; a block that is written in them has no quotes.
    return unescape(text) if text[1:].lstrip().startswith(("&quot;", "&#34;")) else text


def scanned(text: str, guessed: set[str] | None = None) -> str:
    """Escape quotes inside texts, and close what a block left open that was cut off or cannot be read.

    *guessed* takes the texts whose end is a guess for such quotes. A text in which the block was cut
    off is dropped.
    """
    out: list[str] = []
    open_: list[str] = []
    place, size = 0, len(text)
    while place < size:
        char = text[place]
        if char == '"':
            ends = _ENDS_ENTRY if open_[-1:] == ["]"] else _ENDS_VALUE
            whole = _whole_text(text, place, _ENDS_KEY if _is_key(out, open_) else ends, guessed)
            if whole is None:
                break
            read, place = whole
        elif char in "}]" and (not open_ or open_.pop() != char):
            break
        elif (outside := _OUTSIDE.match(text, place)) is not None:
            read, place = outside[0], outside.end()
            open_ += [_CLOSES[read]] if read in _CLOSES else []
        else:
            break
        out.append(read)
    return _closed("".join(out), open_)


def _is_key(out: list[str], open_: list[str]) -> bool:
    """Whether the text that begins here is a key: in an object, behind its bracket or a comma."""
    if not open_ or open_[-1] != "}":
        return False
    before = next((part for part in reversed(out) if not part.isspace()), "")
    return before in {"{", ","}


def _whole_text(
    text: str, place: int, ends: re.Pattern[str], guessed: set[str] | None
) -> tuple[str, int] | None:
    """The text that begins at *place* with its inner quotes escaped, and where it ends; None: cut off."""
    parts: list[str] = []
    while (part := _TO_QUOTE.match(text, place + 1)) is not None:
        parts.append(part[1])
        place = part.end() - 1
        sure = ends.match(text, place + 1) is not None
        if sure or (ends is not _ENDS_KEY and not _goes_on(text, place + 1)):
            whole = '\\"'.join(parts)
            if guessed is not None and (len(parts) > 1 or not sure):
                _note(guessed, whole)
            return f'"{whole}"', place + 1
    return None


def _goes_on(text: str, place: int) -> bool:
    """Whether the text goes on behind the quote before *place*, which ends it only by what follows.

    The next quote that ends anything tells it: that of a key would be within the text otherwise.
    """
    farthest = place + _FARTHEST_QUOTE
    for _ in range(_MOST_QUOTES):
        place = text.find('"', place, farthest) + 1
        if not place or _ENDS_KEY.match(text, place):
            return False
        if text[place - 2] != "\\" and _ENDS_VALUE.match(text, place):
            return True
    return False


def _note(guessed: set[str], text: str) -> None:
    # Where an escape in it is broken, the block cannot be read either.
    with suppress(ValueError):
        guessed.add(json.loads(f'"{text}"', strict=False))


def _closed(mended: str, open_: list[str]) -> str:
    """The text with its brackets closed, and without what it was cut off in."""
    if not open_:
        return mended
    place = max(0, len(mended) - _CUT_WITHIN)
    return mended[:place] + _CUT.sub(_last_key, mended[place:]) + "".join(reversed(open_))


def _with_comma(match: re.Match[str]) -> str:
    return match[1] + ("," if "\n" in match[2] else "") + match[2]


def _last_key(match: re.Match[str]) -> str:
    return ":null" if match[0].lstrip().startswith(":") else ""

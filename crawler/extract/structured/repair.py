"""JSON as shops' templates break it: read within reason, else given up."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

from crawler.extract import lazy

_WRAPPED = lazy.pattern(r"^\s*+(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)")
_UNWRAPPED = lazy.pattern(r"(?:-->|//\s*+\]\]>|/\*\s*+\]\]>\s*+\*/|\]\]>|;)\s*+$")
_LAST_COMMA = lazy.pattern(r",(\s*+[}\]])")
_NO_VALUE = lazy.pattern(r'(":\s*+)(?=[,}])')
_NO_COMMA = lazy.pattern(r'([}\]"])(\s++)(?=["{])')
_BAD_ESCAPE = lazy.pattern(r'\\(?!["\\/bfnrtu])')
_COMMENT = lazy.pattern(r"(?m)^[ \t\r\f\v]*+//.*$|/\*[^*]*+\*/")
#: A key or a comma in which a block was cut off, and how far from the end it is looked for.
_CUT = lazy.pattern(r'(?:,\s*+(?:"[^"]*+"\s*+(?::\s*+)?)?|:\s*+)$')
_CUT_WITHIN = 2_000
_MOST_BLOCKS = 50
#: Longer texts are only read as they are: scanning them costs more than they are worth.
_LONGEST = 300_000
_CLOSES = {"{": "}", "[": "]"}
_ENDS_STRING = lazy.pattern(r"\s*+(?:[:}\]]|,\s*+(?:[\"{\[\dtfn-]|$)|$)")


def repaired(text: str) -> Any:
    """Read broken JSON, None where it is beyond repair.

    >>> repaired('{"a": "line\\nbreak", "b": [1, 2,], }')
    {'a': 'line\\nbreak', 'b': [1, 2]}
    >>> repaired('{"name": "12" pan", "price": , "x": {"y": 1')
    {'name': '12" pan', 'price': None, 'x': {'y': 1}}
    """
    text = _UNWRAPPED.sub("", _WRAPPED.sub("", text)).strip().lstrip("\ufeff")
    if not text.startswith(("{", "[")):
        return None
    value = _loads(text)
    if value is None and len(text) <= _LONGEST:
        for mend in (_small_faults, scanned):
            text = mend(text)
            value = _loads(text)
            if value is not None:
                break
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


_BETWEEN = lazy.pattern(r"[ \t\r\n,;]*+")
_DECODER = json.JSONDecoder(strict=False)


def _small_faults(text: str) -> str:
    text = _LAST_COMMA.sub(r"\1", _COMMENT.sub("", text))
    text = _NO_VALUE.sub(r"\1null", text)
    text = _NO_COMMA.sub(_with_comma, text)
    text = _BAD_ESCAPE.sub("", text)
    return unescape(text) if "&quot;" in text or "&#34;" in text else text


def scanned(text: str) -> str:
    """Escape quotes inside texts, and close what a truncated block left open."""
    out: list[str] = []
    open_: list[str] = []
    inside = False
    place, size = 0, len(text)
    while place < size:
        char = text[place]
        if char == "\\" and inside:
            out.append(text[place : place + 2])
            place += 2
            continue
        if char == '"':
            if inside and not _ENDS_STRING.match(text, place + 1):
                char = '\\"'
            else:
                inside = not inside
        elif not inside:
            if char in _CLOSES:
                open_.append(_CLOSES[char])
            elif char in "}]" and (not open_ or open_.pop() != char):
                break
        out.append(char)
        place += 1
    mended = "".join(out)
    if open_:
        mended += '"' if inside else ""
        place = max(0, len(mended) - _CUT_WITHIN)
        mended = mended[:place] + _CUT.sub(_last_key, mended[place:])
    return mended + "".join(reversed(open_))


def _with_comma(match: re.Match[str]) -> str:
    return match[1] + ("," if "\n" in match[2] else "") + match[2]


def _last_key(match: re.Match[str]) -> str:
    return ":null" if match[0].lstrip().startswith(":") else ""

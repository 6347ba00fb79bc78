"""Normalises text for PostgreSQL and people: NFC, no control characters, single spaces."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from crawler.normal_form import normal_form
from crawler.twice_encoded import encoded_once

#: Control characters except white space, and invisible characters: soft hyphens, zero-width
#: characters, bidirectional controls, annotation marks, tags, the byte order mark. Joiners (U+200C,
#: U+200D) stay, because Persian words and emoji need them.
_NOISE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
#: At the ends of a line they join nothing.
_JOINERS = "\u200c\u200d "
#: Joiners are removed from identifiers, because identifiers are compared by character.
_UNSEEN = re.compile("[\u034f\u200c\u200d\ufe00-\ufe0f]")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,500}>|<!--.{0,500}?-->", re.DOTALL)
_LINE, _PROSE = 1_000, 50_000
_DEPTH = 6
_LARGEST = 2**63


def line(value: Any, limit: int = _LINE) -> str | None:
    r"""One line of text, at most *limit* characters; None for an empty one.

    >>> line("  Caf\u0065\u0301 &amp;\n Bar\0 "), line("\ud800x"), line("  "), line(12)
    ('Café & Bar', '\ufffdx', None, '12')
    >>> line("\u200cLamp")
    'Lamp'
    """
    text = value if type(value) is str else _as_text(value)
    if len(text) > limit * 4:
        text = text[: limit * 4]
    if "&" in text or not (text.isascii() and text.isprintable()):
        text = _mend(text)
    return " ".join(text.split())[:limit].strip(_JOINERS) or None


def prose(value: Any, limit: int = _PROSE) -> str | None:
    r"""Text that keeps its lines; tags are removed.

    >>> prose("<p>Two  words</p>\r\n\n<b>more</b>")
    'Two words\nmore'
    """
    text = value if type(value) is str else _as_text(value)
    if len(text) > limit * 4:
        text = text[: limit * 4]
    if "&" in text or not (text.isascii() and text.isprintable()):
        text = _mend(text)
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "\n" not in text:
        return " ".join(text.split())[:limit] or None
    lines = (" ".join(part.split()) for part in text.splitlines())
    return "\n".join(part for part in lines if part)[:limit] or None


def plain(value: Any, depth: int = 0) -> Any:
    """Nested data with cleaned texts; values that are too deep or no JSON become text."""
    if isinstance(value, str):
        return prose(value) or ""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        # JSON has no infinity and no NaN, and its readers expect integers of 64 bits.
        return value if -_LARGEST < value < _LARGEST else None
    if depth < _DEPTH and isinstance(value, dict):
        return {line(key) or "": plain(inner, depth + 1) for key, inner in value.items()}
    if depth < _DEPTH and isinstance(value, list | tuple | set | frozenset):
        return [plain(inner, depth + 1) for inner in value]
    return line(value) or ""


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def identifier(value: Any, limit: int = _LINE) -> str | None:
    """One line of an identifier, without invisible characters.

    >>> identifier("\u200eAB\u200d-12\u202c ")
    'AB-12'
    """
    text = line(value, limit)
    return text if text is None or text.isascii() else _UNSEEN.sub("", text).strip() or None


def _mend(text: str) -> str:
    if "&" in text:
        text = unescape(text)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            # A surrogate pair is joined, a lone surrogate becomes U+FFFD.
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        text = normal_form("NFC", encoded_once(text))
    return _NOISE.sub("", text)

"""Text as PostgreSQL and people want it: NFC, no control characters, one space between words."""

from __future__ import annotations

import re
import unicodedata
from html import unescape
from typing import Any

#: Control characters but for white space, surrogates, zero-width signs, the byte order mark.
_NOISE = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\ufffe\uffff]")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,500}>|<!--.{0,500}?-->", re.DOTALL)
_LINE, _PROSE = 1_000, 50_000
_DEPTH = 6


def line(value: Any, limit: int = _LINE) -> str | None:
    r"""One line of text, at most *limit* characters; None where nothing is left.

    >>> line("  Caf\u0065\u0301 &amp;\n Bar\0 "), line("\ud800x"), line("  "), line(12)
    ('Café & Bar', '\ufffdx', None, '12')
    """
    text = value if type(value) is str else _as_text(value)
    if len(text) > limit * 4:
        text = text[: limit * 4]
    if "&" in text or not (text.isascii() and text.isprintable()):
        text = _mend(text)
    return " ".join(text.split())[:limit] or None


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
    """Nested data with each text cleaned; too deep or foreign values become text."""
    if isinstance(value, str):
        return prose(value) or ""
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth < _DEPTH and isinstance(value, dict):
        return {line(key) or "": plain(inner, depth + 1) for key, inner in value.items()}
    if depth < _DEPTH and isinstance(value, list | tuple | set | frozenset):
        return [plain(inner, depth + 1) for inner in value]
    return line(value) or ""


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _mend(text: str) -> str:
    if "&" in text:
        text = unescape(text)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            # Two halves of one character are joined, a lone one is marked.
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if not unicodedata.is_normalized("NFC", text):
            text = unicodedata.normalize("NFC", text)
    return _NOISE.sub("", text)

"""Encodings that text on the web may have: those that browsers know (https://encoding.spec.whatwg.org).

Python has more, and a page may name them: `rot13` is none of text and raises where the text is
read, `unicode_escape` makes other text of it, `punycode` takes the square of its length.
"""

from __future__ import annotations

import codecs
from functools import lru_cache

from w3lib.encoding import resolve_encoding

#: Names of the standard that Python has a codec for, whatever the codec's own name.
_STANDARD = (
    "ascii", "latin-1", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "ibm866",
    "koi8-r", "koi8-u", "macintosh", "mac-cyrillic", "cp874", "tis-620", "gb2312", "gbk", "gb18030",
    "big5", "big5hkscs", "euc-jp", "iso-2022-jp", "shift_jis", "cp932", "euc-kr", "cp949",
)  # fmt: skip
_CODECS = frozenset(
    codecs.lookup(name).name
    for name in (
        *_STANDARD,
        *(f"cp{n}" for n in range(1250, 1259)),
        *(f"iso-8859-{n}" for n in range(2, 17) if n != 12),  # noqa: PLR2004
    )
)


@lru_cache(maxsize=256)
def encoding_of(label: str) -> str | None:
    """Return the codec for a charset's name as w3lib knows it; None for what browsers do not know.

    >>> [encoding_of(label) for label in ("UTF8", "latin1", "rot13", "punycode", "klingon")]
    ['utf-8', 'cp1252', None, None, None]
    """
    try:
        found = resolve_encoding(label)
        return found if found and codecs.lookup(found).name in _CODECS else None
    except (LookupError, ValueError, TypeError):
        return None

"""Encodings of text on the web: those that browsers support (https://encoding.spec.whatwg.org).

Python has more, and a page may name them: `rot13` is no text encoding and raises when the text is
decoded, `unicode_escape` changes the text, `punycode` takes time quadratic in its length.
"""

from __future__ import annotations

import codecs
from functools import lru_cache

from w3lib.encoding import resolve_encoding

#: Python's names of the standard's codecs. Looking all of them up would import each.
CODECS = frozenset(
    {"ascii", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp866", "koi8-r", "koi8-u",
     "mac-roman", "mac-cyrillic", "cp874", "tis-620", "gb2312", "gbk", "gb18030", "big5",
     "big5hkscs", "euc_jp", "iso2022_jp", "shift_jis", "cp932", "euc_kr", "cp949"}
    | {f"cp{n}" for n in range(1250, 1259)}
    | {f"iso8859-{n}" for n in range(1, 17) if n != 12}  # noqa: PLR2004
)  # fmt: skip


@lru_cache(maxsize=256)
def encoding_of(label: str) -> str | None:
    """Return the codec for a charset's name, as w3lib does; None if browsers do not support it.

    >>> [encoding_of(label) for label in ("UTF8", "latin1", "rot13", "punycode", "klingon")]
    ['utf-8', 'cp1252', None, None, None]
    """
    try:
        codec = resolve_encoding(label)
        return codec if codec and codecs.lookup(codec).name in CODECS else None
    except (LookupError, ValueError, TypeError):
        return None

"""The normal forms of Unicode, in linear time, as `unicodedata.normalize` is not.

It sorts the combining marks behind a letter by insertion (the order is that of UAX #15), and a page
may write a hundred thousand of them into a name.
"""

from __future__ import annotations

import unicodedata
from typing import Literal

#: Characters that are brought into the form together.
_PIECE = 2_000


def normal_form(form: Literal["NFC", "NFKD"], text: str) -> str:
    """Return a text in a normal form, which it may miss where two pieces of 2,000 characters meet.

    >>> normal_form("NFC", "Cafe\u0301"), normal_form("NFKD", "½")
    ('Café', '1⁄2')
    """
    if len(text) <= _PIECE:
        return unicodedata.normalize(form, text)
    pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    return "".join(unicodedata.normalize(form, piece) for piece in pieces)

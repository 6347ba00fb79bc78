"""The form in which the storage holds a text: a page's value is compared in it with a stored one."""

from __future__ import annotations

from html import unescape
from typing import Any

from crawler.extract.page.page import INVISIBLE
from crawler.normal_form import normal_form
from crawler.twice_encoded import encoded_once

_MAX_LENGTH = 200


def stored_form(value: Any) -> str:
    """Return a value as one line of lower case, without what `crawler.cleaning` removes of a text.

    >>> stored_form("Garten\u00adstuhl  Tom &amp; Co"), stored_form("\u200bCafe\u0301")
    ('gartenstuhl tom & co', 'café')
    """
    text = str(value)[:_MAX_LENGTH]
    if "&" in text or not text.isascii():
        text = normal_form("NFC", encoded_once(INVISIBLE.sub("", unescape(text))))
    return " ".join(text.split()).casefold()

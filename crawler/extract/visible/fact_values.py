"""What the value behind a label may be: an identifier, a number, a maker's name."""

from __future__ import annotations

import re
from unicodedata import decimal

from crawler.extract import lazy_patterns
from crawler.extract.page.page import holds_digit
from crawler.extract.stock.availability import availability_of_text
from crawler.extract.structured.nodes import is_no_maker, is_placeholder
from crawler.extract.visible.fact_labels import label_of
from crawler.extract.visible.maker_names import name_alone

#: A word of an identifier of several words.
_CODE_WORD = lazy_patterns.pattern(r"(?=[^\s\d]{0,40}\d)\S{1,40}|[A-Z]{1,4}")
#: An identifier in lower case has one of these.
_IDENTIFIER_SIGN = lazy_patterns.pattern(r"[\d_-]")
#: Begins of addresses of the web.
_ADDRESSES = ("www.", "http://", "https://")
#: Words of a maker's name in small letters.
_MAX_MAKER_WORDS = 6
#: The form of a company at the end of its name: `Acme Inc`, `Acme s.r.o`.
_ENDS_IN_FORM = re.compile(r"\s(?:[A-Z][a-zé]{1,3}|(?:[A-Za-z]\.){1,3}[A-Za-z])\Z").search


def as_maker(value: str, text: str) -> str:
    """Return *value* if it can be a maker's name, else ''; with the dot of a form such as `Inc.`."""
    value = name_alone(value)
    if len(value) > 60 or label_of(value) or is_no_maker(value) or _is_sentence(value):
        return ""
    if value.startswith(_ADDRESSES) or (value[:1].isdigit() and " " in value and value.islower()):
        return ""  # "www.acme.example", "2 years of warranty"
    is_abbreviated = _ENDS_IN_FORM(value) and text.rstrip().endswith(f"{value}.")
    return f"{value}." if is_abbreviated else value


def _is_sentence(text: str) -> bool:
    """Whether a text has many words of which only the first begins with a capital letter.

    >>> _is_sentence("Ask us and we gladly send you one"), _is_sentence("House of Oak and Sons of Kent")
    (True, False)
    """
    words = text.split(" ", _MAX_MAKER_WORDS)
    return len(words) > _MAX_MAKER_WORDS and " ".join(words[1:]).islower()


def as_number(value: str) -> str:
    """Return an identifier with the figures 0 to 9, as addresses and scripts write it; else ''.

    >>> as_number("(X-12)"), as_number("X-(12)"), as_number("#X-12"), as_number("X-12 in stock")
    ('X-12', 'X-(12)', 'X-12', 'X-12')
    """
    value = value.lstrip("#")
    number, _, rest = value.partition(" ")
    if rest.islower() and holds_digit(number) and availability_of_text(rest):
        value = number
    value = as_identifier(value.strip("()") if value[:1] == "(" else value)
    return value if value.isascii() else "".join(str(decimal(c, c)) for c in value)


def as_identifier(value: str) -> str:
    """Return *value* if it can be an identifier; '' if it is a sentence or has no digit or sign."""
    words = value.split(" ")
    if len(value) > 40 or (len(words) > 3 and not all(map(_CODE_WORD.fullmatch, words))):
        return ""
    has_sign = _IDENTIFIER_SIGN.search(value) or value.isupper()
    is_identifier = has_sign and not is_placeholder(value) and not label_of(value)
    return value if is_identifier else ""

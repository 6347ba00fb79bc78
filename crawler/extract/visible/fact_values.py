"""What the value behind a label may be: an identifier, a number, a maker's name."""

from __future__ import annotations

import re
from unicodedata import decimal

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import is_errand
from crawler.extract.money.amounts import find_prices
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line
from crawler.extract.page.link_targets import link_around
from crawler.extract.page.page import MAX_TEXT_LENGTH, holds_digit
from crawler.extract.stock.availability import availability_of_text, buys
from crawler.extract.structured.nodes import is_no_maker, is_placeholder
from crawler.extract.visible.fact_labels import (
    NUMBERS,
    label_of,
    maker_up_to_label,
    up_to_label,
)
from crawler.extract.visible.maker_names import name_alone
from crawler.extract.words import CachedRule

#: A word of an identifier of several words.
_CODE_WORD = lazy_patterns.pattern(r"(?=[^\s\d]{0,40}\d)\S{1,40}|[A-Z]{1,4}")
#: An identifier in lower case has one of these; an amount of money is none.
_IDENTIFIER_SIGN = lazy_patterns.pattern(r"^(?=[^$€£¥₹₽]*$)[^\d_-]*[\d_-]")
#: A further label, alone or with its value.
_COLON = re.compile(r"[:：](?:\s|$)").search
#: Elements that hold no value: the headings of a page's parts, labels, buttons.
NO_VALUES = frozenset({"h1", "h2", "label", "button", "form"})
_PRESSED = _lines.BUTTON | _lines.LINK
#: Signs behind which further words follow a number: `12-B, in stock`.
LISTED = re.compile(r"[,;](?:\s|$)").split
#: A star, an arrow or another picture that begins what stands behind a number: `88103 ★ 4,6`, and
#: Japan's sign between the first and the last variant's: `A-1 ～ A-3`.
_SIGN_BEHIND = re.compile(r"\s[\u301c\uff5e\u2190-\u21ff\u2300-\u2bff\U0001f300-\U0001faff]").search
#: Begins of addresses of the web, and of amounts.
_NO_MAKERS = ("www.", "http://", "https://", "$", "€", "£")
#: Words of a maker's name in small letters.
_MAX_MAKER_WORDS = 6
#: The form of a company at the end of its name: `Acme Inc`, `Acme s.r.o`.
_ENDS_IN_FORM = re.compile(r"\s(?:[A-Z][a-zé]{1,3}|(?:[A-Za-z]\.){1,3}[A-Za-z])\Z").search


def as_maker(value: str, text: str) -> str:
    """Return *value* if it can be a maker's name, else ''; with the dot of a form such as `Inc.`."""
    value = name_alone(value.partition("; ")[0])  # "Acme Press; 2nd edition (2004)"
    if len(value) > 60 or label_of(value) or is_no_maker(value) or _is_sentence(value):
        return ""
    if value.startswith(_NO_MAKERS) or (value[:1].isdigit() and " " in value and value.islower()):
        return ""  # "www.acme.example", "$20", "2 years of warranty"
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
    >>> as_number("88103 ★ 4,6"), as_number("A-1 ～ A-3")
    ('88103', 'A-1')
    """
    value = value.lstrip("#")
    if not value.isascii() and (sign := _SIGN_BEHIND(value)):
        value = value[: sign.start()]
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


def may_be_value(field: str, line: Line) -> bool:
    """Whether a line behind a label may be its value, because templates print labels without one."""
    if line.flags & _PRESSED and (line.flags & _lines.BUTTON or _leads_to_errand(line)):
        return False
    if line.element.tag in NO_VALUES:
        return False
    return (_MAY_BE_NUMBER if field in NUMBERS else _MAY_BE_NAME)[line.text]


def may_stand_behind(text: str) -> bool:
    """Whether a text may be the value of the label before it, and no button, price or label.

    >>> may_stand_behind("Acme"), may_stand_behind("Colour: red"), may_stand_behind("$20.00")
    (True, False, False)
    """
    if _COLON(text) or buys(text) or availability_of_text(text) is not None:
        return False
    return text.isalnum() or not (holds_digit(text) and _has_price(text))


#: The colon behind a label may stand before the value, in its line.
_COLONS = " :："
_MAY_BE_NAME = CachedRule(lambda text: may_stand_behind(maker_up_to_label(text.lstrip(_COLONS))[0]))


def _may_be_number(text: str) -> bool:
    value, _ = up_to_label(text.lstrip(_COLONS))
    if _COLON(value) or not (value.isalnum() or not _has_price(value)):
        return False
    return _is_code(LISTED(value)[0])


_MAY_BE_NUMBER = CachedRule(_may_be_number)


def _has_price(text: str) -> bool:
    return any(money.currency for money in find_prices(text[:MAX_TEXT_LENGTH]))


def _is_code(text: str) -> bool:
    """Whether a text is one word, a number of several, or one and its stock: `K 101 in stock`.

    >>> _is_code("K 101"), _is_code("X-12 in stock"), _is_code("12 reviews"), _is_code("Call 555")
    (True, True, False, False)
    """
    number, _, rest = text.partition(" ")
    if all(map(_CODE_WORD.fullmatch, text.split())):
        return True
    return not rest or (holds_digit(number) and availability_of_text(rest) is not None)


def _leads_to_errand(line: Line) -> bool:
    """Whether a line is a link to a wish list, a form or a basket."""
    link = link_around(line.element, 1)
    return link is not None and is_errand((link.get("href") or "")[:MAX_TEXT_LENGTH])

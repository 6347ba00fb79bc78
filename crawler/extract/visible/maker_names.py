"""Where a maker's name ends among the words behind its label."""

from __future__ import annotations

from crawler.extract import lazy_patterns
from crawler.extract.page.page import holds_digit

#: Signs of a rating; it, or a year or a mail address in brackets, behind a maker's name.
_RATED = frozenset("★☆⭐)")
_BEHIND_NAME = lazy_patterns.pattern(
    r"(?<![\s★☆⭐])\s*+(?:[★☆⭐]++|\((?:(?:19|20)\d\d|[^()@]{1,40}@[^()]{1,40})\))$"
)
#: A name with the form of a company.
_FIRM = (
    r"(.{2,40}?\s(?:GmbH(?: & Co\.? KGa?A?)?|AG|KG|SE|e\.K\.|Ltd\.?|Inc\.?|LLC|S\.?[AL]\.?|S\.?A\.?S\.?"
    r"|SARL|S\.?p\.?A\.?|S\.?r\.?l\.?|B\.?V\.?|N\.?V\.?|AB|AS|A/S|ApS|Oyj?|Sp\. z o\.\s?o\.|Kft\.?"
    r"|s\.\s?r\.\s?o\.|d\.o\.o\.))"
)
_ENDS_IN_FORM = lazy_patterns.pattern(_FIRM + "$")
#: One behind which its address stands.
_FORM_INSIDE = lazy_patterns.pattern(_FIRM + r"\s(?=.{0,200}\d)")


def name_alone(text: str) -> str:
    """Return a maker's name without the address, the year or the rating behind it.

    >>> name_alone("Acme GmbH, Hafenstr. 1, 20457 Hamburg"), name_alone("Acme Ltd. 1 Quay")
    ('Acme GmbH', 'Acme Ltd.')
    >>> name_alone("Acme Press (2019)"), name_alone("Acme ★★★☆"), name_alone("Studio 54")
    ('Acme Press', 'Acme', 'Studio 54')
    """
    if text[-1:] in _RATED:
        text = _BEHIND_NAME.sub("", text)
    if not holds_digit(text):
        return text
    name, comma, rest = text.partition(", ")
    if comma and holds_digit(rest) and not holds_digit(name):
        return name
    form = _FORM_INSIDE.match(text)
    return text if form is None or holds_digit(form[1]) else form[1]


def is_firm(name: str) -> bool:
    """Whether a maker's name ends in the form of a company, so that a brand may have a shorter one.

    >>> is_firm("Acme Lamps Ltd"), is_firm("Acme Sp. z o.o."), is_firm("Acme Lamps")
    (True, True, False)
    """
    return _ENDS_IN_FORM.match(name) is not None

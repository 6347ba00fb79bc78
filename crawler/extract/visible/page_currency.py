"""The currency of a page whose amounts lack one: by its other texts, telephone or postal address."""

from __future__ import annotations

from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.money import short_currency_words
from crawler.extract.money.amounts import find_prices
from crawler.extract.money.currencies import (
    CODES,
    currency_of,
    currency_of_region,
    is_currency,
    share_a_sign,
)
from crawler.extract.page.page import Page, holds_digit
from crawler.extract.words import any_word

#: Texts of a page that are looked at, and characters of one.
_MOST_TEXTS, _LONGEST = 3_000, 200
_CODE = lazy_patterns.pattern(r"(?<![\w-])[A-Z]{3}(?![\w-])")
_CALLED = any_word("amounts", "called")
_MOST_BYTES = 400_000
#: A number of a telephone with the country before it.
_PHONE = lazy_patterns.pattern(rb"(?:tel:|[>\s\"':])\+(\d{1,3})[\s().-]{0,2}\d[\d\s().-]{5,14}")
_BY_PHONE = {
    b"27": "ZAR", b"20": "EGP", b"234": "NGN", b"254": "KES", b"52": "MXN", b"54": "ARS",
    b"56": "CLP", b"57": "COP", b"60": "MYR", b"61": "AUD", b"62": "IDR", b"63": "PHP",
    b"64": "NZD", b"65": "SGD", b"66": "THB", b"852": "HKD", b"886": "TWD", b"91": "INR",
    b"92": "PKR", b"94": "LKR", b"977": "NPR", b"880": "BDT", b"45": "DKK", b"46": "SEK",
    b"47": "NOK", b"354": "ISK", b"44": "GBP", b"41": "CHF",
}  # fmt: skip
#: The country of a postal address in structured data, and the meta elements that tell a region.
_IN_COUNTRY = lazy_patterns.pattern(
    rb"addressCountry[\"'](?:\s{0,9}:\s{0,9}|\s{1,9}content\s?=\s?)[\"']([A-Z]{2})[\"']"
)
#: A link to an office of a state, which shops there have to have: `www.argentina.gob.ar`.
_OFFICE = lazy_patterns.pattern(rb"//[a-z\d.-]{1,60}\.go(?:b|vt?)\.([a-z]{2})[/\"'?]")
_OFFICES = (b".gob.", b".gov.", b".govt.")
#: Money that is called by its country.
_PESOS = lazy_patterns.pattern(rb"\b[Pp]esos? (argentin|mexican|chilen|colombian|uruguay)[oa]")
_BY_PESO = {
    b"argentin": "AR", b"mexican": "MX", b"chilen": "CL", b"colombian": "CO", b"uruguay": "UY",
}  # fmt: skip
_REGIONS = ("geo.region", "geo.country", "og:country-name")


def spoken_currency(page: Page) -> str | None:
    """The one currency that the page's texts speak of: beside other amounts, or of prices.

    >>> from crawler.extract.page.page import parse
    >>> spoken_currency(parse(b"<p>Lamp 12.50<p>All prices in CHF", "http://a.example/"))
    'CHF'
    """
    told: set[str] = set()
    for text in islice(page.root.itertext(), _MOST_TEXTS):
        if len(text) > _LONGEST or text.isspace():
            continue
        if holds_digit(text):
            told.update(money.currency for money in find_prices(text) if money.currency)
        elif alone := short_currency_words.currency_of_word(text.strip()) or _sign(text.strip()):
            told.add(alone)
        codes = CODES.intersection(_CODE.findall(text))
        if codes and _CALLED(text):
            told |= codes
    return told.pop() if len(told) == 1 else None


def _sign(text: str) -> str | None:
    """The currency of a text that is nothing but a sign or a word for one: prices stand beside it."""
    return currency_of(text) if is_currency(text) and len(text) > 1 else None


def currency_of_phones(page: Page, sign_of: str) -> str | None:
    """The money of the country of all the page's telephones, if it has the same sign as *sign_of*.

    >>> from crawler.extract.page.page import parse
    >>> page = parse(b"<p>Rs. 250<p>Colombo, +94 11 234 5678", "http://a.example/")
    >>> currency_of_phones(page, "INR"), currency_of_phones(page, "EUR")
    ('LKR', None)
    """
    if b"+" not in page.raw:
        return None
    found = {match[1] for match in islice(_PHONE.finditer(page.raw, 0, _MOST_BYTES), 20)}
    told = {next((_BY_PHONE[p[:n]] for n in (3, 2, 1) if p[:n] in _BY_PHONE), "") for p in found}
    own = told.pop() if len(told) == 1 else None
    return own if own and share_a_sign(own, sign_of) else None


def currency_of_address(page: Page, sign_of: str) -> str | None:
    """The money of the one country in which the page says that the shop is, if it fits *sign_of*.

    Its data say so, its links to offices of a state, or the name of the money.

    >>> from crawler.extract.page.page import parse
    >>> page = parse(b'<meta name="geo.region" content="AU-NSW"><p>$250', "http://a.example/")
    >>> currency_of_address(page, "USD"), currency_of_address(page, "EUR")
    ('AUD', None)
    >>> page = parse(b'<p>$250<p>Pesos argentinos', "http://a.example/")
    >>> currency_of_address(page, "USD")
    'ARS'
    """
    found = {match[1] for match in islice(_IN_COUNTRY.finditer(page.raw, 0, _MOST_BYTES), 20)}
    regions = {region.decode() for region in found}
    regions |= {page.meta(name)[:2] for name in _REGIONS}
    if any(map(page.raw.__contains__, _OFFICES)):
        offices = islice(_OFFICE.finditer(page.raw, 0, _MOST_BYTES), 20)
        regions |= {office[1].decode().upper() for office in offices}
    if b"esos " in page.raw or b"eso " in page.raw:
        named = islice(_PESOS.finditer(page.raw, 0, _MOST_BYTES), 20)
        regions |= {_BY_PESO[name[1]] for name in named}
    told = {currency_of_region(region) for region in regions if region}
    own = told.pop() if len(told) == 1 else None
    return own if own and share_a_sign(own, sign_of) else None

"""Find the currency of amounts without one: by other texts, telephone or postal address."""

from __future__ import annotations

from itertools import islice, pairwise

from crawler.extract import lazy_patterns
from crawler.extract.money import short_currency_words
from crawler.extract.money.amounts import find_prices
from crawler.extract.money.currencies import (
    CODES,
    currency_of,
    currency_of_country,
    currency_of_region,
    is_currency,
    language_of_script,
    local_currency,
    share_a_sign,
)
from crawler.extract.page.page import Page, holds_digit
from crawler.extract.visible.titles import title_parts
from crawler.extract.words import any_word
from scrapy_seine.urls import host_of

#: Texts of a page that are read, and characters of one.
_MAX_TEXTS, _MAX_TEXT = 3_000, 200
_CODE = lazy_patterns.pattern(r"(?<![\w-])[A-Z]{3}(?![\w-])")
_CALLS_PRICES = any_word("amounts", "called")
_MAX_BYTES = 400_000
#: A telephone number with its country code.
_PHONE = lazy_patterns.pattern(rb"\+(?<=[>\s\"':]\+)(\d{1,3})[\s().-]{0,2}\d[\d\s().-]{5,14}")
_BY_PHONE = {
    b"27": "ZAR", b"20": "EGP", b"234": "NGN", b"254": "KES", b"52": "MXN", b"54": "ARS",
    b"56": "CLP", b"57": "COP", b"60": "MYR", b"61": "AUD", b"62": "IDR", b"63": "PHP",
    b"64": "NZD", b"65": "SGD", b"66": "THB", b"852": "HKD", b"886": "TWD", b"91": "INR",
    b"92": "PKR", b"94": "LKR", b"977": "NPR", b"880": "BDT", b"45": "DKK", b"46": "SEK",
    b"47": "NOK", b"354": "ISK", b"44": "GBP", b"41": "CHF",
}  # fmt: skip
#: Currencies whose sign is that of the US dollar, too.
_DOLLARS = (b"AUD", b"CAD", b"NZD", b"SGD", b"HKD", b"TWD", b"MXN", b"ARS", b"CLP", b"COP")
#: Dollars with their country's name.
_NAMED_DOLLARS = lazy_patterns.pattern(
    r"\b(US|U\.S\.|American|Canadian|Australian|New Zealand|Singapore|Hong Kong) [Dd]ollars"
)
_BY_NAME = {
    "Canadian": "CAD", "Australian": "AUD", "New Zealand": "NZD", "Singapore": "SGD",
    "Hong Kong": "HKD",
}  # fmt: skip
#: The country of a postal address in structured data.
_IN_COUNTRY = lazy_patterns.pattern(
    rb"addressCountry[\"'](?:\s{0,9}:\s{0,9}|\s{1,9}content\s?=\s?)[\"']([A-Z]{2})[\"']"
)

#: A link to a government office, which some countries demand of shops: `www.argentina.gob.ar`.
_OFFICE = lazy_patterns.pattern(rb"//[a-z\d.-]{1,60}\.go(?:b|vt?)\.([a-z]{2})[/\"'?]")
_OFFICES = (b".gob.", b".gov")
#: Words that the law of one country demands of shops: of a button, beside a price.
_BY_LAW = {"ón de arrepentimiento".encode(): "AR", b"recio sin impuestos nacionales": "AR"}
#: An Australian business number, which invoices and shops must show; ABN is a bank as well.
_BUSINESS_NUMBER = lazy_patterns.pattern(rb"\bABN:?\s?\d\d\s?\d{3}\s?\d{3}")
#: A currency with its country's name.
_PESOS = lazy_patterns.pattern(rb"\b[Pp]esos? (argentin|mexican|chilen|colombian|uruguay)[oa]")
_BY_PESO = {
    b"argentin": "AR", b"mexican": "MX", b"chilen": "CL", b"colombian": "CO", b"uruguay": "UY",
}  # fmt: skip
#: Words of shops that only one of the languages with a crown of its own has.
_BY_TONGUE = {
    "SEK": (b" och ", b"varukorg", b"kundvagn", "Lägg i".encode(), "Köp".encode()),
    "NOK": (b"andlekurv", b"andlevogn", b"Legg i", "Kjøp".encode(), b"Logg inn", b" ikkje "),
    "DKK": ("Læg i".encode(), "Køb".encode(), "ndkøbskurv".encode(), b"Log ind"),
    "ISK": ("Bæta".encode(), "körfu".encode(), b"Kaupa"),
}
#: Meta elements with the currency of the prices, and with a region or a country.
_CURRENCY_METAS = frozenset({"og:price:currency", "product:price:currency", "pricecurrency"})
_REGIONS = ("geo.region", "geo.country", "og:country-name")


def spoken_currency(page: Page) -> str | None:
    """Return the one currency in the page's texts: of other amounts, or where prices are explained.

    >>> from crawler.extract.page.page import parse
    >>> spoken_currency(parse(b"<p>Lamp 12.50<p>All prices in CHF", "http://a.example/"))
    'CHF'
    """
    currencies: set[str] = set()
    for text in islice(page.root.itertext(), _MAX_TEXTS):
        if len(text) > _MAX_TEXT or text.isspace():
            continue
        if holds_digit(text):
            currencies.update(money.currency for money in find_prices(text) if money.currency)
        elif currency := short_currency_words.currency_of_word(text.strip()) or _currency_alone(
            text.strip()
        ):
            currencies.add(currency)
        codes = CODES.intersection(_CODE.findall(text))
        if codes and _CALLS_PRICES(text):
            currencies |= codes
    return currencies.pop() if len(currencies) == 1 else None


def _currency_alone(text: str) -> str | None:
    """Return the currency of a text that is just its sign or word, because a price is beside it."""
    return currency_of(text) if is_currency(text) and len(text) > 1 else None


def currency_of_phones(page: Page, sign_of: str) -> str | None:
    """Return the currency of the country of all telephone numbers, if *sign_of* has the same sign.

    >>> from crawler.extract.page.page import parse
    >>> page = parse(b"<p>Rs. 250<p>Colombo, +94 11 234 5678", "http://a.example/")
    >>> currency_of_phones(page, "INR"), currency_of_phones(page, "EUR")
    ('LKR', None)
    """
    if b"+" not in page.raw:
        return None
    numbers = {match[1] for match in islice(_PHONE.finditer(page.raw, 0, _MAX_BYTES), 20)}
    currencies = {
        next(
            (_BY_PHONE[number[:length]] for length in (3, 2, 1) if number[:length] in _BY_PHONE), ""
        )
        for number in numbers
    }
    currency = currencies.pop() if len(currencies) == 1 else None
    return currency if currency and share_a_sign(currency, sign_of) else None


def currency_of_terms(page: Page, sign_of: str) -> str | None:
    """Return the currency in which the page says that its prices are, if *sign_of* has its sign.

    >>> from crawler.extract.page.page import parse
    >>> page = parse(b"<p>$250<p>All prices are in AUD", "http://a.example/")
    >>> currency_of_terms(page, "USD"), currency_of_terms(page, "EUR")
    ('AUD', None)
    >>> currency_of_terms(parse(b"<p>$9<p>Prices in Canadian dollars", "http://a.example/"), "USD")
    'CAD'
    """
    if not share_a_sign(_DOLLARS[0].decode(), sign_of) or page.holds(sign_of.encode()):
        return None  # it is no dollar, or the page has a choice of currencies
    codes = [code.decode() for code in _DOLLARS if page.holds(code)]
    if len(codes) != 1:
        return None if codes or not page.holds(b"ollars") else _named_dollar(page)
    # The code may stand in an element of its own: `All prices are in <b>AUD</b>`.
    pairs = pairwise(islice(page.root.itertext(), _MAX_TEXTS))
    texts = (f"{before} {text}" for before, text in pairs if codes[0] in text)
    is_said = any(len(text) <= _MAX_TEXT and _CALLS_PRICES(text) is not None for text in texts)
    return codes[0] if is_said else None


def currency_of_tongue(page: Page, sign_of: str) -> str | None:
    """Return which crown a page means that says no language of its own, by its words to buy.

    >>> from crawler.extract.page.page import parse
    >>> page = parse("<html lang=en><p>250 kr<button>Legg i handlekurv".encode(), "http://a.example/")
    >>> currency_of_tongue(page, "SEK"), currency_of_tongue(page, "EUR")
    ('NOK', None)
    """
    if sign_of not in _BY_TONGUE:
        return None
    currencies = [code for code, words in _BY_TONGUE.items() if any(map(page.holds, words))]
    return currencies[0] if len(currencies) == 1 else None


def _named_dollar(page: Page) -> str | None:
    """Return the one dollar that texts about prices name by its country: `Canadian dollars`."""
    names = {
        name
        for text in islice(page.root.itertext(), _MAX_TEXTS)
        if "ollars" in text and len(text) <= _MAX_TEXT and _CALLS_PRICES(text)
        for name in _NAMED_DOLLARS.findall(text)
    }
    return _BY_NAME.get(names.pop()) if len(names) == 1 else None


def currency_of_address(page: Page, sign_of: str) -> str | None:
    """Return the currency of the shop's country, if it has the same sign as *sign_of*.

    The country is known by structured data, meta elements, links to its government or "pesos".

    >>> from crawler.extract.page.page import parse
    >>> page = parse(b'<meta name="geo.region" content="AU-NSW"><p>$250', "http://a.example/")
    >>> currency_of_address(page, "USD"), currency_of_address(page, "EUR")
    ('AUD', None)
    >>> page = parse(b'<p>$250<p>Pesos argentinos', "http://a.example/")
    >>> currency_of_address(page, "USD")
    'ARS'
    >>> currency_of_address(parse('<p>$250<p>Botón de arrepentimiento', "http://a.example/"), "USD")
    'ARS'
    >>> currency_of_address(parse(b"<p>$250<p>ABN 12 345 678 901", "http://a.example/"), "USD")
    'AUD'
    """
    countries = {match[1] for match in islice(_IN_COUNTRY.finditer(page.raw, 0, _MAX_BYTES), 20)}
    regions = {region.decode() for region in countries}
    regions |= {page.meta(name)[:2] for name in _REGIONS}
    if any(map(page.holds, _OFFICES)):
        offices = islice(_OFFICE.finditer(page.raw, 0, _MAX_BYTES), 20)
        regions |= {office[1].decode().upper() for office in offices}
    regions |= {region for words, region in _BY_LAW.items() if page.holds(words)}
    if page.holds(b"ABN") and _BUSINESS_NUMBER.search(page.raw, 0, _MAX_BYTES):
        regions.add("AU")
    if any(map(page.holds, (b"esos ", b"eso "))):
        pesos = islice(_PESOS.finditer(page.raw, 0, _MAX_BYTES), 20)
        regions |= {_BY_PESO[name[1]] for name in pesos}
    currencies = {currency_of_region(region) for region in regions if region}
    currency = currencies.pop() if len(currencies) == 1 else None
    return currency if currency and share_a_sign(currency, sign_of) else None


def local_currency_of(page: Page) -> str | None:
    """Return the currency by which amounts without one are read.

    It is that of the page's country, else the one that its meta elements name: a shop that has the
    amount in the text only, `1 290,-`, often has its currency in the head only.

    >>> from crawler.extract.page.page import parse
    >>> page = parse(b'<meta property="og:price:currency" content="NOK">', "http://a.example/")
    >>> local_currency_of(page), local_currency_of(parse(page.raw, "http://a.se/"))
    ('NOK', 'SEK')
    """
    if (currency := currency_of_place(page)) is not None:
        return currency
    codes = {content.upper() for key, content in page.metas if key in _CURRENCY_METAS} & CODES
    return codes.pop() if len(codes) == 1 else None


def currency_of_place(page: Page) -> str | None:
    """Return the currency of the country that the page's address, language or title names."""
    tongue, host_ = page.lang or language_of_script(page.title), host_of(page.url)
    if "-" not in tongue and local_currency(host_, "", page.url) is None:
        # The end of a title, behind the product's name: "Buy online in South Africa".
        site = page.meta("og:site_name")
        # A title is split only if it names a country, because splitting costs more.
        names_country = currency_of_country(f"{site} {page.title}")
        currency = names_country and currency_of_country(
            " ".join((site, *title_parts(page.title)[1:]))
        )
        if currency:
            return currency
    return local_currency(host_, tongue, page.url)

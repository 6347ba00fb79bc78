"""Find the maker where nothing beside the name has it: in attributes, a medicine's row, the menu."""

from __future__ import annotations

from html import unescape
from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.page.link_targets import maker_led_to
from crawler.extract.page.page import Page, short_text

_BRAND = lazy_patterns.pattern(
    rb"data-(?:product-|item-)?brand(?:-name)?=[\"']([^\"'<>]{2,40})[\"']"
)
#: Another attribute of the same element that makes it a product's; a page's frame has none of them.
_OF_PRODUCT = lazy_patterns.pattern(
    rb"data-(?:product-|item-)?(?:price|sku|name|id|title|gtin|ean)[\w-]*="
)
_SIGN = b"-brand"
_MAX_BYTES, _MAX_TAG, _MAX_MATCHES = 400_000, 2_000, 100
#: The row of a medicine's maker in Germany, where each medicine has a number of its own, the PZN;
#: in other shops the word is the seller's.
_MEDICINE = b"PZN"
_VENDOR = lazy_patterns.pattern(
    rb">\s{0,99}(?:Anbieter|Hersteller)\s?:?\s{0,99}(?:<[^<>]{0,200}>\s{0,99}){0,6}([^<>:]{2,40})<"
)
#: Links of a page that are compared with the name.
_MAX_LINKS = 2_000


def maker_elsewhere(page: Page, name: str) -> str | None:
    """Return the maker of the product with a *name*, of which nothing beside the name says it."""
    return maker_in_attributes(page) or _vendor_of_medicine(page) or _listed_maker(page, name)


def _vendor_of_medicine(page: Page) -> str | None:
    match = (
        _VENDOR.search(page.raw, 0, _MAX_BYTES)
        if page.lang[:2] == "de" and page.holds(_MEDICINE)
        else None
    )
    return unescape(" ".join(match[1].decode("utf-8", "replace").split())) if match else None


def _listed_maker(page: Page, name: str) -> str | None:
    """Return the longest text of a link to a maker's page with which a name begins.

    Shops of many makers have them in their menus: `/brands/acme` of "Acme" begins "Acme lamp 12".
    """
    first, _, rest = name.partition(" ")
    both = f">{first} {rest.partition(' ')[0]}<"
    if not (rest and (page.holds(f">{first}<".encode()) or page.holds(both.encode()))):
        return None  # nearly all pages: reading their links takes longer
    makers = []
    for link in islice(page.anchors, _MAX_LINKS):
        text = (link.text or "").strip()
        if text and name.startswith(f"{text} ") and maker_led_to(link) and text == short_text(link):
            makers.append(text)
    return max(makers, key=len, default=None)


def maker_in_attributes(page: Page) -> str | None:
    """Return the only maker in the attributes of the page's products; None where tiles have others.

    A value without a capital letter may be a part of an address and not the name.

    >>> from crawler.extract.page.page import parse
    >>> page = parse(b'<p data-sku="L-1" data-brand="Acme &amp; Co">', "http://a.example/")
    >>> maker_in_attributes(page)
    'Acme & Co'
    >>> maker_in_attributes(parse(b'<body data-brand="Shop"><p data-sku="1">', "http://a.example/"))
    """
    if not (page.has_data and page.holds(_SIGN)):
        return None
    raw, names = page.raw[:_MAX_BYTES], set[bytes]()
    for match in islice(_BRAND.finditer(raw), _MAX_MATCHES):
        start = raw.rfind(b"<", max(0, match.start() - _MAX_TAG), match.start())
        end = raw.find(b">", match.end(), match.end() + _MAX_TAG)
        if start >= 0 and end >= 0 and _OF_PRODUCT.search(raw, start, end):
            names.add(match[1].strip())
    if len(names) != 1:
        return None
    name = unescape(names.pop().decode("utf-8", "replace"))
    return name if name != name.lower() else None

"""Find the maker where nothing behind the name has it: in attributes, rows above, the menu."""

from __future__ import annotations

from html import unescape
from itertools import islice, takewhile

from crawler.extract import lazy_patterns
from crawler.extract.page.link_targets import link_around, maker_led_to
from crawler.extract.page.page import Element, Page, short_text
from crawler.extract.visible.fact_labels import label_of
from crawler.extract.visible.fact_lines import MAX_BRAND
from crawler.extract.visible.fact_values import as_maker
from crawler.extract.words import any_of, finder

#: Attributes with the maker's name, as they begin; others that make an element a product's, where a
#: page's frame has none of them; and those that call what they describe a product.
_BRANDS = tuple(
    f"data-{of}brand{name}" for of in ("", "product-", "item-") for name in ("", "-name")
)
_OF_BRAND = "//*[" + " or ".join(f"@{attribute}" for attribute in _BRANDS) + "]"
_OF_PRODUCT = lazy_patterns.pattern(r"data-(?:product-|item-)?(?:price|sku|name|id|title|gtin|ean)")
_CALLED_PRODUCT = ("data-product-", "data-item-")
_SIGN = b"-brand"
_MAX_BYTES, _MAX_ELEMENTS = 400_000, 100
#: The row of a medicine's maker in Germany, where each medicine has a number of its own, the PZN;
#: in other shops the word is the seller's. It stands near that number, and is no heading.
_VENDOR = lazy_patterns.pattern(
    rb">\s{0,99}Anbieter\s?:?\s{0,99}(?:<(?!/?h\d|th)[^<>]{0,200}>\s{0,99}){0,6}([^<>:]{2,40})<"
)
_MEDICINE, _MAX_APART = b"PZN", 1_500
_IS_SELLER = lazy_patterns.pattern(rb"(?i)apotheke|preis|angebot")
#: The address and the text's end of osCommerce's link to a maker's homepage.
_TO_HOMEPAGE, _HOMEPAGE = b"action=manufacturer", " Homepage"
#: What microdata call a product, rows of its tables, and cells of a row with a label.
_PRODUCT_TYPE, _MAX_ROWS, _CELLS = b"schema.org/Product", 60, 2
#: Links of a page that are compared with the name, and words of a maker's name.
_MAX_LINKS, _MAX_WORDS = 2_000, 3
#: Words of a name that begins with another maker than its own: a case for its phones, a style.
_NOT_OWN = finder(rf"(?<!\w)(?:{any_of('makers', 'not_own')})(?!\w)")


def maker_elsewhere(page: Page, heading: Element, name: str) -> str | None:
    """Return the maker of the product with a *name*, of which nothing beside the name says it."""
    return (
        maker_in_attributes(page, heading, name)
        or _maker_in_row(page, heading)
        or _vendor_of_medicine(page)
        or _maker_with_homepage(page)
        or _listed_maker(page, name)
    )


def _maker_in_row(page: Page, heading: Element) -> str | None:
    """Return the maker in a table above the name, in the box that microdata call the product.

    What stands below belongs to other products, too: those that it fits, and those beside it.
    """
    if not (page.holds(_PRODUCT_TYPE) and page.holds(b"<tr")):
        return None
    types = ((box.get("itemtype") or "", box) for box in heading.iterancestors())
    box = next((box for kind, box in types if kind.endswith("/Product")), None)
    rows = () if box is None else islice(box.iter("tr", heading.tag), _MAX_ROWS)
    for row in takewhile(lambda element: element is not heading, rows):
        texts = [short_text(cell) for cell in row] if len(row) == _CELLS else ["", ""]
        if next(row.iter("select"), None) is None and label_of(texts[0]) == "brand":
            return as_maker(texts[1].strip(), texts[1]) or None
    return None


def _vendor_of_medicine(page: Page) -> str | None:
    number = page.raw.find(_MEDICINE, 0, _MAX_BYTES) if page.lang[:2] == "de" else -1
    if number < 0:
        return None
    match = _VENDOR.search(page.raw, max(0, number - _MAX_APART), number + _MAX_APART)
    if match is None or _IS_SELLER.search(match[1]):
        return None
    return unescape(" ".join(match[1].decode("utf-8", "replace").split()))


def _maker_with_homepage(page: Page) -> str | None:
    """Return the maker in the link to its homepage, which osCommerce counts by a redirection."""
    if not page.holds(_TO_HOMEPAGE):
        return None
    texts = {
        short_text(link, MAX_BRAND + len(_HOMEPAGE))
        for link in islice(page.anchors, _MAX_LINKS)
        if _TO_HOMEPAGE.decode() in (link.get("href") or "")
    }
    text = texts.pop() if len(texts) == 1 else ""
    return text.removesuffix(_HOMEPAGE) if text.endswith(_HOMEPAGE) else None


def _listed_maker(page: Page, name: str) -> str | None:
    """Return the longest text of a link to a maker's page with which a name begins.

    Shops of many makers have them in their menus: `/brands/acme` of "Acme" begins "ACME lamp 12".
    """
    words = name.replace("&", "&amp;").split(" ", _MAX_WORDS)
    if len(words) < 2:
        return None
    first, both = words[0], " ".join(words[: 3 if words[1] == "&amp;" else 2])
    starts = f">{first}<", f">{both}<", f">{first.title() if first.isupper() else first.upper()}<"
    if not any(page.holds(start.encode()) for start in starts) or _NOT_OWN(name[len(first) :]):
        return None  # nearly all pages: reading their links takes longer
    makers, folded = [], name.casefold()
    for link in islice(page.anchors, _MAX_LINKS):
        text = (link.text or "").strip()
        is_start = text and folded.startswith(f"{text.casefold()} ")
        if is_start and maker_led_to(link) and text == short_text(link):
            makers.append(text)
    return max(makers, key=len, default=None)


def maker_in_attributes(page: Page, heading: Element, name: str) -> str | None:
    """Return the maker in the attributes of the product's own element; None where two have others.

    That element holds the heading, has the *name* in an attribute, or is called a product's and
    neither holds a link nor stands in one, as tiles do. A value without a capital letter may be a
    part of an address and not the name.

    >>> from crawler.extract.page.page import parse
    >>> page = parse(b'<p data-sku="L-1" data-brand="Acme &amp; Co"><b>Lamp</b>', "http://a.example/")
    >>> maker_in_attributes(page, page.root.find(".//b"), "Lamp")
    'Acme & Co'
    """
    if not (page.has_data and page.holds(_SIGN)):
        return None
    makers = set[str]()
    for element in page.root.xpath(_OF_BRAND)[:_MAX_ELEMENTS]:
        if _is_of_product(element, heading, name):
            makers.update(
                v.strip() for a in _BRANDS if (v := element.get(a)) and len(v) <= MAX_BRAND
            )
    maker = makers.pop() if len(makers) == 1 else ""
    return maker if maker != maker.lower() else None


def _is_of_product(element: Element, heading: Element, name: str) -> bool:
    if not any(_OF_PRODUCT.match(attribute) for attribute in element.attrib):
        return False
    if element is heading or element in heading.iterancestors():
        return True
    if name and name in element.values():
        return True
    is_called = any(attribute.startswith(_CALLED_PRODUCT) for attribute in element.attrib)
    return is_called and next(element.iter("a"), None) is None and link_around(element, 9) is None

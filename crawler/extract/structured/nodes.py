"""schema.org nodes of any syntax: their types, and the texts of their properties.

JSON-LD, microdata and RDFa are first brought to JSON-LD's shape: a dict with `@type` and
properties whose values are text, numbers, dicts or lists of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from typing import Any

from lxml import etree

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import without_origin
from crawler.extract.gtin import first_valid, gtin
from crawler.extract.words import full_matcher_by_start

Node = dict[str, Any]

PRODUCTS = frozenset(
    {"Product", "ProductGroup", "ProductModel", "IndividualProduct", "SomeProducts", "Vehicle",
     "Car", "Motorcycle"}
)  # fmt: skip
_PRODUCTS_IN_LOWER_CASE = frozenset(name.lower() for name in PRODUCTS)
_MIN_CODE_LENGTH = 4
#: Types that are products only with an offer.
_SOLD_TYPES = frozenset(
    {"Book", "MusicAlbum", "VideoGame", "Game", "CreativeWork", "Drug"}
)  # fmt: skip
#: Properties that lead to other products than the page's own.
_TO_OTHER_PRODUCTS = frozenset(
    {"isRelatedTo", "isSimilarTo", "isAccessoryOrSparePartFor", "isConsumableFor", "review",
     "reviews", "isVariantOf", "hasVariant", "offers", "itemListElement", "hasOfferCatalog",
     "makesOffer", "itemOffered", "isPartOf", "subjectOf", "itemReviewed", "mentions"}
)  # fmt: skip
GTINS = ("gtin13", "gtin", "gtin14", "gtin12", "gtin8", "ean", "ean13", "isbn", "upc")
_GTIN_NAMES = frozenset(GTINS)
#: Properties whose value a product's address may contain.
_CODES = ("sku", "productID", "mpn", "gtin13", "gtin")
_MAX_NODES = 5000
_MAX_TYPES, _MAX_TYPE_LENGTH = 20, 500
#: Characters of an address in which codes are searched, and occurrences of one that are checked.
_MAX_URL_LENGTH, _MAX_PLACES = 4096, 8
_TAG = lazy_patterns.pattern(r"<[a-zA-Z/!]")
_VOCABULARY = lazy_patterns.pattern(r"[/#:]")
_NESTED = (dict, list)
#: Values of a property that tell nothing.
EMPTY: tuple[Any, ...] = (None, "", [], {})


def types(node: Node) -> list[str]:
    """Return a node's types without their vocabulary.

    >>> types({"@type": ["https://schema.org/Product", "schema:Car"]})
    ['Product', 'Car']
    """
    raw = node.get("@type") or node.get("type") or ()
    names = raw if isinstance(raw, list) else [raw]
    texts = [name for name in names[:_MAX_TYPES] if name and isinstance(name, str)]
    return [_without_vocabulary(name[-_MAX_TYPE_LENGTH:]) for name in texts]


@lru_cache(maxsize=256)
def _without_vocabulary(name: str) -> str:
    return _VOCABULARY.split(name.strip().rstrip("/"))[-1]


def is_product(node: Node) -> bool:
    """Return whether a node describes a product, by its type or by a type that has offers."""
    names = types(node)
    return not _PRODUCTS_IN_LOWER_CASE.isdisjoint(map(str.lower, names)) or (
        not _SOLD_TYPES.isdisjoint(names) and bool(node.get("offers"))
    )


def offered_product(offer: Node) -> Node | None:
    """Return the product in an offer's itemOffered, with that offer as its own."""
    item = offer.get("itemOffered")
    item = item[0] if isinstance(item, list) and item else item
    if not isinstance(item, dict) or not is_product(item):
        return None
    offer_itself = {key: value for key, value in offer.items() if key != "itemOffered"}
    return {"offers": offer_itself, **item}


def is_in_address(node: Node, url: str) -> bool:
    """Return whether an address contains one of a node's codes.

    >>> is_in_address({"sku": "NAP-RUST"}, "https://a.example/napkin/NAP-RUST")
    True
    """
    codes = [plain_text(node[name]) for name in _CODES if name in node]
    long_codes = [code for code in codes if code and len(code) >= _MIN_CODE_LENGTH]
    if not long_codes:
        return False
    path = without_origin(url[:_MAX_URL_LENGTH])
    return any(stands_in(path, code) for code in long_codes)


def stands_in(path: str, code: str) -> bool:
    """Return whether a path contains a code with no letter or digit beside it."""
    place = path.find(code)
    for _ in range(_MAX_PLACES):
        if place < 0:
            return False
        end = place + len(code)
        if not (path[place - 1 : place].isalnum() or path[end : end + 1].isalnum()):
            return True
        place = path.find(code, place + 1)
    return False


def walk(value: Any) -> Iterator[Node]:
    """Yield nodes from the outermost inwards, without those below properties of other products."""
    stack, visited = [value], 0
    while stack and visited < _MAX_NODES:
        current = stack.pop()
        visited += 1
        if isinstance(current, list):
            stack.extend(reversed(current))
        elif isinstance(current, dict):
            if "@type" in current:
                yield current
            for key, inner in reversed(current.items()):
                if isinstance(inner, _NESTED) and key not in _TO_OTHER_PRODUCTS:
                    stack.append(inner)


def plain_text(value: Any) -> str | None:
    """Return the first text of a value: the value itself, its @value or its name.

    >>> plain_text([{"@type": "Brand", "name": " Acme &amp; Co "}])
    'Acme & Co'

    Joiners at its ends join no letters: some templates begin each value with one.
    """
    if not isinstance(value, str):
        value = None if value is None else _innermost(value)
        if value is None:
            return None
    text = " ".join(value.strip(JOINERS).split())
    if "&" in text:
        text = unescape(text)
        if "&" in text and ";" in text:
            text = unescape(text)  # some templates escape a value that is escaped already
        text = " ".join(text.split())
    return text or None


#: Characters that join the letters beside them.
JOINERS = "\u200c\u200d"
#: Placeholders that templates write where a maker or a number is missing.
NOTHING = frozenset(
    {"n/a", "n.a.", "-", "--", "—", "none", "null", "undefined", "na", "tbc", "tba", "no brand"}
    | {"sku", "mpn", "gtin", "ean", "isbn", "brand"}  # the property's own name
)
#: What stands for a maker where there is none.
_IS_UNBRANDED = full_matcher_by_start(lambda any_of: f"(?:{any_of('makers', 'unbranded')})")


def is_no_maker(text: str) -> bool:
    """Whether a text is a placeholder, or says that the goods have no maker.

    >>> is_no_maker("N.D."), is_no_maker("Unbranded"), is_no_maker("NoName"), is_no_maker("Noma")
    (True, True, True, False)
    """
    return is_placeholder(text) or _IS_UNBRANDED(text.strip(".- ")) is not None


def stated_maker(*values: Any) -> str | None:
    """Return the name of the first value that has one and is no placeholder for a maker's."""
    texts = map(plain_text, values)
    return next((text for text in texts if text and not is_no_maker(text)), None)


def stated_text(*values: Any) -> str | None:
    """Return the text of the first value that has one and is no placeholder.

    >>> stated_text("N/A", {"name": "Acme"}), stated_text("-"), stated_text(0)
    ('Acme', None, None)
    """
    for value in values:
        text = plain_text(value)
        if text and not is_placeholder(text):
            return text
    return None


def is_placeholder(text: str) -> bool:
    """Whether a text stands for a missing value. All products that have it would get one key."""
    return text.lower() in NOTHING or not text.strip("0")


def _innermost(value: Any) -> str | None:
    for _ in range(5):
        if isinstance(value, list):
            value = next((item for item in value if item not in (None, "", {})), None)
        elif isinstance(value, dict):
            value = value.get("@value", value.get("name", value.get("value")))
        else:
            break
    value = int(value) if isinstance(value, float) and value.is_integer() else value  # 12345.0
    return None if value is None or isinstance(value, bool | dict | list) else str(value)


def first_value(node: Node, *names: str) -> Any:
    """Return the value of the first property that has one."""
    for name in names:
        value = node.get(name)
        if value or value not in EMPTY:
            return value
    return None


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, None as an empty list, and another value as a list of one."""
    return value if isinstance(value, list) else [] if value is None else [value]


def without_tags(text: str | None) -> str | None:
    """Return a description's text without HTML tags.

    >>> without_tags("<p>One<br>two</p>")
    'One two'
    """
    if not text or "<" not in text or not _TAG.search(text):
        return text
    try:
        root = etree.HTML(text)
    except (etree.LxmlError, ValueError):
        return text
    return text if root is None else " ".join(" ".join(root.itertext()).split())


def gtin_of(node: Node) -> str | None:
    """Return the barcode of a product's or an offer's node."""
    if not _GTIN_NAMES.isdisjoint(node):
        values = [node[name] for name in GTINS if name in node]
        if (digits := first_valid(_each_text(values))) is not None:
            return digits
    code = node.get("productID")
    return gtin(code) if isinstance(code, str) and ":" in code else None


def _each_text(values: list[Any]) -> Iterator[str | None]:
    for value in values:
        yield from map(plain_text, value) if isinstance(value, list) else [plain_text(value)]

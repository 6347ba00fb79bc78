"""schema.org nodes, however they were written, as fields of a product.

JSON-LD, microdata and RDFa are all brought to JSON-LD's shape first: a dict with `@type` and
properties whose values are text, numbers, dicts or lists of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from typing import Any

from lxml import etree

from crawler.extract import lazy_patterns
from crawler.extract.fields import Fields
from crawler.extract.money.amounts import count, number, parse_price
from crawler.extract.money.currencies import currency_of
from crawler.extract.stock.availability import availability

Node = dict[str, Any]

PRODUCTS = frozenset(
    {"Product", "ProductGroup", "ProductModel", "IndividualProduct", "SomeProducts", "Vehicle",
     "Car", "Motorcycle"}
)  # fmt: skip
#: Properties of offers as they should be written, by what some shops write.
_PROPERTIES = {name.lower(): name for name in ("price", "lowPrice", "priceCurrency")}
_PRODUCTS = frozenset(name.lower() for name in PRODUCTS)
_SHORTEST_CODE = 4
#: No shop rates anything as high.
_MOST_RATING = 10**6
#: Things that are products where somebody offers them.
_SOLD = frozenset(
    {"Book", "Movie", "MusicAlbum", "VideoGame", "SoftwareApplication", "MobileApplication",
     "Game", "CreativeWork", "Drug", "Course", "TouristTrip", "Trip"}
)  # fmt: skip
#: Properties that lead to other products than the page's own.
_ELSEWHERE = frozenset(
    {"isRelatedTo", "isSimilarTo", "isAccessoryOrSparePartFor", "isConsumableFor", "review",
     "reviews", "isVariantOf", "hasVariant", "offers", "itemListElement", "hasOfferCatalog",
     "makesOffer", "itemOffered", "isPartOf", "subjectOf", "itemReviewed", "mentions"}
)  # fmt: skip
_GTINS = ("gtin13", "gtin", "gtin14", "gtin12", "gtin8", "ean", "ean13", "isbn", "upc")
#: Properties that may stand in a product's address.
_CODES = ("sku", "productID", "mpn", "gtin13", "gtin")
_GTIN_LENGTHS = frozenset({8, 12, 13, 14})
_ATTRIBUTES = ("color", "size", "material", "pattern", "model", "width", "height", "weight")
_MOST_NODES = 5000
_MOST_TYPES, _LONGEST_TYPE = 20, 500
#: Characters of an address in which codes are looked for, and places where one may be found.
_LONGEST_URL, _MOST_PLACES = 4096, 8
#: Variants and offers of one product that are read, and pictures; variants within variants.
_MOST_VARIANTS, _MOST_OFFERS, _MOST_IMAGES, _DEEPEST = 1000, 1000, 1000, 3
_TAG = lazy_patterns.pattern(r"<[a-zA-Z/!]")
_VOCABULARY = lazy_patterns.pattern(r"[/#:]")
_ORIGIN = lazy_patterns.pattern(r"^https?://[^/]*")
_PREFIX = lazy_patterns.pattern(r"^[a-z]+\d{0,2}:|[\s-]", re.I)
_NESTED = (dict, list)


def types(node: Node) -> list[str]:
    """A node's types without their vocabulary.

    >>> types({"@type": ["https://schema.org/Product", "schema:Car"]})
    ['Product', 'Car']
    """
    raw = node.get("@type") or node.get("type") or ()
    names = raw if isinstance(raw, list) else [raw]
    texts = [name for name in names[:_MOST_TYPES] if name and isinstance(name, str)]
    return [_bare(name[-_LONGEST_TYPE:]) for name in texts]


@lru_cache(maxsize=256)
def _bare(name: str) -> str:
    return _VOCABULARY.split(name.strip().rstrip("/"))[-1]


def is_product(node: Node) -> bool:
    """Whether a node describes something to buy."""
    found = types(node)
    return any(t in PRODUCTS or t.lower() in _PRODUCTS for t in found) or (
        any(t in _SOLD for t in found) and bool(node.get("offers"))
    )


def offered(offer: Node) -> Node | None:
    """The product that an offer offers, with that offer."""
    item = offer.get("itemOffered")
    item = item[0] if isinstance(item, list) and item else item
    if not isinstance(item, dict) or not is_product(item):
        return None
    own = {key: value for key, value in offer.items() if key != "itemOffered"}
    return {"offers": own, **item}


def is_in_address(node: Node, url: str) -> bool:
    """Whether an address names one of a node's codes.

    >>> is_in_address({"sku": "NAP-RUST"}, "https://a.example/napkin/NAP-RUST")
    True
    """
    codes = [plain(node[name]) for name in _CODES if name in node]
    long = [code for code in codes if code and len(code) >= _SHORTEST_CODE]
    if not long:
        return False
    path = _ORIGIN.sub("", url[:_LONGEST_URL])
    return any(stands_in(path, code) for code in long)


def stands_in(path: str, code: str) -> bool:
    """Whether a code stands in a path with no letter or digit beside it."""
    place = path.find(code)
    for _ in range(_MOST_PLACES):
        if place < 0:
            return False
        end = place + len(code)
        if not (path[place - 1 : place].isalnum() or path[end : end + 1].isalnum()):
            return True
        place = path.find(code, place + 1)
    return False


def walk(value: Any, *, into_lists: bool = False) -> Iterator[Node]:
    """Yield nodes from the outside in, without those which describe other products."""
    stack, seen = [value], 0
    while stack and seen < _MOST_NODES:
        here = stack.pop()
        seen += 1
        if isinstance(here, list):
            stack.extend(reversed(here))
        elif isinstance(here, dict):
            if "@type" in here:
                yield here
            for key, inner in reversed(here.items()):
                if isinstance(inner, _NESTED) and (into_lists or key not in _ELSEWHERE):
                    stack.append(inner)


def plain(value: Any) -> str | None:
    """The first text of a value: itself, its @value, its name.

    >>> plain([{"@type": "Brand", "name": " Acme &amp; Co "}])
    'Acme & Co'
    """
    if not isinstance(value, str):
        value = None if value is None else _innermost(value)
        if value is None:
            return None
    text = " ".join(value.split())
    if "&" in text:
        text = " ".join(unescape(text).split())
    return text or None


#: What templates write where nobody wrote a maker or a number.
NOTHING = frozenset(
    {"n/a", "n.a.", "-", "--", "—", "none", "null", "undefined", "na", "tbc", "tba", "no brand"}
)


def meant(*values: Any) -> str | None:
    """The first text of the first value that has one which is no placeholder.

    >>> meant("N/A", {"name": "Acme"}), meant("-")
    ('Acme', None)
    """
    texts = map(plain, values)
    return next((text for text in texts if text and text.lower() not in NOTHING), None)


def _innermost(value: Any) -> str | None:
    for _ in range(5):
        if isinstance(value, list):
            value = next((item for item in value if item not in (None, "", {})), None)
        elif isinstance(value, dict):
            value = value.get("@value", value.get("name", value.get("value")))
        else:
            break
    return None if value is None or isinstance(value, bool | dict | list) else str(value)


def first(node: Node, *names: str) -> Any:
    """The first property that has a value."""
    for name in names:
        value = node.get(name)
        if value not in (None, "", [], {}):
            return value
    return None


def many(value: Any) -> list[Any]:
    """A value as a list."""
    return value if isinstance(value, list) else [] if value is None else [value]


def without_tags(text: str | None) -> str | None:
    """Text of a description that may hold HTML.

    >>> without_tags("<p>One<br>two</p>")
    'One two'
    """
    if not text or not _TAG.search(text):
        return text
    try:
        root = etree.HTML(text)
    except (etree.LxmlError, ValueError):
        return text
    return text if root is None else " ".join(" ".join(root.itertext()).split())


def gtin(value: Any) -> str | None:
    """Digits of a GTIN, or nothing where they are none.

    >>> gtin("978-3-16-148410-0"), gtin("isbn:9783161484100"), gtin("n/a"), gtin("4006381²")
    ('9783161484100', '9783161484100', None, None)
    """
    text = plain(value)
    if text is None:
        return None
    digits = _PREFIX.sub("", text)
    return digits if digits.isdecimal() and len(digits) in _GTIN_LENGTHS else None


def has_check_digit(digits: str) -> bool:
    """Whether the last digit of a GTIN is the one that the others call for.

    >>> has_check_digit("4006381333931"), has_check_digit("400638133393")
    (True, False)
    """
    return (sum(map(int, digits[-1::-2])) + 3 * sum(map(int, digits[-2::-2]))) % 10 == 0


def product_fields(node: Node, url: str = "", depth: int = _DEEPEST) -> Fields:
    """Everything that a product's node says, in Product's field names.

    Variants of variants are read to *depth*: nodes may be variants of each other.
    """
    variants = [v for v in many(node.get("hasVariant")) if isinstance(v, dict)]
    variants = variants[:_MOST_VARIANTS] if depth > 0 else []
    chosen = _of_url(variants, url) or (variants[0] if variants else None)
    fields: Fields = {
        "name": without_tags(plain(first(node, "name", "title"))),
        "sku": meant(first(node, "sku")),
        "mpn": meant(node.get("mpn")),
        "gtin": _gtin(node),
        "brand": meant(node.get("brand"), node.get("manufacturer")),
        "description": without_tags(plain(node.get("description"))),
        "images": images(node.get("image")),
        "attributes": _attributes(node),
        "external_id": plain(first(node, "productID", "productGroupID", "product_id")),
        **_rating(node),
        **offer_fields(node.get("offers"), url),
    }
    if chosen is not None:
        inner = product_fields(chosen, url, depth - 1)
        for name in ("price", "regular_price", "currency", "availability", "images", "brand"):
            fields[name] = fields.get(name) or inner.get(name)
        if not _of_url(variants, url) and any(_is_in_stock(v) for v in variants):
            fields["availability"] = "InStock"  # one that can be had is enough
        if _of_url(variants, url):
            for name in ("sku", "gtin", "mpn"):
                fields[name] = inner.get(name) or fields[name]
        fields["variants"] = [_variant(v, url) for v in variants]
    group = node.get("isVariantOf")
    group = group[0] if isinstance(group, list) and group else group
    if isinstance(group, dict) and len(group) > 1:
        # What is told once for all variants: reviews, brand, description.
        shared = {k: v for k, v in group.items() if k not in _OF_ONE}
        fields |= {k: v for k, v in product_fields(shared).items() if fields.get(k) in _EMPTY}
    return {name: value for name, value in fields.items() if value not in _EMPTY}


def _is_in_stock(variant: Node) -> bool:
    return any(_stock(offer) == "InStock" for offer in _offers(variant.get("offers")))


_EMPTY: tuple[Any, ...] = (None, "", [], {})
#: What a group tells of itself and not of each variant.
_OF_ONE = frozenset(
    {"offers", "hasVariant", "isVariantOf", "sku", "mpn", "productGroupID", *_GTINS}
)


def _variant(node: Node, url: str) -> Fields:
    fields = product_fields({k: v for k, v in node.items() if k != "hasVariant"}, "")
    link = plain(node.get("url")) or plain(next(iter(_offers(node.get("offers"))), {}).get("url"))
    return {**fields, "url": link} if link else fields


def _of_url(nodes: list[Node], url: str) -> Node | None:
    coded = [node for node in nodes if is_in_address(node, url)]
    if len(coded) == 1:
        return coded[0]
    if "?" not in url and "#" not in url:
        return None
    for node in nodes:
        offers = _offers(node.get("offers")) if "offers" in node else []
        links = [plain(node.get("url")), plain(node.get("@id"))]
        links += [plain(offer.get("url")) for offer in offers]
        if any(link and "?" in link and link.rpartition("/")[2] in url for link in links):
            return node
    return None


def _gtin(node: Node) -> str | None:
    for name in _GTINS:
        if name in node and (found := gtin(node[name])):
            return found
    code = node.get("productID")
    return gtin(code) if isinstance(code, str) and ":" in code else None


def _attributes(node: Node) -> dict[str, str]:
    found = {}
    for name in _ATTRIBUTES:
        if name in node and (text := plain(node[name])):
            found[name] = text
    for pair in many(node.get("additionalProperty"))[:_MOST_VARIANTS]:
        if isinstance(pair, dict):
            label, value = plain(pair.get("name")), plain(pair.get("value"))
            if label and value:
                found[label] = value
    return found


def _rating(node: Node) -> Fields:
    rating = node.get("aggregateRating")
    rating = rating[0] if isinstance(rating, list) and rating else rating
    if not isinstance(rating, dict):
        return {}
    value = number(plain(rating.get("ratingValue")))
    value = value if value is not None and value < _MOST_RATING else None
    reviews = first(rating, "reviewCount", "ratingCount")
    return {
        "rating": float(value) if value is not None else None,
        "review_count": count(reviews if isinstance(reviews, int | float) else plain(reviews)),
    }


def images(value: Any) -> list[str]:
    """Every image of a value: URLs, ImageObjects, lists of both."""
    found = []
    for item in many(value)[:_MOST_IMAGES]:
        inner = first(item, "contentUrl", "url", "@id", "src") if isinstance(item, dict) else item
        found += [link.strip() for link in many(inner)[:_MOST_IMAGES] if isinstance(link, str)]
    return [link for link in dict.fromkeys(found) if link][:_MOST_IMAGES]


def _offers(value: Any) -> list[Node]:
    """The offers of a product, those inside an AggregateOffer behind it."""
    found = []
    if isinstance(value, dict) and value and all(isinstance(v, dict) for v in value.values()):
        value = list(value.values())  # a list that PHP has written with its keys
    for offer in many(value)[:_MOST_OFFERS]:
        if not isinstance(offer, dict):
            continue
        found.append(offer)
        found += [o for o in many(offer.get("offers"))[:_MOST_OFFERS] if isinstance(o, dict)]
    return found[:_MOST_OFFERS]


def offer_fields(value: Any, url: str = "") -> Fields:
    """Price, currency, availability and more of a product's offers."""
    offers = _offers(value)
    if not offers:
        return {}
    own = _of_url(offers, url)
    ordered = [own, *(o for o in offers if o is not own)] if own else offers
    priced = [(o, p) for o in ordered if (p := _price(o)).get("price") is not None]
    if own is None and "AggregateOffer" in types(ordered[0]) and "lowPrice" not in ordered[0]:
        priced.sort(key=lambda pair: pair[1]["price"])
    # An offer for nothing is a template's gap beside one that costs something.
    offer, fields = next((pair for pair in priced if pair[1]["price"]), None) or (
        priced[0] if priced else (ordered[0], {})
    )
    stock = [_stock(o) for o in [offer, *ordered]]
    fields = dict(fields)
    fields["availability"] = next((s for s in stock if s), None)
    if own is None and len(priced) > 1 and "InStock" in stock:
        fields["availability"] = "InStock"
    if "currency" not in fields:
        codes = (_currency(o) for o in ordered)
        fields["currency"] = next((code for code in codes if code), None)
    for name in ("sku", "mpn"):
        fields |= {name: plain(offer[name])} if len(offers) == 1 and offer.get(name) else {}
    code = _gtin(offer) if len(offers) == 1 else None
    if code:
        fields["gtin"] = code
    return {name: value for name, value in fields.items() if value is not None}


def _stock(offer: Node) -> str | None:
    value = first(offer, "availability", "Availability")
    return availability(plain(value) or (value.get("@id") if isinstance(value, dict) else None))


def _currency(offer: Node) -> str | None:
    text = plain(first(offer, "priceCurrency", "currency"))
    return currency_of(text) if text else None


def _price(offer: Node) -> Fields:
    """What is paid now, and what was before."""
    if "price" not in offer and "lowPrice" not in offer:
        offer = {_PROPERTIES.get(key.lower(), key): value for key, value in offer.items()}
    fields: Fields = {}
    raw = plain(first(offer, "price", "lowPrice"))
    currency = _currency(offer)
    value = number(raw, currency) if raw else None
    if value is not None and currency is None:
        money = parse_price(str(raw))
        currency = money.currency if money else None
    for spec in many(offer.get("priceSpecification"))[:_MOST_OFFERS]:
        if not isinstance(spec, dict):
            continue
        listed = number(plain(first(spec, "price", "minPrice")))
        kind = str(plain(spec.get("priceType")) or "").rpartition("/")[2]
        if kind in {"ListPrice", "StrikethroughPrice", "MSRP", "SRP", "RegularPrice"}:
            fields["regular_price"] = listed
        elif value is None and listed is not None and not spec.get("referenceQuantity"):
            value = listed
        currency = currency or _currency(spec)
    before = fields.get("regular_price")
    if before is not None and (value is None or before <= value):
        del fields["regular_price"]
        value = before if value is None else value
    fields["price"] = value
    if currency:
        fields["currency"] = currency
    return fields

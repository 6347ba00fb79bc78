"""schema.org nodes of any syntax as fields of a product.

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
from crawler.extract.fields import Fields
from crawler.extract.gtin import first_valid, gtin
from crawler.extract.money.amounts import count, number, sure_currency
from crawler.extract.money.currencies import currency_of
from crawler.extract.stock.availability import availability
from crawler.extract.words import full_matcher_by_start

Node = dict[str, Any]

PRODUCTS = frozenset(
    {"Product", "ProductGroup", "ProductModel", "IndividualProduct", "SomeProducts", "Vehicle",
     "Car", "Motorcycle"}
)  # fmt: skip
#: Properties of offers, by their names in lower case: some shops write `PriceCurrency`.
_PROPERTIES = {name.lower(): name for name in ("price", "lowPrice", "priceCurrency")}
_PRODUCTS_IN_LOWER_CASE = frozenset(name.lower() for name in PRODUCTS)
_MIN_CODE_LENGTH = 4
#: A rating from here on is an error of the template.
_MAX_RATING = 10**6
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
_GTINS = ("gtin13", "gtin", "gtin14", "gtin12", "gtin8", "ean", "ean13", "isbn", "upc")
_IDS = ("productID", "productGroupID", "product_id")
#: Properties whose value a product's address may contain.
_CODES = ("sku", "productID", "mpn", "gtin13", "gtin")
_ATTRIBUTES = ("color", "size", "material", "pattern", "model", "width", "height", "weight")
_MAX_NODES = 5000
_MAX_TYPES, _MAX_TYPE_LENGTH = 20, 500
#: Characters of an address in which codes are searched, and occurrences of one that are checked.
_MAX_URL_LENGTH, _MAX_PLACES = 4096, 8
#: Variants, offers and pictures of one product that are read, and the depth of nested variants.
_MAX_VARIANTS, _MAX_OFFERS, _MAX_IMAGES, _MAX_DEPTH = 1000, 1000, 1000, 3
_TAG = lazy_patterns.pattern(r"<[a-zA-Z/!]")
_VOCABULARY = lazy_patterns.pattern(r"[/#:]")
_NESTED = (dict, list)


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


def walk(value: Any, *, into_lists: bool = False) -> Iterator[Node]:
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
                if isinstance(inner, _NESTED) and (into_lists or key not in _TO_OTHER_PRODUCTS):
                    stack.append(inner)


def plain_text(value: Any) -> str | None:
    """Return the first text of a value: the value itself, its @value or its name.

    >>> plain_text([{"@type": "Brand", "name": " Acme &amp; Co "}])
    'Acme & Co'
    """
    if not isinstance(value, str):
        value = None if value is None else _innermost(value)
        if value is None:
            return None
    text = " ".join(value.split())
    if "&" in text:
        text = unescape(text)
        if "&" in text and ";" in text:
            text = unescape(text)  # some templates escape a value that is escaped already
        text = " ".join(text.split())
    return text or None


#: Placeholders that templates write where a maker or a number is missing.
NOTHING = frozenset(
    {"n/a", "n.a.", "-", "--", "—", "none", "null", "undefined", "na", "tbc", "tba", "no brand"}
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
        if value or value not in _EMPTY:
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


def product_fields(node: Node, url: str = "", depth: int = _MAX_DEPTH) -> Fields:
    """Return all values of a product's node, in Product's field names.

    Variants of variants are read to *depth*, because nodes may be variants of each other.
    """
    variants = [v for v in as_list(node.get("hasVariant")) if isinstance(v, dict)]
    variants = variants[:_MAX_VARIANTS] if depth > 0 else []
    page_variant = (_matching_url(variants, url) or variants[0]) if variants else None
    fields: Fields = {
        "name": without_tags(plain_text(first_value(node, "name", "title"))),
        "sku": stated_text(node.get("sku")),
        "mpn": stated_text(node.get("mpn")),
        "gtin": _gtin(node),
        "brand": stated_maker(node.get("brand"), node.get("manufacturer")),
        "description": without_tags(plain_text(node.get("description"))),
        "images": images(node.get("image")),
        "attributes": _attributes(node),
        "external_id": stated_text(first_value(node, *_IDS)),
        **_rating(node),
        **offer_fields(node.get("offers") or _own_offer(node), url),
    }
    if page_variant is not None:
        variant_fields = product_fields(page_variant, url, depth - 1)
        for name in ("price", "regular_price", "currency", "availability", "images", "brand"):
            fields[name] = fields.get(name) or variant_fields.get(name)
        if not _matching_url(variants, url):
            stocks = [_stock(offer) for v in variants for offer in _offers(v.get("offers"))]
            fields["availability"] = _best_stock(fields["availability"], stocks)
        if _matching_url(variants, url):
            for name in ("sku", "gtin", "mpn"):
                fields[name] = variant_fields.get(name) or fields[name]
        fields["variants"] = [_variant(v) for v in variants]
    group = node.get("isVariantOf")
    group = group[0] if group and isinstance(group, list) else group
    if group and isinstance(group, dict) and len(group) > 1:
        # The group's properties hold for all variants: reviews, brand, description.
        shared = {k: v for k, v in group.items() if k not in _OF_ONE_VARIANT}
        fields |= {k: v for k, v in product_fields(shared).items() if fields.get(k) in _EMPTY}
    # A Decimal's comparison with an empty value is slow, and true values are never empty.
    return {name: value for name, value in fields.items() if value or value not in _EMPTY}


def _own_offer(node: Node) -> Node | None:
    """Return a product as its own offer, because some themes write its price without an Offer."""
    return node if "price" in node or "availability" in node else None


def _best_stock(stock: str | None, stocks: list[str | None]) -> str | None:
    """Return the availability of several variants: one in stock, or that can be ordered, suffices.

    >>> _best_stock("OutOfStock", ["OutOfStock", "PreOrder"]), _best_stock("PreOrder", ["InStock"])
    ('PreOrder', 'InStock')
    """
    if "InStock" in stocks or stock not in {"OutOfStock", "SoldOut"}:
        return "InStock" if "InStock" in stocks else stock
    return next((best for best in ("PreOrder", "BackOrder") if best in stocks), stock)


_EMPTY: tuple[Any, ...] = (None, "", [], {})
#: Properties of a group that do not hold for each of its variants.
_OF_ONE_VARIANT = frozenset(
    {"offers", "hasVariant", "isVariantOf", "sku", "mpn", "productGroupID", *_GTINS}
)


def _variant(node: Node) -> Fields:
    fields = product_fields({k: v for k, v in node.items() if k != "hasVariant"}, "")
    link = plain_text(node.get("url")) or plain_text(
        next(iter(_offers(node.get("offers"))), {}).get("url")
    )
    return {**fields, "url": link} if link else fields


def _matching_url(nodes: list[Node], url: str) -> Node | None:
    """Return the node whose code or link the page's address contains."""
    by_code = [node for node in nodes if is_in_address(node, url)]
    if len(by_code) == 1:
        return by_code[0]
    if "?" not in url and "#" not in url:
        return None
    for node in nodes:
        offers = _offers(node.get("offers")) if "offers" in node else []
        links = [plain_text(node.get("url")), plain_text(node.get("@id"))]
        links += [plain_text(offer.get("url")) for offer in offers]
        if any(link and "?" in link and link.rpartition("/")[2] in url for link in links):
            return node
    return None


def _gtin(node: Node) -> str | None:
    values = [node[name] for name in _GTINS if name in node]
    if values and (digits := first_valid(_each_text(values))) is not None:
        return digits
    code = node.get("productID")
    return gtin(code) if isinstance(code, str) and ":" in code else None


def _each_text(values: list[Any]) -> Iterator[str | None]:
    for value in values:
        yield from map(plain_text, value) if isinstance(value, list) else [plain_text(value)]


def _attributes(node: Node) -> dict[str, str]:
    attributes = {}
    for name in _ATTRIBUTES:
        if name in node and (text := plain_text(node[name])):
            attributes[name] = text
    for pair in as_list(node.get("additionalProperty"))[:_MAX_VARIANTS]:
        if isinstance(pair, dict):
            label, value = plain_text(pair.get("name")), plain_text(pair.get("value"))
            if label and value:
                attributes[label] = value
    return attributes


def _rating(node: Node) -> Fields:
    rating = node.get("aggregateRating")
    rating = rating[0] if isinstance(rating, list) and rating else rating
    if not isinstance(rating, dict):
        return {}
    value = number(plain_text(rating.get("ratingValue")))
    value = value if value is not None and value < _MAX_RATING else None
    reviews = first_value(rating, "reviewCount", "ratingCount")
    return {
        "rating": float(value) if value is not None else None,
        "review_count": count(reviews if isinstance(reviews, int | float) else plain_text(reviews)),
    }


def images(value: Any) -> list[str]:
    """Return the addresses of all images of a value: URLs, ImageObjects, lists of both."""
    links = []
    for item in as_list(value)[:_MAX_IMAGES]:
        inner = (
            first_value(item, "contentUrl", "url", "@id", "src") if isinstance(item, dict) else item
        )
        links += [link.strip() for link in as_list(inner)[:_MAX_IMAGES] if isinstance(link, str)]
    return [link for link in dict.fromkeys(links) if link][:_MAX_IMAGES]


def _offers(value: Any) -> list[Node]:
    """Return the offers of a product; those of an AggregateOffer follow it."""
    offers = []
    if isinstance(value, dict) and value and all(isinstance(v, dict) for v in value.values()):
        value = list(value.values())  # a list that PHP wrote as a mapping by index
    for offer in as_list(value)[:_MAX_OFFERS]:
        if not isinstance(offer, dict):
            continue
        offers.append(offer)
        if "offers" in offer:
            offers += _inner_offers(offer)
    if len(offers) > 1:
        offers = [o for o in offers if _sells_one(o)] or offers
    return offers[:_MAX_OFFERS]


def _inner_offers(offer: Node) -> list[Node]:
    """Return the offers that an AggregateOffer holds, with its currency where they have none."""
    inner = [o for o in as_list(offer["offers"])[:_MAX_OFFERS] if isinstance(o, dict)]
    if (code := _currency(offer)) is None:
        return inner
    return [o if _currency(o) else {**o, "priceCurrency": code} for o in inner]


def _sells_one(offer: Node) -> bool:
    """Whether an offer is one to buy, and of one piece for everyone."""
    function = str(plain_text(offer.get("businessFunction")))
    return _is_for_all(offer) and not function.endswith("LeaseOut")


def _is_for_all(node: Node) -> bool:
    """Whether an offer or price is not that of members, or of a larger quantity."""
    if "validForMemberTier" in node:
        return False
    quantity = node.get("eligibleQuantity")
    lowest = number(plain_text(quantity.get("minValue"))) if isinstance(quantity, dict) else None
    return lowest is None or lowest <= 1


def offer_fields(value: Any, url: str = "") -> Fields:
    """Return price, currency, availability and codes of a product's offers."""
    offers = _offers(value)
    if not offers:
        return {}
    page_offer = _matching_url(offers, url)
    ordered = [page_offer, *(o for o in offers if o is not page_offer)] if page_offer else offers
    priced = [(o, p) for o in ordered if (p := _price(o)).get("price") is not None]
    if (
        page_offer is None
        and "AggregateOffer" in types(ordered[0])
        and "lowPrice" not in ordered[0]
    ):
        priced.sort(key=lambda pair: pair[1]["price"])
    # Beside an offer with a price, an offer with the price 0 is a template's gap.
    offer, fields = next((pair for pair in priced if pair[1]["price"]), None) or (
        priced[0] if priced else (ordered[0], {})
    )
    stock = [_stock(o) for o in (offer, *(o for o in ordered if o is not offer))]
    fields = dict(fields)
    fields["availability"] = next((s for s in stock if s), None)
    if page_offer is None and len(priced) > 1:
        best_stock = _best_stock(fields["availability"], stock)
        if best_stock == "InStock" and stock[0] == "OutOfStock":
            # A variant that can be had may be reduced.
            lower = (o for o in priced if 0 < o[1]["price"] < fields["price"])
            fields = next((dict(p) for o, p in lower if _stock(o) == "InStock"), fields)
        fields["availability"] = best_stock
    if "currency" not in fields:
        codes = (_currency(o) for o in ordered)
        fields["currency"] = next((code for code in codes if code), None)
    for name in ("sku", "mpn"):
        fields |= {name: stated_text(offer[name])} if len(offers) == 1 and offer.get(name) else {}
    code = _gtin(offer) if len(offers) == 1 else None
    if code:
        fields["gtin"] = code
    return {name: value for name, value in fields.items() if value is not None}


def _stock(offer: Node) -> str | None:
    value = first_value(offer, "availability", "Availability")
    if isinstance(value, dict):
        return availability(plain_text(value) or value.get("@id"))
    return availability(value if isinstance(value, bool) else plain_text(value))


def _currency(offer: Node) -> str | None:
    text = plain_text(first_value(offer, "priceCurrency", "currency"))
    return currency_of(text) if text else None


#: Kinds of a price specification: the price before, and prices that no customer pays.
_REGULAR_KINDS = frozenset({"ListPrice", "StrikethroughPrice", "MSRP", "SRP", "RegularPrice"})
_UNPAID_KINDS = frozenset({"MinimumAdvertisedPrice", "InvoicePrice"})
#: Types of price specifications for the costs of an order.
_CHARGES = frozenset({"DeliveryChargeSpecification", "PaymentChargeSpecification"})


def _kind(spec: Node) -> str:
    return str(plain_text(spec.get("priceType")) or "").rpartition("/")[2]


def _is_price(spec: Any) -> bool:
    """Whether a price specification is of one piece for everyone, and of no charge."""
    if not isinstance(spec, dict) or not _CHARGES.isdisjoint(types(spec)):
        return False
    return _kind(spec) not in _UNPAID_KINDS and _is_for_all(spec)


def _price(offer: Node) -> Fields:
    """Return an offer's price, regular price and currency."""
    if "price" not in offer and "lowPrice" not in offer:
        offer = {_PROPERTIES.get(key.lower(), key): value for key, value in offer.items()}
    fields: Fields = {}
    raw = plain_text(first_value(offer, "price", "lowPrice"))
    currency, specs = _currency(offer), []
    if "priceSpecification" in offer:
        specs = [*filter(_is_price, as_list(offer["priceSpecification"])[:_MAX_OFFERS])]
        currency = currency or next(filter(None, map(_currency, specs)), None)
    value = number(raw, currency) if raw else None
    if value is not None and currency is None:
        currency = sure_currency(str(raw))
    for spec in (s for s in specs if _currency(s) in {currency, None}):
        listed = number(plain_text(first_value(spec, "price", "minPrice")), currency)
        kind = _kind(spec)
        if kind in _REGULAR_KINDS:
            fields["regular_price"] = listed
        elif value is None and listed is not None and not spec.get("referenceQuantity"):
            value = listed
    regular = fields.get("regular_price")
    if regular is not None and (value is None or regular <= value):
        del fields["regular_price"]
        value = regular if value is None else value
    fields["price"] = value
    if currency:
        fields["currency"] = currency
    return fields

"""schema.org nodes of a product as its fields, in Product's names."""

from __future__ import annotations

from typing import Any

from crawler.extract.fields import Fields
from crawler.extract.money.amounts import number
from crawler.extract.money.counts import count
from crawler.extract.structured.nodes import (
    EMPTY,
    GTINS,
    Node,
    as_list,
    first_value,
    gtin_of,
    plain_text,
    stated_maker,
    stated_text,
    without_tags,
)
from crawler.extract.structured.offers import (
    best_stock,
    matching_url,
    offer_fields,
    offers_of,
    stock_of,
)

#: A rating from here on is an error of the template.
_MAX_RATING = 10**6
_IDS = ("productID", "productGroupID", "product_id")
_ATTRIBUTES = ("color", "size", "material", "pattern", "model", "width", "height", "weight")
#: Variants and pictures of one product that are read, and the depth of nested variants.
_MAX_VARIANTS, _MAX_IMAGES, _MAX_DEPTH = 1000, 1000, 3


def product_fields(node: Node, url: str = "", depth: int = _MAX_DEPTH) -> Fields:
    """Return all values of a product's node, in Product's field names.

    Variants of variants are read to *depth*, because nodes may be variants of each other.
    """
    variants = [v for v in as_list(node.get("hasVariant")) if isinstance(v, dict)]
    variants = variants[:_MAX_VARIANTS] if depth > 0 else []
    page_variant = (matching_url(variants, url) or variants[0]) if variants else None
    sku = stated_text(node.get("sku"))
    fields: Fields = {
        "name": without_tags(plain_text(first_value(node, "name", "title"))),
        "sku": sku,
        "mpn": stated_text(node.get("mpn")),
        "gtin": gtin_of(node),
        "brand": stated_maker(node.get("brand"), node.get("manufacturer")),
        "description": without_tags(plain_text(node.get("description"))),
        "images": images(node.get("image")),
        "attributes": _attributes(node),
        "external_id": stated_text(first_value(node, *_IDS)),
        **_rating(node),
        **offer_fields(node.get("offers") or _own_offer(node), url, sku),
    }
    if page_variant is not None:
        variant_fields = product_fields(page_variant, url, depth - 1)
        for name in ("price", "regular_price", "currency", "availability", "images", "brand"):
            fields[name] = fields.get(name) or variant_fields.get(name)
        if not matching_url(variants, url):
            stocks = [stock_of(offer) for v in variants for offer in offers_of(v.get("offers"))]
            fields["availability"] = best_stock(fields["availability"], stocks)
        if matching_url(variants, url):
            for name in ("sku", "gtin", "mpn"):
                fields[name] = variant_fields.get(name) or fields[name]
        fields["variants"] = [_variant(v) for v in variants]
    group = node.get("isVariantOf")
    group = group[0] if group and isinstance(group, list) else group
    if group and isinstance(group, dict) and len(group) > 1:
        # The group's properties hold for all variants: reviews, brand, description.
        shared = {k: v for k, v in group.items() if k not in _OF_ONE_VARIANT}
        fields |= {k: v for k, v in product_fields(shared).items() if fields.get(k) in EMPTY}
    # A Decimal's comparison with an empty value is slow, and true values are never empty.
    return {name: value for name, value in fields.items() if value or value not in EMPTY}


def _own_offer(node: Node) -> Node | None:
    """Return a product as its own offer, because some themes write its price without an Offer."""
    return node if "price" in node or "availability" in node else None


#: Properties of a group that do not hold for each of its variants.
_OF_ONE_VARIANT = frozenset(
    {"offers", "hasVariant", "isVariantOf", "sku", "mpn", "productGroupID", *GTINS}
)


def _variant(node: Node) -> Fields:
    fields = product_fields({k: v for k, v in node.items() if k != "hasVariant"}, "")
    link = plain_text(node.get("url")) or plain_text(
        next(iter(offers_of(node.get("offers"))), {}).get("url")
    )
    return {**fields, "url": link} if link else fields


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
    # Without a review, templates write 0.
    value = value if value is not None and 0 < value < _MAX_RATING else None
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
            first_value(item, "contentUrl", "contentURL", "url", "@id", "src")
            if isinstance(item, dict)
            else item
        )
        links += [link.strip() for link in as_list(inner)[:_MAX_IMAGES] if isinstance(link, str)]
    return [link for link in dict.fromkeys(links) if link][:_MAX_IMAGES]

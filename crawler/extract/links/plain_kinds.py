"""What a link leads to by its address and its place alone: a product, a listing, another page. Pure."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from crawler.extract.address_kinds import looks_like_listing
from crawler.extract.links.contexts import CRUMBS, FOOT, NAV, PRODUCT
from crawler.extract.links.pagination import Address
from crawler.extract.links.variants import reads_product
from crawler.extract.page.page import Element

_HEADINGS = frozenset({"h2", "h3", "h4", "h5"})
_TILE_TAGS = _HEADINGS | {"img", "picture"}
_MAX_TILE_CHILDREN = 100
_reads_listing = lru_cache(maxsize=1024)(looks_like_listing)


def plain_kind(
    element: Element, context: int, target: Address
) -> tuple[Literal["product", "listing", "other"], str]:
    """Return a link's kind and the reason; *context* are the flags of the boxes around it."""
    path = target[1]
    if target[2]:
        path += "?" + "&".join(f"{name}={value}" for name, value in target[2])
    if reads_product(path):
        return "product", "its address reads like a product's"
    if context & PRODUCT and not context & (NAV | CRUMBS | FOOT):
        tags = {child.tag for child in element[:_MAX_TILE_CHILDREN]}
        if not tags & _TILE_TAGS and len(element):  # a box around the picture
            tags = {child.tag for child in element[0][:_MAX_TILE_CHILDREN]}
        parent = element.getparent()
        if tags & _TILE_TAGS or (parent is not None and parent.tag in _HEADINGS):
            return "product", "it is a product's tile"
    if _reads_listing(path):
        return "listing", "its address reads like a listing's"
    if context & (NAV | CRUMBS) and not context & FOOT:
        return "listing", "it stands in a menu"
    return "other", "it is on the site"

"""URL shapes of each site's products, by which a page without a price is recognised as a product.

The page of a sold product may show neither a price nor a known word about stock. If a shop has only
products at `/items/<number>`, a page with such an address is a product nevertheless.

Pages with such addresses that show no product, but all the same, are a refusal or an error with
status 200, or what the shop shows for products that are gone. They are asked for once more.
"""

from __future__ import annotations

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.links.dead_ends import split_path
from scrapy_seine.attrs_bases import Record

#: Products of a shape, and products per other page of it, from which on its other pages count as
#: products.
_MIN_PRODUCTS, _MIN_PRODUCT_RATIO = 10, 2
#: Sites, shapes of one site, and pages of a shape that wait until it counts as products'.
_MAX_SITES, _MAX_SHAPES, _MAX_WAITING = 500, 100, 50
#: Products of a shape from which on its pages that show the same are asked for once more: one of
#: several workers sees few of a small shop's. What pages show is remembered so many times.
_FEW_PRODUCTS, _MAX_SHOWN = 3, 50
#: Parts of an address above a product's name with a category: "", the shop's folder, the category.
_MIN_FOLDERS = 3
_WORD_SEGMENT = lazy_patterns.pattern(r"[a-z_]{1,20}(?:\.\w{2,5})?")
_ROUTE_VALUE = lazy_patterns.pattern(r"[a-z_/-]{2,40}")


def shape_of(url: str) -> str | None:
    """Return an address with its variable parts as wildcards; None if it has no fixed part.

    >>> shape_of("https://a.example/items/ac104.htm"), shape_of("https://a.example/p/12-red-lamp")
    ('/items/a9.htm', '/p/9a')
    >>> shape_of("https://a.example/?route=product/product&product_id=4")
    '/?product_id&route=product/product'
    >>> shape_of("https://a.example/red-lamp"), shape_of("https://a.example/about")
    (None, None)
    """
    parts, segments = split_path(url)
    words = [
        segment if _WORD_SEGMENT.fullmatch(segment) else _segment_shape(segment)
        for segment in segments
    ]
    path = "/".join(words)
    fixed_segments = sum(map(str.__eq__, words, segments))
    if not parts.query:
        # A name alone is no shape, because `/red-lamp` and `/terms-of-use` would share it.
        return (
            f"/{path}"
            if fixed_segments < len(segments) and (fixed_segments or "9" in path)
            else None
        )
    pairs = sorted(pair.partition("=")[::2] for pair in parts.query.split("&") if pair)
    query = "&".join(
        f"{name}={value}" if _ROUTE_VALUE.fullmatch(value) else name for name, value in pairs
    )
    has_variable = fixed_segments < len(segments) or any(
        not _ROUTE_VALUE.fullmatch(value) for _, value in pairs
    )
    has_fixed = fixed_segments or "9" in path or pairs
    return f"/{path}{'?' * bool(query)}{query}" if has_variable and has_fixed else None


def _segment_shape(segment: str) -> str:
    """Return a segment's first and last sign as `9` or `a`, and its file extension."""
    stem, dot, extension = segment.rpartition(".")
    if not dot or not extension.isalnum() or len(extension) > len("shtml"):
        stem, dot, extension = segment, "", ""
    start, end = (("9" if sign.isdigit() else "a") for sign in (stem[:1], stem[-1:]))
    return (start if start == end else start + end) + dot + extension


@attrs.define(eq=False, repr=False)
class _Shape(Record):
    products: int = 0
    non_products: int = 0
    waiting: list[str] = attrs.Factory(list)
    """Pages that may be products, read before the shape had enough products."""
    alike: dict[str, list[str]] = attrs.Factory(dict)
    """Pages without a product, by what they show; an empty list: several were asked for again."""

    @property
    def is_product_address(self) -> bool:
        return (
            self.products >= _MIN_PRODUCTS
            and self.products >= _MIN_PRODUCT_RATIO * self.non_products
        )


@attrs.define(eq=False, repr=False)
class Addresses(Record):
    """Counts products and other pages by site and URL shape."""

    _sites: dict[str, dict[str, _Shape]] = attrs.Factory(dict)

    def note(self, site_id: str, url: str) -> list[str]:
        """Count a product page; return waiting pages, once, if their shape is now products'."""
        found = list[str]()
        for shape in (self._shape(site_id, url), self._shape_of_categories(site_id, url)):
            if shape is None:
                continue
            shape.products += 1
            if shape.waiting and shape.is_product_address:
                found += shape.waiting
                shape.waiting = []
        return found

    def may_be_sold(self, site_id: str, url: str) -> bool:
        """Whether a sold thing's page has a product's address in one of the shop's categories.

        `/shop/syrup/amber` counts with `/shop/butter/dark`, because a small shop has few products
        in each. Otherwise the page waits.
        """
        shape = self._shape_of_categories(site_id, url)
        if shape is None or shape.is_product_address:
            return shape is not None
        if len(shape.waiting) < _MAX_WAITING:
            shape.waiting.append(url)
        return False

    def is_product_address(self, site_id: str, url: str) -> bool:
        """Whether a page without a product has a product's URL shape; otherwise count the page."""
        shape = self._shape(site_id, url)
        if shape is None:
            return False
        if shape.is_product_address:
            return True
        shape.non_products += 1
        if len(shape.waiting) < _MAX_WAITING:
            shape.waiting.append(url)
        return False

    def note_empty(self, site_id: str, url: str, shown: str) -> list[str]:
        """Note what a page without a product shows; return pages as `take_alike` does."""
        shape = self._shape(site_id, url)
        if shape is None or (shown not in shape.alike and len(shape.alike) >= _MAX_SHOWN):
            return []
        is_repeated = shape.alike.get(shown) == []
        pages = shape.alike.setdefault(shown, [])
        if url not in pages and len(pages) < _MAX_WAITING:
            pages.append(url)
        return self._taken(shape, shown if is_repeated else "")

    def take_alike(self, site_id: str, url: str) -> list[str]:
        """Return the pages of a product's address shape that show the same without a product, once."""
        shape = self._shape(site_id, url)
        return self._taken(shape) if shape is not None else []

    @staticmethod
    def _taken(shape: _Shape, repeated: str = "") -> list[str]:
        if shape.products < _FEW_PRODUCTS:
            return []
        taken = list[str]()
        for shown, pages in shape.alike.items():
            if len(pages) > 1 or shown == repeated:
                taken += pages
                shape.alike[shown] = []
        return taken

    def _shape_of_categories(self, site_id: str, url: str) -> _Shape | None:
        """Return the shape of the pages of all categories: `/shop/*/a`."""
        above, _, last = (shape_of(url) or "").rpartition("/")
        folders = above.split("/")
        if len(folders) < _MIN_FOLDERS or "?" in last or not folders[-1].isalpha():
            return None
        return self._counted(site_id, "/".join((*folders[:-1], "*", last)))

    def _shape(self, site_id: str, url: str) -> _Shape | None:
        shape_key = shape_of(url)
        return None if shape_key is None else self._counted(site_id, shape_key)

    def _counted(self, site_id: str, shape_key: str) -> _Shape:
        shapes = self._sites[site_id] = self._sites.pop(site_id, {})
        if len(self._sites) > _MAX_SITES:
            self._sites.pop(next(iter(self._sites)))  # the site that was read longest ago
        if shape_key not in shapes and len(shapes) >= _MAX_SHAPES:
            shapes.pop(min(shapes, key=lambda key: shapes[key].products))
        return shapes.setdefault(shape_key, _Shape())

"""URL shapes whose pages are dead ends: a form for each product, a print view, a size table.

A page is useful if it shows a product, lists products, or has a link that other pages of its shape
do not have; links back to the page's own product or category, and to the next number's page, do not count. After twenty pages of a
shape without a useful one, further pages of the shape are not fetched; after ten, where each page
belongs to a product, or is an article. Pure; memory is bounded.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from urllib.parse import SplitResult, urlsplit

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import (
    is_reading,
    looks_like_listing,
    looks_like_product,
    without_origin,
)
from crawler.extract.links.choice import Link
from crawler.extract.links.fingerprints import url_checksum
from scrapy_seine.attrs_bases import Record

#: Dead-end pages of a shape, without a useful one, after which the shape is not fetched any more.
DEAD_END_PAGES = 20
#: As many where each page belongs to one product, or is an article.
TIED_PAGES = 10
#: Pages of a shape that are a variant of the product above them, after which it is a dead end.
VARIANT_PAGES = 5
#: Shapes per site, sites, and links per page that are compared.
_MAX_SHAPES, _MAX_SITES, _MAX_LINKS = 200, 500, 400
_ORIGIN_SLASHES = 2
_DIGITS = lazy_patterns.pattern(r"\d+")
#: A number in an address, and how much longer the next number's address may be (`w9`, `w10`).
_INTEGER, _LONGER = lazy_patterns.pattern(r"-?\d{1,9}"), 2
#: A path segment that is the site's own word and no product's name: `ask`, `form.php`. As the last
#: segment behind a name it may have several words: `red-lamp/ask-a-question`.
_WORD_SEGMENT = lazy_patterns.pattern(r"[a-z_]{1,20}(?:\.\w{2,5})?")
_WORDS_SEGMENT = lazy_patterns.pattern(r"[a-z_-]{2,30}(?:\.\w{2,5})?")
_NAME = lazy_patterns.pattern(r"[\w-]++")


def split_path(url: str) -> tuple[SplitResult, list[str]]:
    """Return the split URL and its path's segments, both empty if the URL is invalid.

    >>> split_path("https://a.example//p/red-lamp/")[1], split_path("https://[")[1]
    (['p', 'red-lamp'], [])
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    return parts, [step for step in parts.path.split("/") if step]


def shape_of(url: str) -> str | None:
    """Return a URL with its variable parts as `*`; None if no fixed word remains.

    >>> shape_of("https://a.example/ask/1204"), shape_of("https://a.example/p/red-lamp-12/review")
    ('a.example/ask/*', 'a.example/p/*/review')
    >>> shape_of("https://a.example/red-lamp/ask-us"), shape_of("https://a.example/a-b/c-d-7")
    ('a.example/*/ask-us', None)
    >>> shape_of("https://a.example/form.php?product=12&lang=en")
    'a.example/form.php?lang&product'
    >>> shape_of("https://a.example/red-lamp-12"), shape_of("https://a.example/ask")
    (None, None)
    """
    parts, segments = split_path(url)
    words = [step if _WORD_SEGMENT.fullmatch(step) else "*" for step in segments]
    if words[-2:] == ["*", "*"] and _WORDS_SEGMENT.fullmatch(segments[-1]):
        words[-1] = segments[-1]
    names = sorted({pair.partition("=")[0] for pair in parts.query.split("&") if pair})
    if all(word == "*" for word in words) or ("*" not in words and not names):
        return None
    return f"{parts.netloc}/{'/'.join(words)}{'?' * bool(names)}{'&'.join(names)}"


@attrs.define(eq=False, repr=False)
class _Shape(Record):
    """The pages of a shape that none of them made useful yet."""

    dead_pages: int = 0
    """Consecutive pages without a new link."""
    links: set[int] = attrs.Factory(set)
    """Checksums of the URLs that its pages link to."""
    first_page: tuple[str, Sequence[Link]] | None = None
    """URL and links of the first page, kept until the second page shows which links both share."""


@attrs.define(eq=False, repr=False)
class _Site(Record):
    """One site's shapes: each page of a product is looked up here, so that no list is searched."""

    useful: set[str] = attrs.Factory(set)
    counted: dict[str, _Shape] = attrs.Factory(dict)
    """Shapes whose pages were dead ends so far, the oldest first."""
    has_dead_end: bool = False
    """Whether a page was a dead end."""

    def shape(self, name: str) -> _Shape:
        """Return the counts of a shape that is not useful."""
        if name in self.counted or not self._has_room():
            # Without room, the count is forgotten at once, so that nothing is left out.
            return self.counted.get(name) or _Shape()
        return self.counted.setdefault(name, _Shape())

    def mark_useful(self, name: str) -> None:
        """Mark a shape as useful, for good."""
        if name in self.useful:
            return
        if self.counted.pop(name, None) is not None or self._has_room():
            self.useful.add(name)

    def _has_room(self) -> bool:
        """Whether another shape may be kept, for which the oldest counted one is forgotten."""
        if len(self.useful) + len(self.counted) < _MAX_SHAPES:
            return True
        for oldest in self.counted:
            del self.counted[oldest]
            return True
        return False


@attrs.define(eq=False, repr=False)
class DeadEnds(Record):
    """Counts, for each site and URL shape, the pages that are dead ends."""

    _sites: dict[str, _Site] = attrs.Factory(dict)
    shapes: set[str] = attrs.Factory(set)
    """Shapes whose pages are not fetched any more."""
    _changes: dict[str, tuple[str, int]] = attrs.Factory(dict)
    """Shapes that became dead ends, or useful again, since `take_changes`: site and pages."""

    def note(
        self,
        site_id: str,
        url: str,
        links: Sequence[Link],
        *,
        is_part: bool = False,
        is_variant: bool = False,
    ) -> str | None:
        """Count a page that is no product and no listing; return its shape once it is a dead end.

        *links* are all links of the page. *is_part*: it is a part of a product's page, whose address
        may read like a product's own. *is_variant*: it is a part whose product has all of it.
        """
        shape = None if is_catalogue_address(url) and not is_part else shape_of(url)
        if shape is not None and is_variant:
            shape = _shape_below(url) or shape
        if shape is None or shape in self.shapes:
            return None
        site = self._site(site_id)
        if shape in site.useful:
            return None
        counts = site.shape(shape)
        # A week's page leads to the next week's for ever.
        links = [link for link in links[:_MAX_LINKS] if not _is_neighbour(link.url, url)]
        if is_reading(without_origin(url)):
            links = [link for link in links if not is_reading(without_origin(link.url))]
        is_first = not counts.dead_pages
        site.has_dead_end = True
        counts.dead_pages += _weight(url, links, is_variant=is_variant)
        is_useful = (not is_first and _has_new_link(url, links, counts.links)) or (
            counts.first_page is not None
            and _has_new_link(*counts.first_page, {url_checksum(link.url) for link in links})
        )
        counts.first_page = (url, links) if is_first else None
        if is_useful:
            site.mark_useful(shape)
            return None
        counts.links.update(url_checksum(link.url) for link in links)
        if counts.dead_pages < DEAD_END_PAGES:
            return None
        self.shapes.add(shape)
        self._changes[shape] = site_id, counts.dead_pages
        counts.links.clear()
        return shape

    def note_useful(self, site_id: str, url: str) -> None:
        """Mark the shape of a product page or a listing as useful, for good."""
        site = self._sites.get(site_id)
        # Of a site without a dead end, the colours of products do not vouch for all pages below them.
        is_counted = site is not None and site.has_dead_end
        for shape in (shape_of(url), _shape_below(url) if is_counted else None):
            if shape is None:
                continue
            self._site(site_id).mark_useful(shape)
            if shape in self.shapes:
                self.shapes.discard(shape)
                self._changes[shape] = site_id, 0

    def take_changes(self) -> dict[str, tuple[str, int]]:
        """Return changed shapes, once: the site and its dead-end pages; 0: fetched again."""
        changes, self._changes = self._changes, {}
        return changes

    def is_dead_end(self, url: str) -> bool:
        """Whether a URL has a shape that is a dead end."""
        return shape_of(url) in self.shapes or _shape_below(url) in self.shapes

    def _site(self, site_id: str) -> _Site:
        site = self._sites[site_id] = self._sites.pop(site_id, _Site())
        if len(self._sites) > _MAX_SITES:
            self._sites.pop(next(iter(self._sites)))  # the site that was read longest ago
        return site


def _shape_below(url: str) -> str | None:
    """Return the shape of all pages below a page of a URL's parent's shape; None if that has none.

    >>> _shape_below("https://a.example/p/red-lamp-12/blue"), _shape_below("https://a.example/p/red-lamp-12")
    ('a.example/p/*/+', None)
    """
    above = shape_of(url.partition("?")[0].rstrip("/").rpartition("/")[0])
    return f"{above}/+" if above else None


def _weight(url: str, links: Sequence[Link], *, is_variant: bool) -> int:
    """Return for how many of `DEAD_END_PAGES` a page counts."""
    if is_variant:
        return DEAD_END_PAGES // VARIANT_PAGES
    is_tied = any(link.kind == "product" and _leads_back(link, url) for link in links)
    return DEAD_END_PAGES // TIED_PAGES if is_tied or is_reading(without_origin(url)) else 1


def is_below(url: str, canonical: str | None) -> bool:
    """Whether a page names the page above it as its own address: a colour of a product.

    >>> is_below("https://a.example/p/lamp/red", "https://a.example/p/lamp")
    True
    >>> is_below("https://a.example/p/lamp/?ref=7", "https://a.example/p/lamp/")
    False
    """
    above, own = (canonical or "").rstrip("/"), url.partition("?")[0].rstrip("/")
    return above.count("/") > _ORIGIN_SLASHES and own.startswith(f"{above}/")


def is_catalogue_address(url: str) -> bool:
    """Whether a URL reads like a product's or a listing's own page, not like a page below it.

    Such URLs are fetched always, because a shop under maintenance answers all of them with one page.

    >>> is_catalogue_address("https://a.example/p/lamp-12"), is_catalogue_address("https://a.example/p/lamp-12/review")
    (True, False)
    """
    path = f"/{url.partition('://')[2].partition('/')[2]}"
    segments = [step for step in path.partition("?")[0].split("/") if step]
    is_below = len(segments) > 2 and _WORDS_SEGMENT.fullmatch(segments[-1]) is not None
    return not is_below and (looks_like_product(path) or looks_like_listing(path))


def _is_neighbour(url: str, page: str) -> bool:
    """Whether two addresses differ in numbers alone, the first one by one: a week's and the next's.

    >>> _is_neighbour("https://a.example/diary/2026/w14/", "https://a.example/diary/2026/w13/")
    True
    >>> _is_neighbour("https://a.example/diary/2027/w1/", "https://a.example/diary/2026/w52/")
    True
    >>> _is_neighbour("https://a.example/c/14", "https://a.example/c/12")
    False
    """
    if abs(len(url) - len(page)) > _LONGER or _INTEGER.split(url) != _INTEGER.split(page):
        return False
    pairs = zip(_INTEGER.findall(url), _INTEGER.findall(page), strict=True)
    steps = (abs(int(one) - int(other)) for one, other in pairs if one != other)
    return next(steps, 0) == 1


def _has_new_link(url: str, links: Sequence[Link], known_links: Container[int]) -> bool:
    """Whether a page has an unknown link that does not lead back to the page's own product."""
    return any(
        url_checksum(link.url) not in known_links and not _leads_back(link, url) for link in links
    )


def _leads_back(link: Link, page: str) -> bool:
    """Whether a link leads back to the product or category that a page belongs to.

    Its path is a prefix of the page's, or it is a product whose number or name the page's URL has.

    >>> lamp = Link("https://a.example/p/lamp-12", "product", "")
    >>> _leads_back(lamp, "https://a.example/ask?product=12")
    True
    >>> drills = Link("https://a.example/tools/drills", "listing", "")
    >>> _leads_back(drills, "https://a.example/tools")
    False
    """
    target, origin = link.url.partition("?")[0].rstrip("/"), page.partition("?")[0].rstrip("/")
    if target == origin or origin.startswith(f"{target}/"):
        return True
    return link.kind == "product" and not _numbers_and_names(page).isdisjoint(
        _numbers_and_names(link.url)
    )


def _numbers_and_names(url: str) -> set[str]:
    """Return the numbers and hyphenated names in a URL, which tie a page to its product.

    >>> sorted(_numbers_and_names("https://a.example/p/red-lamp-12?id=7"))
    ['12', '7', 'red-lamp-12']
    """
    tail = url.partition("://")[2].partition("/")[2]
    names = (name.strip("-") for name in _NAME.findall(tail))
    return {
        key
        for name in names
        for key in (name, *_DIGITS.findall(name))
        if "-" in name or _DIGITS.search(name)
    }

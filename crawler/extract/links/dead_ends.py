"""Shapes of addresses whose pages lead nowhere: a form for each product, a print view, a size table.

A page leads somewhere if it shows a product, lists products, or has a link that other pages of its
shape do not have, the way back to what it belongs to left out. After twenty pages of a shape, not
one of which led anywhere, further ones are not fetched. Pure, and bounded.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from urllib.parse import SplitResult, urlsplit

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import looks_like_listing, looks_like_product
from crawler.extract.links.choice import Link, mark_of
from scrapy_seine.records import Record

#: Pages of a shape that led nowhere before it is left out.
ENOUGH = 20
#: Shapes of a site that are counted at once, sites, and links of a page that are compared.
_MOST_SHAPES, _MOST_SITES, _MOST_LINKS = 200, 500, 400
_DIGITS = lazy_patterns.pattern(r"\d+")
#: A part of an address that is a word of the site's and no product's name: `ask`, `form.php`; at the
#: end, behind a name, one of several words as well: `red-lamp/ask-a-question`.
_WORD = lazy_patterns.pattern(r"[a-z_]{1,20}(?:\.\w{2,5})?")
_WORDS = lazy_patterns.pattern(r"[a-z_-]{2,30}(?:\.\w{2,5})?")
_NAME = lazy_patterns.pattern(r"[\w-]++")


def steps_of(url: str) -> tuple[SplitResult, list[str]]:
    """An address in its parts, and the steps of its path; none of either where it is none.

    >>> steps_of("https://a.example//p/red-lamp/")[1], steps_of("https://[")[1]
    (['p', 'red-lamp'], [])
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    return parts, [step for step in parts.path.split("/") if step]


def shape_of(url: str) -> str | None:
    """An address with what differs from page to page left open; None where no word of it is left.

    >>> shape_of("https://a.example/ask/1204"), shape_of("https://a.example/p/red-lamp-12/review")
    ('a.example/ask/*', 'a.example/p/*/review')
    >>> shape_of("https://a.example/red-lamp/ask-us"), shape_of("https://a.example/a-b/c-d-7")
    ('a.example/*/ask-us', None)
    >>> shape_of("https://a.example/form.php?product=12&lang=en")
    'a.example/form.php?lang&product'
    >>> shape_of("https://a.example/red-lamp-12"), shape_of("https://a.example/ask")
    (None, None)
    """
    parts, steps = steps_of(url)
    words = [step if _WORD.fullmatch(step) else "*" for step in steps]
    if words[-2:] == ["*", "*"] and _WORDS.fullmatch(steps[-1]):
        words[-1] = steps[-1]
    names = sorted({pair.partition("=")[0] for pair in parts.query.split("&") if pair})
    if all(word == "*" for word in words) or ("*" not in words and not names):
        return None
    return f"{parts.netloc}/{'/'.join(words)}{'?' * bool(names)}{'&'.join(names)}"


@attrs.define(eq=False, repr=False)
class _Shape(Record):
    vain: int = 0
    """Pages in a row that led nowhere."""
    useful: bool = False
    links: set[int] = attrs.Factory(set)
    """What its pages lead to."""
    first: tuple[str, Sequence[Link]] | None = None
    """Its first page, until the second one tells which of its links are the site's frame."""


@attrs.define(eq=False, repr=False)
class DeadEnds(Record):
    """What is known of the shapes of each site's addresses."""

    _sites: dict[str, dict[str, _Shape]] = attrs.Factory(dict)
    shapes: set[str] = attrs.Factory(set)
    """Those whose pages are not fetched any more."""
    _news: dict[str, tuple[str, int]] = attrs.Factory(dict)
    """Shapes that are left out, or are not any more, since somebody asked: site and pages."""

    def note(self, site_id: str, url: str, links: Sequence[Link]) -> str | None:
        """Count a page that is no product's and no listing; returns a shape that is left out since.

        *links* are all that it leads to.
        """
        shape = None if may_sell(url) else shape_of(url)
        if shape is None or shape in self.shapes:
            return None
        known = self._shape(site_id, shape)
        if known.useful:
            return None
        links = links[:_MOST_LINKS]
        known.vain += 1
        known.useful = (known.vain > 1 and _leads_on(url, links, known.links)) or (
            known.first is not None and _leads_on(*known.first, {mark_of(one.url) for one in links})
        )
        known.first = (url, links) if known.vain == 1 else None
        known.links.update(mark_of(one.url) for one in links)
        if known.useful:
            known.links.clear()
        if known.useful or known.vain < ENOUGH:
            return None
        self.shapes.add(shape)
        self._news[shape] = site_id, known.vain
        known.links.clear()
        return shape

    def lead_on(self, site_id: str, url: str) -> None:
        """Count a page that shows a product, or lists some: its shape is worth fetching for good."""
        shapes = self._sites.get(site_id)
        if shapes and (shape := shape_of(url)) is not None:
            if shape in shapes or len(shapes) < _MOST_SHAPES:
                shapes.setdefault(shape, _Shape()).useful = True
            if shape in self.shapes:
                self.shapes.discard(shape)
                self._news[shape] = site_id, 0

    def news(self) -> dict[str, tuple[str, int]]:
        """By shape: site, and pages that led nowhere; 0: it is not left out any more. Once."""
        news, self._news = self._news, {}
        return news

    def is_one(self, url: str) -> bool:
        """Whether an address is of a shape that leads nowhere."""
        return shape_of(url) in self.shapes

    def _shape(self, site_id: str, shape: str) -> _Shape:
        if site_id not in self._sites and len(self._sites) >= _MOST_SITES:
            self._sites.pop(next(iter(self._sites)))
        shapes = self._sites.setdefault(site_id, {})
        if shape not in shapes and len(shapes) >= _MOST_SHAPES:
            shapes.pop(next(iter(shapes)))
        return shapes.setdefault(shape, _Shape())


def may_sell(url: str) -> bool:
    """Whether an address reads like a product's or a listing's itself, and not like one below it.

    A shop that is being mended shows the same to all of them; these are asked for all the same.

    >>> may_sell("https://a.example/p/lamp-12"), may_sell("https://a.example/p/lamp-12/review")
    (True, False)
    """
    path = f"/{url.partition('://')[2].partition('/')[2]}"
    steps = [step for step in path.partition("?")[0].split("/") if step]
    below = len(steps) > 2 and _WORDS.fullmatch(steps[-1]) is not None
    return not below and (looks_like_product(path) or looks_like_listing(path))


def _leads_on(url: str, links: Sequence[Link], known: Container[int]) -> bool:
    """Whether a page has a link that is not known, and does not lead back."""
    return any(mark_of(link.url) not in known and not _leads_back(link, url) for link in links)


def _leads_back(link: Link, page: str) -> bool:
    """Whether a link leads to what a page belongs to.

    It is the beginning of the page's path, or a product's that shares a number or a name with it.

    >>> lamp = Link("https://a.example/p/lamp-12", "product", "")
    >>> _leads_back(lamp, "https://a.example/ask?product=12")
    True
    >>> drills = Link("https://a.example/tools/drills", "listing", "")
    >>> _leads_back(drills, "https://a.example/tools")
    False
    """
    there, here = link.url.partition("?")[0].rstrip("/"), page.partition("?")[0].rstrip("/")
    if there == here or here.startswith(f"{there}/"):
        return True
    return link.kind == "product" and not _keys(page).isdisjoint(_keys(link.url))


def _keys(url: str) -> set[str]:
    """The numbers and names of words in an address: they tie a page to its product.

    >>> sorted(_keys("https://a.example/p/red-lamp-12?id=7"))
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

"""Facets in paths, and tags and brands to which only products' pages link.

Such pages show a part of the products that other listings show. A shop with a dozen facets in its
paths (`/shop/red/large/`) has thousands of combinations, and each leads to further ones. Facets are
those parts of addresses that come in both orders, `/red/large/` and `/large/red/`, which categories
do not. Each facet's own page is fetched. Where the last combinations, or the last tags, showed no
further product, the others are left out. The more of them showed one before, the more this takes.
Pure; memory is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import attrs

from crawler.extract.address_kinds import is_front_of_language, without_origin
from crawler.extract.limited_dict import Newest
from crawler.extract.links.choice import Link
from crawler.extract.links.fingerprints import url_checksum
from crawler.extract.links.pagination import has_page_number
from scrapy_seine.attrs_bases import Record
from scrapy_seine.urls import domain_of_tidy

#: Key in meta: the address of the listing that a page narrows. Each worker of a fleet needs it.
NARROWS = "narrows"
#: Pages in a row without a further product, products on them, and different pages among them, before
#: others are left out.
MIN_PAGES, _MIN_SHOWN, _MIN_SHELVES = 10, 30, 3
#: The end of the place of facets' combinations.
_COMBINED = "/*/*"
#: Sites, addresses of a site that are compared, folders that are counted, and links of a page.
_MAX_SITES, _MAX_ADDRESSES, _MAX_PLACES, _MAX_LINKS = 20, 20_000, 500, 400


@attrs.define(eq=False, repr=False)
class _Run(Record):
    """Pages of one place without a further product since the last one."""

    pages: int = 0
    shown: int = 0
    """Products on these pages."""
    shelves: set[int] = attrs.Factory(set)
    """Hashes of what they show; the same box of best-sellers on all of them proves nothing."""

    def is_enough(self, fruitful: int) -> bool:
        """Whether a place is exhausted that had so many pages with a further product."""
        is_long = self.pages >= MIN_PAGES * (1 + fruitful) and self.shown >= _MIN_SHOWN
        return is_long and len(self.shelves) >= _MIN_SHELVES


@attrs.define(eq=False, repr=False)
class _Site(Record):
    products: set[int] = attrs.Factory(set)
    """Checksums of the products to which pages link."""
    linked: set[int] = attrs.Factory(set)
    """Checksums of other addresses to which pages link that show no product of their own."""
    aside: set[int] = attrs.Factory(set)
    """Checksums of those to which only products' pages link."""
    pairs: set[int] = attrs.Factory(set)
    """Hashes of the last two parts of addresses below a listing."""
    runs: dict[str, _Run] = attrs.Factory(dict)
    """By place."""
    fruitful: dict[str, int] = attrs.Factory(dict)
    """By place: pages with a further product."""
    exhausted: set[str] = attrs.Factory(set)

    @property
    def is_full(self) -> bool:
        """Whether further addresses would not be remembered, so that nothing is left out."""
        known = (self.products, self.linked, self.aside, self.pairs)
        return sum(map(len, known)) > _MAX_ADDRESSES


@attrs.define(eq=False, repr=False)
class Narrowings(Record):
    """Counts, for each crawl of a host, the pages that show no further product."""

    _sites: Newest[_Site] = attrs.Factory(lambda: Newest(_Site, _MAX_SITES))

    has_places: bool = False
    """Whether a place is exhausted."""

    def note(
        self,
        job: str,
        url: str,
        links: Sequence[Link],
        *,
        shows: bool,
        root: str = "",
        is_later: bool = False,
    ) -> str | None:
        """Count a page; return the place of those that are left out from now on, if it is new.

        *url* is the requested address, and *root* that of the listing which the page narrows, if
        any; with *shows*, the page shows a product of its own, and with *is_later* it is a listing's
        further page.
        """
        site = self._sites[f"{job} {domain_of_tidy(url)}"]
        if site.is_full:
            return None
        products = {url_checksum(link.url) for link in links if link.kind == "product"}
        fresh = products - site.products
        site.products |= fresh
        others = [x for x in islice(links, _MAX_LINKS) if x.kind in {"listing", "other"}]
        leads_on = self._note_others(site, others, shows=shows)
        if root:
            site.pairs.update(hash(pair) for x in others if (pair := _last_two(x.url, root)))
        if shows or is_later or not products or _is_later(url):
            return None
        place = _place(site, url, root)
        if leads_on and not place.endswith(_COMBINED):
            return None  # a group below which are others
        if not place or not self._exhausts(site, place, products, bool(fresh)):
            return None
        self.has_places = True
        return place

    def leaves_out(self, job: str, url: str, root: str = "") -> bool:
        """Whether a page's place showed no further product for long."""
        site = self._sites.get(f"{job} {domain_of_tidy(url)}")
        if site is None or not site.exhausted or site.is_full or _is_later(url):
            return False
        return _place(site, url, root) in site.exhausted

    @staticmethod
    def _note_others(site: _Site, links: Iterable[Link], *, shows: bool) -> bool:
        """Remember a page's links to pages without a product; return whether one was unknown."""
        leads_on = False
        for link in links:
            checksum = url_checksum(link.url)
            is_known = checksum in site.linked
            leads_on = leads_on or not (is_known or checksum in site.aside)
            if shows and not is_known:
                site.aside.add(checksum)
            elif not shows:
                site.linked.add(checksum)
                site.aside.discard(checksum)
        return leads_on

    @staticmethod
    def _exhausts(site: _Site, name: str, shelf: set[int], is_fruitful: bool) -> bool:
        """Count a page of a place; return whether that is exhausted with this page."""
        if name not in site.runs and len(site.runs) >= _MAX_PLACES:
            site.runs.pop(next(iter(site.runs)))
        if is_fruitful:
            site.runs[name] = _Run()
            site.fruitful[name] = site.fruitful.get(name, 0) + 1
            site.exhausted.discard(name)
            return False
        run = site.runs.setdefault(name, _Run())
        run.pages, run.shown = run.pages + 1, run.shown + len(shelf)
        run.shelves.add(hash(frozenset(shelf)))
        if name in site.exhausted or not run.is_enough(site.fruitful.get(name, 0)):
            return False
        site.exhausted.add(name)
        return True


def _is_later(url: str) -> bool:
    """Whether an address is that of a listing's later page: a number counts as one as well.

    >>> [_is_later(f"https://a.example/c/{end}") for end in ("page/2/", "2/", "red", "2?size=3")]
    [True, True, False, True]
    """
    path = without_origin(url).partition("?")[0]
    return path.rstrip("/").rpartition("/")[2].isdecimal() or has_page_number(url)


def root_of(url: str, links: Iterable[Link]) -> str:
    """Return a page's address if it is a listing with products, which pages below it narrow, else "".

    >>> lamps = [Link("https://a.example/p/lamp", "product", "")]
    >>> root_of("https://a.example/shop/", lamps), root_of("https://a.example/de/", lamps)
    ('https://a.example/shop', '')
    >>> root_of("https://a.example/shop", []), root_of("https://a.example/", lamps)
    ('', '')
    """
    path = without_origin(url)
    if "?" in url or path in {"", "/"} or is_front_of_language(path) or _is_later(url):
        return ""
    return url.rstrip("/") if any(link.kind == "product" for link in links) else ""


def _last_two(url: str, root: str) -> tuple[str, str] | None:
    """Return the last two parts of an address that has two at least below a listing's.

    >>> _last_two("https://a.example/shop/red/large/", "https://a.example/shop")
    ('red', 'large')
    """
    if "?" in url or not url.startswith(f"{root}/"):
        return None
    parts = [part for part in url[len(root) :].split("/") if part]
    return (parts[-2], parts[-1]) if len(parts) > 1 else None


def _place(site: _Site, url: str, root: str) -> str:
    """Return the place in which a page is counted: combinations of facets, or a folder of tags.

    It is empty for other pages.
    """
    pair = _last_two(url, root) if root else None
    if pair is not None and hash(pair[::-1]) in site.pairs:
        return f"{root}{_COMBINED}"
    if url_checksum(url) not in site.aside:
        return ""
    bare, _, query = url.partition("?")
    names = "&".join(sorted({pair.partition("=")[0] for pair in query.split("&")}))
    return f"{bare}?{names}" if query else f"{bare.rstrip('/').rpartition('/')[0]}/*"

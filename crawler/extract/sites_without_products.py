"""Warnings about sites whose pages show no product: a gate before each page, a login, or no shop.

A gate in the shop's own design answers with status 200 and is no block that `crawler.access`
detects: pages are read, nothing is stored, and nothing has failed. There are two warnings. One is
given at once, when many pages in a row that should be products or listings look alike and are
neither. The other is given at the end of a crawl for each site that showed no product, or no price
of any product. Pure and bounded; words of gates are searched only on the page in a warning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import attrs

from crawler.extract.address_kinds import is_search, without_origin
from crawler.extract.default_parser import Found
from crawler.extract.limited_dict import Newest
from crawler.extract.links.choice import Link
from crawler.extract.links.dead_ends import is_catalogue_address
from crawler.extract.links.fingerprints import url_checksum
from crawler.extract.links.unlinked import action_of
from crawler.extract.page.page import Page, is_root, short_text
from crawler.extract.words import any_word
from scrapy_seine.attrs_bases import Record, Value

#: Pages in a row that look alike before the warning, and the share by which their sizes may differ.
MIN_ALIKE_PAGES, _SIZE_TOLERANCE = 12, 0.05
#: Products without a price before the warning that the site shows no prices.
_MIN_UNPRICED = 10
#: Pages beside products of a site whose categories may not look like listings; forms of a page.
_MAX_BESIDE, _MAX_FORMS = 10, 20
_SEARCH_NAMES = frozenset({"q", "s", "search", "query", "search_query", "keyword", "keywords"})
#: Links of a site's listings that are remembered, where none is a product's; a listing's are added at once.
_MAX_LISTED = 2_000
_MAX_SITES, _MAX_HEADINGS, _MAX_TITLE_LENGTH, _MAX_BEGINNING = 500, 3, 80, 20_000
#: How scripts request data, and characters of a category's name in an address.
_REQUESTS, _MIN_SEGMENT = (b"fetch(", b"XMLHttpRequest", b"axios", b".ajax(", b".getJSON("), 3
_GATES = {
    "it asks for the visitor's age": any_word("gate", "age"),
    "it asks for a country": any_word("gate", "country"),
    "it asks to log in": any_word("gate", "login"),
}
#: Advice for sites where a visitor has to answer a gate first.
HELP = (
    'if a visitor has to answer something first, seed it with the cookie of the answer, {"url": …,'
    ' "cookies": {…}}, and COOKIES_ENABLED=1, or ask by a browser (lane = "browser" in its site file)'
)


def loads_own_list(page: Page) -> bool:
    """Whether a script that requests data names the last part of the page's address: its category."""
    segment = page.url.partition("?")[0].rstrip("/").rpartition("/")[2]
    if len(segment) < _MIN_SEGMENT or is_root(page.url) or not any(map(page.holds, _REQUESTS)):
        return False
    names = re.compile(rf"[\"'`=/]{re.escape(segment)}[\"'`&]").search
    texts = (script.text or "" for script in page.scripts)
    return any(any(r.decode() in t for r in _REQUESTS) and names(t) for t in texts)


def has_search_form(page: Page) -> bool:
    """Whether a page has a form that searches the shop for a visitor's words."""
    for form in islice(page.root.iter("form"), _MAX_FORMS):
        fields = [*islice(form.iter("input"), _MAX_FORMS)]
        texts = [f for f in fields if (f.get("type") or "text").lower() in {"text", "search"}]
        if len(texts) == 1 and (
            texts[0].get("type") == "search"
            or texts[0].get("name") in _SEARCH_NAMES
            or is_search(without_origin(action_of(form)))
        ):
            return True
    return False


@attrs.frozen(eq=False, repr=False)
class Appearance(Value):
    """The appearance of a page that shows no product: title, heading and first bytes."""

    title: str
    heading: str
    beginning: bytes

    @classmethod
    def of(cls, page: Page) -> Appearance:
        """Return the appearance of a page, for a warning about it."""
        heading = next((short_text(element) for element in page.headings), "")
        return cls(
            page.title[:_MAX_TITLE_LENGTH], heading[:_MAX_TITLE_LENGTH], page.raw[:_MAX_BEGINNING]
        )

    def __str__(self) -> str:
        """The appearance in words, with the gates whose words the page contains."""
        words = [f"titled {self.title!r}" if self.title else "without a title"]
        words += [f"headed {self.heading!r}"] if self.heading not in {"", self.title} else []
        text = self.beginning.decode("utf-8", "replace")
        if "password" in text and 'type="password"' in text.replace("'", '"').lower():
            words.append("with a field for a password")
        elif "<form" in text.lower():
            words.append("with a form")
        return ", ".join([*words, *(gate for gate, find in _GATES.items() if find(text))])


@attrs.define(eq=False, repr=False)
class _Site(Record):
    seeded: bool = False
    """This worker read one of the site's seeds."""
    pages: int = 0
    products: int = 0
    priced: int = 0
    alike: int = 0
    """Pages in a row that look alike and show neither a product nor a listing."""
    appearance: tuple[str, ...] = ()
    size: int = 0
    landed: str = ""
    """Address of the first of these pages, after redirects."""
    redirected: int = 0
    """How many of these pages were redirected to that address."""
    warned: bool = False
    empty_products: int = 0
    """Pages with a product's address that showed no product when they were asked twice."""
    first_empty_product: str = ""
    listings: int = 0
    """Pages with signs of a listing."""
    empty_listings: int = 0
    """Those of them without a link to a product."""
    first_empty_listing: str = ""
    listed: set[int] = attrs.Factory(set)
    """Checksums of the links of those listings."""
    reached: int = 0
    """Products to which one of these links led."""
    search_page: str = ""
    """Address of the seed that has a search form."""
    first_empty: Appearance | None = None
    """The first page without a product, as long as no page had one."""


@attrs.define(eq=False, repr=False)
class SitesWithoutProducts(Record):
    """The sites that a worker reads, with their numbers of pages, products and prices."""

    _sites: Newest[_Site] = attrs.Factory(lambda: Newest(_Site, _MAX_SITES))

    def note(
        self, site_id: str, result: Found, requested_url: str, *, is_product: bool, seed: bool
    ) -> str | None:
        """Count a page; return a warning about the site, once, or None.

        *requested_url* is the address before redirects; with *is_product*, the page gave a product.
        """
        site = self._sites[site_id]
        site.pages += 1
        site.seeded |= seed
        if seed and has_search_form(result.page):
            site.search_page = result.page.url
        if is_product:
            site.products += 1
            site.priced += result.fields.get("price") is not None
            site.alike, site.first_empty = 0, None
            site.reached += bool(site.listed) and url_checksum(requested_url) in site.listed
            return None
        if site.warned or result.kind != "other" or result.unread:
            return None
        if not site.products and site.first_empty is None:
            site.first_empty = Appearance.of(result.page)
        return (
            self._note_alike(site, result.page, requested_url)
            if is_catalogue_address(requested_url)
            else None
        )

    def note_redirect_away(self, site_id: str, landed: str) -> str | None:
        """Count a page that was redirected to another site; return a warning, once, or None."""
        site, appearance = self._sites[site_id], ("left", landed.partition("?")[0])
        site.pages += 1
        site.alike = site.alike + 1 if site.appearance == appearance else 1
        site.appearance = appearance
        if site.warned or site.alike < MIN_ALIKE_PAGES:
            return None
        site.warned = True
        return f"the last {site.alike} pages were redirected to another site, {appearance[1]}"

    def note_empty_product(self, site_id: str, url: str) -> None:
        """Count a page that has a product's address, and showed no product when it was asked twice."""
        site = self._sites[site_id]
        site.empty_products += 1
        site.first_empty_product = site.first_empty_product or url

    def note_listing(self, site_id: str, page: Page, links: Sequence[Link]) -> None:
        """Count a page with signs of a listing, and its *links* if none of them is a product's.

        They may lead to products all the same, by addresses that read like those of other pages, or
        of listings (`/catalog/seals/wiper-seal`), because tiles without a price are not read.
        """
        if is_root(page.url):
            return
        site = self._sites[site_id]
        site.listings += 1
        if not any(link.kind == "product" for link in links):
            site.empty_listings += 1
            site.first_empty_listing = site.first_empty_listing or page.url
            if len(site.listed) < _MAX_LISTED:
                site.listed.update(url_checksum(x.url) for x in links if x.kind != "pagination")

    def empty_products(self) -> Iterator[tuple[str, int, str]]:
        """Yield each site with such pages, their number and the first one's address."""
        for site_id, site in self._sites.items():
            if site.empty_products:
                yield site_id, site.empty_products, site.first_empty_product

    def last_warnings(
        self, has_sitemap: Callable[[str], bool] = lambda _: False
    ) -> Iterator[tuple[str, str]]:
        """Yield a warning for each site without products, listings or prices, at its crawl's end.

        Where several workers read a site, only the worker that read its seed warns. *has_sitemap*
        is asked of the address of a seed.
        """
        for site_id, site in self._sites.items():
            if not site.seeded or site.warned:
                continue
            if not site.products:
                example = (
                    f"; one of them is {site.first_empty}" if site.first_empty is not None else ""
                )
                if site.empty_listings:
                    example += f"; a script may load the products of {site.first_empty_listing}"
                elif site.search_page:
                    example += f"; only the search form of {site.search_page} may lead to them"
                yield site_id, f"none of the {site.pages} pages read here shows a product{example}"
            elif 2 * site.empty_listings > site.listings and site.reached < site.empty_listings:
                yield (
                    site_id,
                    f"{site.empty_listings} of the {site.listings} listings read here lead to no"
                    f" product, as {site.first_empty_listing}; a script may load their products",
                )
            elif (
                site.search_page
                and not site.listings
                and site.pages - site.products <= _MAX_BESIDE
                and not has_sitemap(site.search_page)
            ):
                yield (
                    site_id,
                    f"{site.products} products and no listing were found; only the search form of"
                    f" {site.search_page} may lead to others",
                )
            elif site.products >= _MIN_UNPRICED and not site.priced:
                yield site_id, f"none of the {site.products} products read here shows a price"

    @staticmethod
    def _note_alike(site: _Site, page: Page, requested_url: str) -> str | None:
        appearance = tuple(short_text(element) for element in page.headings[:_MAX_HEADINGS]) or (
            page.title,
        )
        size = len(page.raw)
        if appearance != site.appearance or abs(size - site.size) > _SIZE_TOLERANCE * site.size:
            site.appearance, site.size, site.alike = appearance, size, 0
            site.landed, site.redirected = page.url, 0
        site.alike += 1
        site.redirected += page.url == site.landed and requested_url != page.url
        if site.alike < MIN_ALIKE_PAGES:
            return None
        site.warned = True
        redirect = (
            f", after a redirect to {site.landed}" if 2 * site.redirected > site.alike else ""
        )
        return (
            f"the last {site.alike} pages of products or listings look alike and show neither"
            f"{redirect}: {Appearance.of(page)}"
        )

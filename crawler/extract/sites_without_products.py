"""Sites whose pages show no product: a gate before each of them, a login, or simply no shop.

A gate in the shop's own design answers with status 200 and is no block that `crawler.access` knows:
pages are read, nothing is stored, and nothing has failed. Two things are said of such a site. Where
page after page that should be a product's or a listing's looks like the one before and shows
neither, it is said at once; at the end of a crawl it is said of each site that showed no product, or
products without a single price. Pure, and bounded; words are looked for on the page that is told of.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crawler.extract.bounded_dict import Newest
from crawler.extract.default_parser import Found
from crawler.extract.links.dead_ends import is_catalogue_address
from crawler.extract.page.page import Page, short_text
from crawler.extract.words import any_word
from scrapy_seine.records import Record, Value

#: Pages in a row that look alike before it is told; their sizes differ by a twentieth at most.
ENOUGH, _ALIKE = 12, 0.05
#: Products without a price before it is told that the site shows none.
_UNPRICED = 10
_MOST_SITES, _MOST_HEADINGS, _SHOWN, _LONGEST = 500, 3, 80, 20_000
_GATES = {
    "it asks for the visitor's age": any_word("gate", "age"),
    "it asks for a country": any_word("gate", "country"),
    "it asks to log in": any_word("gate", "login"),
}
#: What helps where a visitor has to answer first.
HELP = (
    'if a visitor has to answer something first, seed it with the cookie of the answer, {"url": …,'
    ' "cookies": {…}}, and COOKIES_ENABLED=1, or ask by a browser (lane = "browser" in its site file)'
)


@attrs.frozen(eq=False, repr=False)
class Look(Value):
    """A page that shows no product."""

    title: str
    heading: str
    beginning: bytes

    @classmethod
    def of(cls, page: Page) -> Look:
        """Keep of a page what may have to be told."""
        heading = next((short_text(one) for one in page.headings), "")
        return cls(page.title[:_SHOWN], heading[:_SHOWN], page.raw[:_LONGEST])

    def __str__(self) -> str:
        """What it looks like, in words."""
        words = [f"titled {self.title!r}" if self.title else "without a title"]
        words += [f"headed {self.heading!r}"] if self.heading not in {"", self.title} else []
        text = self.beginning.decode("utf-8", "replace")
        if "password" in text and 'type="password"' in text.replace("'", '"').lower():
            words.append("with a field for a password")
        elif "<form" in text.lower():
            words.append("with a form")
        return ", ".join([*words, *(said for said, find in _GATES.items() if find(text))])


@attrs.define(eq=False, repr=False)
class _Site(Record):
    seeded: bool = False
    """Whether this worker read one of the site's seeds."""
    pages: int = 0
    products: int = 0
    priced: int = 0
    alike: int = 0
    """Pages in a row that look like the last one and show nothing."""
    look: tuple[str, ...] = ()
    size: int = 0
    landed: str = ""
    """Where the first of them was, after redirects."""
    moved: int = 0
    """How many of them were redirected there."""
    told: bool = False
    first: Look | None = None
    """The first page that showed nothing, as long as none showed a product."""


@attrs.define(eq=False, repr=False)
class Fruitless(Record):
    """The sites that a worker reads, and what they showed."""

    _sites: Newest[_Site] = attrs.Factory(lambda: Newest(_Site, _MOST_SITES))

    def note(
        self, site_id: str, found: Found, asked: str, *, shown: bool, seed: bool
    ) -> str | None:
        """Count a page; returns what is to be said of the site, once.

        *asked* is the address before redirects, *shown* says that the page yielded a product.
        """
        site = self._sites[site_id]
        site.pages += 1
        site.seeded |= seed
        if shown:
            site.products += 1
            site.priced += found.fields.get("price") is not None
            site.alike, site.first = 0, None
            return None
        if site.told or found.kind != "other" or found.unread:
            return None
        if not site.products and site.first is None:
            site.first = Look.of(found.page)
        return self._alike(site, found.page, asked) if is_catalogue_address(asked) else None

    def left(self, site_id: str, landed: str) -> str | None:
        """Count a page that another site answered; returns what is to be said, once."""
        site, look = self._sites[site_id], ("left", landed.partition("?")[0])
        site.pages += 1
        site.alike = site.alike + 1 if site.look == look else 1
        site.look = look
        if site.told or site.alike < ENOUGH:
            return None
        site.told = True
        return f"the last {site.alike} pages were redirected to another site, {look[1]}"

    def ends(self) -> Iterator[tuple[str, str]]:
        """Sites whose crawl brought nothing, and what is to be said of each.

        Of a site that several workers read, the one that read its seed speaks.
        """
        for site_id, site in self._sites.items():
            if not site.seeded or site.told:
                continue
            if not site.products:
                look = f"; one of them is {site.first}" if site.first is not None else ""
                yield site_id, f"none of the {site.pages} pages read here shows a product{look}"
            elif site.products >= _UNPRICED and not site.priced:
                yield site_id, f"none of the {site.products} products read here shows a price"

    @staticmethod
    def _alike(site: _Site, page: Page, asked: str) -> str | None:
        look = tuple(short_text(one) for one in page.headings[:_MOST_HEADINGS]) or (page.title,)
        size = len(page.raw)
        if look != site.look or abs(size - site.size) > _ALIKE * site.size:
            site.look, site.size, site.alike = look, size, 0
            site.landed, site.moved = page.url, 0
        site.alike += 1
        site.moved += page.url == site.landed and asked != page.url
        if site.alike < ENOUGH:
            return None
        site.told = True
        where = f", after a redirect to {site.landed}" if 2 * site.moved > site.alike else ""
        return (
            f"the last {site.alike} pages of products or listings look alike and show neither"
            f"{where}: {Look.of(page)}"
        )

"""How the catalogue spider finds a listing's further pages where no link leads to all of them.

`probing` finds the last page of a listing that tells its length nowhere; `announced` tries
addresses of further pages where a listing says that it has more products than it shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrapy import Request
from scrapy.http import Response

from crawler.extract import Link
from crawler.extract.links.choice import shelf_of
from crawler.extract.listing import announced, probing
from crawler.extract.site import Site
from crawler.items import Missing, Product
from scrapy_seine.printable import printable
from spiders import which_site
from spiders.page_reading import OK, PageReading, job_of

#: How shops answer for a page of a listing that is not there.
_ENDS = [301, 302, 303, 307, 308, 400, 404, 410]
#: Listings of a site after which no more addresses are tried, and short ones that are told of.
MOST_VAIN, MOST_TOLD = 3, 20
#: So many pages are a number of products that has to be one listing's alone.
MANY_PAGES = 20


class FurtherPages(PageReading):
    """Callbacks for pages of a listing that may not be there."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: By site: listings in a row whose further pages are at no address that was tried.
        self._in_vain: dict[str, int] = {}
        self._short = 0
        #: By site: the large number of products that a listing announced last.
        self._claims: dict[str, int] = {}

    def parse_probe(
        self, response: Response, search: dict[str, Any]
    ) -> Iterator[Product | Missing | Request]:
        """Read a page of a listing that may not be there, and look for the last one from there."""
        site, shows = which_site.find(response.url), None
        if response.status == OK:
            page = self._page(response)
            shows = shelf_of(site.links(page)) if page.is_html else None
            yield from self.parse(response)
        more, end = probing.judge(probing.resume(search), shows)
        if more is not None:
            yield from self._probe(more, site, response.url)
        for url in end.pages() if end is not None else ():
            if site.follows(url, response.url) and not self.knows(url, job_of(response)):
                yield self._request(Link(url, "pagination", "the listing's page count"), site, None)

    def _probe(self, search: probing.Probe, site: Site, origin: str) -> Iterator[Request]:
        """Request one page of a listing, to see whether the listing is so long."""
        if site.follows(search.url, origin):
            self._count("probes")
            link = Link(search.url, "pagination", "is the listing as long as this?")
            request = self._request(link, site, None)
            meta = {"handle_httpstatus_list": _ENDS, "dont_redirect": True}
            request.meta.update(meta)
            yield request.replace(callback=self.parse_probe, cb_kwargs={"search": search.plain()})

    def _look_beyond(
        self,
        told: announced.Announced,
        search: announced.Search | None,
        site: Site,
        origin: str,
    ) -> Iterator[Request]:
        """Look for the pages of a listing that no link leads to; what is in vain is said."""
        site_id = which_site.site_id(origin)
        if told.products > MANY_PAGES * told.shown and not told.pages:
            # "Choose from 10,000 products!" stands on each page, and is no listing's own number.
            if self._claims.get(site_id) == told.products:
                return
            self._claims[site_id] = told.products
        vain = self._in_vain.get(site_id, 0)
        if search is not None and vain < MOST_VAIN:
            yield from self._guess(search, site)
        else:
            self._note_short(origin, told.products, told.pages, told.shown)

    def parse_guess(
        self, response: Response, search: dict[str, Any]
    ) -> Iterator[Product | Missing | Request]:
        """Read what may be a listing's second page, and ask for the others, or try elsewhere."""
        asked, site = announced.resume(search), which_site.find(response.url)
        further, site_id = None, which_site.site_id(asked.listing)
        if response.status == OK and (page := self._page(response)).is_html:
            further = asked.further(site.links(page))
        if further is not None:
            self._in_vain[site_id] = 0
            yield from self.parse(response)
            for url in further:
                if site.follows(url, response.url) and not self.knows(url, job_of(response)):
                    link = Link(url, "pagination", "the listing announces it")
                    yield self._request(link, site, None)
        elif (after := asked.next()) is not None:
            yield from self._guess(after, site)
        else:
            self._in_vain[site_id] = self._in_vain.get(site_id, 0) + 1
            self._note_short(asked.listing, asked.products, asked.pages, len(asked.seen))

    def _guess(self, search: announced.Search, site: Site) -> Iterator[Request]:
        if site.follows(search.url, search.listing):
            self._count("guessed_pages")
            link = Link(search.url, "pagination", "the listing announces more than it shows")
            request = self._request(link, site, None)
            request.meta.update({"handle_httpstatus_list": _ENDS, "dont_redirect": True})
            yield request.replace(callback=self.parse_guess, cb_kwargs={"search": search.plain()})

    def _note_short(self, url: str, products: int, pages: int, shown: int) -> None:
        """Report a listing with more pages than can be reached: count each, log the first ones."""
        self._count("short_listings")
        self._short += 1
        if self._short <= MOST_TOLD:
            what = f"{products} products, {shown} were" if products else f"{pages} pages, 1 was"
            self.logger.warning(
                "%s: this listing announces %s found, because no link leads to its other pages",
                printable(url),
                what,
            )

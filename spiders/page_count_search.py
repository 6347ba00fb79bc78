"""Finds a listing's further pages where no link leads to all of them.

`probing` finds the last page of a listing that does not show its length; `announced` tries URLs of
further pages where a listing says that it has more products than it shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrapy import Request
from scrapy.http import Response

from crawler.extract import Found, Link, Page
from crawler.extract.limited_dict import Newest
from crawler.extract.links.choice import LOADED
from crawler.extract.links.fingerprints import listing_fingerprint
from crawler.extract.links.own_pages import own_pages
from crawler.extract.listing import announced, probing
from crawler.extract.listing.further_pages import first_page_again, numbers_of, own_address
from crawler.extract.listing.handles import Handles
from crawler.extract.site import Site
from crawler.items import Missing, Product
from scrapy_seine import meta as m
from scrapy_seine.printable import printable
from spiders import which_site
from spiders.page_reading import OK, SEARCH, SHELF, PageReading, job_of

#: Statuses of responses for a page beyond a listing's end.
_ENDS = [301, 302, 303, 307, 308, 400, 404, 410]
#: Statuses of responses to a request that no script of the shop's pages made, and what scripts add.
_REFUSALS = [400, 404, 405, 406]
_OF_SCRIPT = {"X-Requested-With": "XMLHttpRequest"}
#: Failed listings in a row after which a site's URLs are not tried, and short listings logged.
MOST_FAILED, MOST_LOGGED = 3, 20
#: The reason of a link to a page of which only the listing's page count tells.
COUNTED = "the listing's page count"
#: The number of a second page, where pages are counted from 1.
_SECOND = 2
#: Stands for the fingerprint of a listing's page before, where it does not matter.
FURTHER = 0
#: First pages of listings that are remembered.
MOST_FIRST_PAGES = 2_000
#: Sites of jobs whose listings are counted, at most.
MOST_SITES = 10_000
#: Above so many pages, an announced number of products must differ from the listing before.
MANY_PAGES = 20


class FurtherPages(PageReading):
    """Callbacks for pages of a listing that may not exist."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: The products of scripts' lists that have no address there.
        self.handles = Handles()
        #: By a listing's own address: the fingerprint of its links (`listing_fingerprint`).
        self._first_shelves: Newest[list[int]] = Newest(list, MOST_FIRST_PAGES)
        #: By job and site: listings in a row for whose further pages no tried URL worked.
        self._failed_listings: Newest[int] = Newest(int, MOST_SITES)
        self._unreached_count = 0
        #: By site: the large number of products that was announced last, and by which listing.
        self._claims: dict[str, tuple[int, str]] = {}

    def _links(self, site: Site, page: Page, job: str) -> list[Link]:
        links = self.redirected.settled(site.links(page), page.url, job)
        return links + self.handles.links(page, links)

    def _of_source(self, site: Site, result: Found, links: list[Link]) -> list[Link]:
        """Return links to products and further pages that only the page's source names."""
        page = result.page
        found = own_pages(page, links) if result.kind == "listing" else []
        return self.handles.links(page, links) + [x for x in found if site.follows(x.url, page.url)]

    @staticmethod
    def _search(
        response: Response, page: Page, links: list[Link], shelf: int | None
    ) -> tuple[probing.Probe | None, str]:
        """Return the search for a listing's last page, and the page that must be asked before.

        That page is linked anyway; it is empty where the search may go on.
        """
        stored = response.meta.get(SEARCH)
        if stored is None:
            search = probing.begin(page, links, shelf)
            return search, search.last_known if search is not None else ""
        earlier = probing.resume(stored)
        search = probing.lead_on(earlier, links)
        if search is None or search.low >= probing.MIN_PLACE or search.low == earlier.low:
            return search, ""
        return search, search.last_known

    def _first_again(
        self, response: Response, url: str, links: list[Link], shelf: int | None
    ) -> set[str]:
        """Return a second page's links back to the first one, from which it was asked for.

        Some shops count the pages backwards, so that page 1 is their last one.
        """
        own, again = first_page_again(url, links)
        if own:
            known = self._first_shelves.get(own.rstrip("/"), ())
            return again if response.meta.get(SHELF) in known else set()
        linked = numbers_of(link for link in links if link.reason != COUNTED)
        templates = [template for template, numbers in linked.items() if min(numbers) <= _SECOND]
        if shelf is not None and templates:
            for first in {url, *map(own_address, templates)}:
                self._first_shelves[first.rstrip("/")][:] = [shelf]
        return set()

    def parse_probe(
        self, response: Response, search: dict[str, Any]
    ) -> Iterator[Product | Missing | Request]:
        """Read a listing's page that may not exist, and continue the search for the last page."""
        site, shelf = which_site.find(response.url), None
        if response.status == OK:
            page = self._page(response)
            shelf = (
                listing_fingerprint(self._links(site, page, job_of(response)))
                if page.is_html
                else None
            )
            yield from self.parse(response)
        next_probe, end = probing.judge(probing.resume(search), shelf)
        if next_probe is not None:
            yield from self._probe(next_probe, site, response.url)
        for url in end.pages() if end is not None else ():
            if site.follows(url, response.url) and not self.knows(url, job_of(response)):
                yield self._request(Link(url, "pagination", COUNTED), site, None)

    def _probe(self, search: probing.Probe, site: Site, origin: str) -> Iterator[Request]:
        """Request one page of a listing, to check whether the listing is that long."""
        if site.follows(search.url, origin):
            self._count("probes")
            link = Link(search.url, "pagination", "is the listing as long as this?")
            request = self._request(link, site, None)
            meta = {"handle_httpstatus_list": _ENDS, "dont_redirect": True}
            request.meta.update(meta)
            yield request.replace(callback=self.parse_probe, cb_kwargs={"search": search.plain()})

    def _look_beyond(
        self,
        notice: announced.Announced,
        search: announced.Search | None,
        site: Site,
        origin: str,
        job: str,
    ) -> Iterator[Request]:
        """Search the pages of a listing that no link leads to; log a listing that stays short."""
        site_id = which_site.site_id(origin)
        if notice.products > MANY_PAGES * notice.linked and not notice.pages:
            # "Choose from 10,000 products!" on each page is the shop's number, not a listing's. The
            # listing that said so first is searched in the next job as well.
            number, listing = self._claims.get(site_id, (0, ""))
            if number == notice.products and listing != origin:
                return
            self._claims[site_id] = notice.products, origin
        failures = self._failed_listings.get(f"{job} {site_id}", 0)
        if search is not None and notice.linked and failures < MOST_FAILED:
            yield from self._guess(search, site)
        else:
            self._log_unreached(origin, notice)

    def _load(
        self, link: Link, site: Site, shelf: int | None, response: Response
    ) -> Iterator[Request]:
        """Ask for more of a listing that a script loads; as scripts do, if the page was."""
        as_script = _is_of_script(response)
        if as_script or not self.knows(link.url, job_of(response)):
            yield self._loaded(link, site, shelf, job_of(response), as_script=as_script)

    def _loaded(
        self, link: Link, site: Site, shelf: int | None, job: str, *, as_script: bool
    ) -> Request:
        request = self._request(link, site, shelf)
        request.meta["handle_httpstatus_list"] = _REFUSALS
        if as_script:
            request.headers.update(_OF_SCRIPT)
            request.meta[m.SCOPE] = f"{job} as a script {link.url}"[: m.LONGEST_SCOPE]
        return request.replace(callback=self.parse_loaded)

    def parse_loaded(self, response: Response) -> Iterator[Product | Missing | Request]:
        """Read more of a listing, or ask for it as a script does, because some shops want that."""
        if response.status == OK:
            yield from self.parse(response)
        elif not _is_of_script(response):
            self._count("loaded_as_scripts")
            link, site = Link(response.url, "pagination", LOADED), which_site.find(response.url)
            shelf = response.meta.get(SHELF)
            yield self._loaded(link, site, shelf, job_of(response), as_script=True)
        else:
            self._count("loaded_refused")
            self.logger.info(
                "%s: status %d, although it was asked for as a script does",
                printable(response.url),
                response.status,
            )

    def parse_guess(
        self, response: Response, search: dict[str, Any]
    ) -> Iterator[Product | Missing | Request]:
        """Read a possible second page, and request the others, or try another URL."""
        guess, site = announced.resume(search), which_site.find(response.url)
        further, searched = None, f"{job_of(response)} {which_site.site_id(guess.listing)}"
        if response.status == OK and (page := self._page(response)).is_html:
            further = guess.further_urls(self._links(site, page, job_of(response)))
        if further is not None:
            self._failed_listings.pop(searched, None)
            yield from self.parse(response)
            for url in further:
                if site.follows(url, response.url) and not self.knows(url, job_of(response)):
                    link = Link(url, "pagination", "the listing announces it")
                    yield self._request(link, site, FURTHER)
        elif (next_guess := guess.next_search()) is not None:
            yield from self._guess(next_guess, site)
        else:
            self._failed_listings[searched] += 1
            self._log_unreached(guess.listing, guess)

    def _guess(self, search: announced.Search, site: Site) -> Iterator[Request]:
        if site.follows(search.url, search.listing):
            self._count("guessed_pages")
            link = Link(search.url, "pagination", "the listing announces more than it shows")
            request = self._request(link, site, None)
            request.meta.update({"handle_httpstatus_list": _ENDS, "dont_redirect": True})
            yield request.replace(callback=self.parse_guess, cb_kwargs={"search": search.plain()})

    def _log_unreached(self, url: str, notice: announced.Announced | announced.Search) -> None:
        """Count a listing with pages that cannot be reached, and log the first ones."""
        self._count("short_listings")
        self._unreached_count += 1
        if self._unreached_count <= MOST_LOGGED:
            self.logger.warning(
                "%s: this listing announces %s found, because %s",
                printable(url),
                f"{notice.products} products, {notice.linked} were"
                if notice.products
                else f"{notice.pages} pages, 1 was",
                "it seems to ask for its other pages by POST, which is not followed"
                if notice.by_post
                else "no link leads to its other pages",
            )


def _is_of_script(response: Response) -> bool:
    """Whether a response was requested as a script of the shop's pages requests it."""
    request = response.request
    return request is not None and all(name in request.headers for name in _OF_SCRIPT)

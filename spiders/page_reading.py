"""Base of the catalogue spider's callbacks: parses pages, and makes requests of links."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.http import Response

from crawler.extract import Link, Page, parse
from crawler.extract.limited_dict import Newest
from crawler.extract.links.gate_cookies import GATE_BOUND, GATE_PROXY, MOST_HOSTS, GateCookies
from crawler.extract.links.nofollow import directives_for
from crawler.extract.links.own_host import Redirected
from crawler.extract.site import Site
from crawler.requested_address import requested_address
from scrapy_seine import meta as m
from scrapy_seine.config import number
from scrapy_seine.engine.download.private_addresses import place_of
from scrapy_seine.engine.headers import has_header, header
from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.engine.stored.serializer import make_request
from scrapy_seine.urls import slot
from spiders import which_site

OK = 200
#: Statuses of redirects that shall be followed by whoever keeps the old address.
_FOR_GOOD = (301, 308)
#: Key in meta: the fingerprint of the listing's page before, from `listing_fingerprint`.
SHELF = "shelf"
#: Key in meta: the search for a listing's last page, which goes on at this page.
SEARCH = "search"


class PageReading(FrontierSpider):
    """A spider that reads pages and follows their links."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: The cookies without which hosts show no page; `middlewares.gates` sends them.
        self.gate_cookies = GateCookies()
        #: By job and host: whether the log says that its gate stays.
        self.shut_gates: Newest[int] = Newest(int, MOST_HOSTS)
        #: Where addresses lead that only redirect.
        self.redirected = Redirected()
        #: Private hosts, with their ports, whose pages were read because a seed names them.
        self._homes: Newest[bool] = Newest(bool, MOST_HOSTS)

    def _page(self, response: Response) -> Page:
        if home := response.meta.get(m.HOME):
            self._homes[str(home)] = True
        content_type = header(response, "Content-Type")
        return parse(response.body, response.url, content_type, max_bytes=self._max_bytes)

    def _robots_directives(self, response: Response) -> str:
        """Return what the X-Robots-Tag headers of a page say to this robot."""
        if not has_header(response, "X-Robots-Tag"):
            return ""
        values = response.headers.getlist("X-Robots-Tag")
        return directives_for([value.decode("latin-1") for value in values], self._robots_name)

    @cached_property
    def _robots_name(self) -> str:
        """The name by which robots.txt is read, too."""
        return str(self.settings.get("ROBOTSTXT_USER_AGENT") or self.settings.get("USER_AGENT"))

    @cached_property
    def _max_bytes(self) -> int:
        """Bytes of a page that are parsed, at most."""
        return int(1_000_000 * number(self.settings, "SEINE_READ_MB", 4, low=0.1))

    def _without_redirects(self, response: Response, links: list[Link]) -> list[Link]:
        """Return a page's links, each with the address to which its own would be redirected."""
        chain = [*map(str, response.meta.get("redirect_urls") or ()), response.url, response.url]
        for requested, url in pairwise(chain):
            self.redirected.note(requested, url, job_of(response))
        return self.redirected.settled(links, response.url, job_of(response))

    def _request(self, link: Link, site: Site, shelf: int | None) -> Request:
        meta: dict[str, Any] = site.request_meta
        if shelf is not None and link.kind == "pagination":
            meta[SHELF] = shelf
        request = make_request(Request, link.url, priority=link.priority, meta=meta)
        if self.gate_cookies and (cookie := self.gate_cookies.of(slot(link.url))):
            request.headers["Cookie"] = cookie
            proxy, is_bound = self.gate_cookies.proxy_of(slot(link.url))
            if proxy:
                request.meta.update({GATE_PROXY: proxy, GATE_BOUND: is_bound})
        return request

    def _at_home(self, request: Request) -> Request:
        """Return a request for a page that was read before, which may reach its own host again.

        The page that leads to it may be another private host's, and may reach only that one.
        """
        if (place := place_of(request)) in self._homes:
            request.meta[m.HOME] = place
        return request

    def _count(self, what: str, count: int = 1) -> None:
        self.crawler.stats.inc_value(f"extract/{what}", count)


def shows_another(response: Response, external_ids: set[str | None]) -> bool:
    """Whether a known product's address is redirected for good to a page of other products.

    A shop that gave a product a new address shows it under a new key, if the address is its key.
    A redirect for now (to a region's page, a campaign's) says nothing of the product.
    """
    known = (response.meta.get(m.KNOWN) or {}).get("id")
    is_another = bool(known) and None not in external_ids and known not in external_ids
    return is_another and moved_for_good(response)


def moved_for_good(response: Response) -> bool:
    """Whether an address is redirected for good to another path.

    A redirect for now may lead to a notice that the shop is closed for an hour, and one that only
    changes the host or the scheme says nothing of the page.
    """
    reasons = response.meta.get("redirect_reasons")
    if response.request is None or not reasons:
        return False
    paths = {urlsplit(url).path for url in (requested_address(response.request), response.url)}
    return len(paths) > 1 and all(reason in _FOR_GOOD for reason in reasons)


def site_id_of(response: Response) -> str:
    """The site id of a page: its seed's, else its URL's."""
    return str(response.meta.get(m.SITE_ID) or which_site.site_id(response.url))


def job_of(response: Response) -> str:
    """The job that requested a page; empty: none."""
    return str(response.meta.get(m.JOB_ID) or "")

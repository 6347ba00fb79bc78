"""Requests a shop's sitemaps, and the pages that they list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.http import Response

from crawler.extract import Link
from crawler.extract.address_kinds import is_front_of_language, without_origin
from crawler.extract.limited_dict import Newest
from crawler.extract.links.choice import PRIORITY
from crawler.extract.links.link_header import refreshed
from crawler.extract.links.listed_links import listed_links
from crawler.extract.links.own_host import on_own_host, origin_of
from crawler.extract.links.registered_domain import same_site
from crawler.extract.links.sitemap_check import SitemapCheck
from crawler.extract.links.sitemap_format import named_in_robots, read_sitemap
from crawler.extract.links.sitemap_news import dates_of, news_scope
from crawler.extract.page.page import tidied
from scrapy_seine import meta as m
from scrapy_seine.engine.headers import header
from scrapy_seine.printable import printable
from scrapy_seine.urls import absolute
from spiders import which_site
from spiders.page_reading import OK, PageReading, job_of

#: Where sitemaps usually are. All are tried for a shop into which no link leads.
USUAL_NAMES = (
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap-index.xml",
    "/wp-sitemap.xml",
    "/sitemap.xml.gz",
)
#: Sitemaps requested from one robots.txt or one index, at most.
MOST_SITEMAPS = 500
#: Sitemaps on other sites that are requested for one site, at most.
MOST_FOREIGN = 50
#: Pages of a sitemap that are compared with known ones, and those that show that it is the shop's.
_MOST_COMPARED, _MIN_KNOWN = 1_000, 3
#: Levels of sitemap indexes, at most, because an endless chain of indexes is a trap.
MOST_LEVELS = 10
#: Statuses of a missing file. Redirects are followed, because many shops' /sitemap.xml is one;
#: server errors are retried.
NONE_THERE = [400, 401, 403, 404, 405, 406, 410, 451]


#: Sitemaps are read before the pages that they list, because they make other pages needless.
_PRIORITY = PRIORITY["product"] + 10
#: Key in meta: the shop's pages are on the host of its front page. Not in cb_kwargs, where a worker
#: of an older version refuses a new name.
OWN_HOST = "own_host"
#: How long other pages to which a front page links wait for the sitemaps, s.
_WAIT_S = 3


class Sitemaps(PageReading):
    """Callbacks for robots.txt and for sitemaps."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: Shops whose sitemap lacks no product; `middlewares.dead_ends` skips their other pages.
        self.sitemap_check = SitemapCheck()
        #: By the shop's front page: whether a sitemap with another site's pages was told of.
        self._told_foreign: Newest[bool] = Newest(bool, MOST_SITEMAPS)

    def _look_for_sitemaps(self, response: Response, links: Sequence[Link]) -> Iterator[Request]:
        """Request the robots.txt of a shop whose front page this is, for its sitemaps.

        Where the front page has no *links*, further usual names of a sitemap are tried.
        """
        if self._is_seeded_front_page(response):
            leading = [link.url for link in links if link.kind != "other"]
            # A shop's pages are on the host to which its front page leads, with or without `www.`.
            is_own = any(url.startswith(origin_of(response.url)) for url in leading)
            own = is_own and on_own_host(leading, response.url) == leading
            yield Request(
                absolute(response.url, "/robots.txt"),
                callback=self.parse_robots,
                priority=_PRIORITY,
                meta={"handle_httpstatus_list": NONE_THERE, m.KNOWN_ROBOTS: True}
                | ({OWN_HOST: True} if own else {}),
                cb_kwargs={"origin": response.url} | ({} if links else {"bare": True}),
            )

    def _refreshed(self, response: Response) -> Iterator[Request]:
        """Follow a `Refresh` header, whose page may have no body."""
        value, site = header(response, "Refresh"), which_site.find(response.url)
        url = refreshed(value, response.url) if value else None
        if url is not None and url != response.url and site.follows(url, response.url):
            link = Link(url, "listing", "the Refresh header")
            yield self._request(link, site, None)
            yield from self._look_for_sitemaps(response, [link])

    @staticmethod
    def _after_sitemaps(request: Request) -> Request:
        """Let a page of another kind wait, because sitemaps may tell that it leads to nothing."""
        if request.priority == PRIORITY["other"]:
            request.meta[m.DELAY] = _WAIT_S
        return request

    def _is_seeded_front_page(self, response: Response) -> bool:
        """Whether the page is a shop's front page, and a seed."""
        if response.meta.get(m.DEPTH):
            return False
        # A front page may redirect to /en/ or /home, so that the requested URL counts, too.
        urls = (*response.meta.get("redirect_urls", ()), response.url)
        paths = [urlsplit(str(url)).path for url in urls]
        is_front = any(path in {"", "/"} or is_front_of_language(path) for path in paths)
        return is_front and self.settings.getbool("SEINE_SITEMAPS", True)

    def parse_robots(
        self, response: Response, origin: str, *, bare: bool = False
    ) -> Iterator[Request]:
        """Request the sitemaps that robots.txt names, and usual names if none is the shop's.

        A shop that moved may still name the sitemap of its old host.
        """
        body = response.body[:500_000] if response.status == OK else b""
        text = body.decode("utf-8-sig", "replace")
        usual_names = USUAL_NAMES if bare else USUAL_NAMES[:1]
        sitemap_urls = named_in_robots(text, response.url)
        if not any(same_site(url, origin) for url in sitemap_urls):
            sitemap_urls += [absolute(origin, name) for name in usual_names]
        own = _is_on_own_host(response)
        yield from self._sitemaps(sitemap_urls, origin, MOST_FOREIGN, own=own)

    def parse_sitemap(
        self,
        response: Response,
        origin: str,
        since: str = "",
        crawled: str = "",
        foreign: int = MOST_FOREIGN,
    ) -> Iterator[Request]:
        """Request the shop's pages that a sitemap lists; a bad sitemap lists none.

        The sitemap may be on another site, but only the shop's own pages are requested; *foreign*
        is how many sitemaps on other sites may still be requested below this one.

        *since* (ISO 8601) skips pages last changed before it; *crawled* names the job whose pages
        are known, for sitemaps without dates. With OWN_HOST the shop's pages are on *origin*'s
        host, where pages on its twin with or without `www.` are requested, to save a redirect.
        """
        if response.status != OK:
            return
        site, job = which_site.find(origin), job_of(response)
        sitemap = read_sitemap(response.body, response.url)
        if response.meta.get(m.DEPTH, 0) >= MOST_LEVELS:
            self._count("sitemaps_too_deep", len(sitemap.sitemaps))
            sitemap.sitemaps.clear()
        further, own = sitemap.further_sitemaps(origin), _is_on_own_host(response)
        yield from self._sitemaps(further, origin, foreign, own=own, since=since, crawled=crawled)
        changed = dates_of(sitemap.pages) if response.meta.get(m.JOB_TYPE) == "news" else {}
        start = datetime.fromisoformat(since) if since else None
        addresses = self._on_own_host([*sitemap.addresses(origin)], response, origin)
        if own:
            addresses = on_own_host(addresses, origin)
        for link in listed_links(addresses, origin, site.follows):
            self.sitemap_check.note_listed(link.url, job)
            if not self.knows(link.url, job):
                request = self._request(link, site, None)
                if changed:
                    scope = news_scope(changed.get(link.url) or "", start, crawled)
                    if scope is None:
                        continue
                    request.meta[m.SCOPE] = scope
                yield request

    def _on_own_host(self, urls: list[str], response: Response, origin: str) -> list[str]:
        """Return a sitemap's pages; on the shop's host if all name another one, and some are known.

        A shop that moved, or that runs below two names, may list its pages below the other name.
        """
        first = urls[:_MOST_COMPARED]
        if len(first) < _MIN_KNOWN or any(same_site(url, origin) for url in first):
            return urls
        own_urls = [absolute(origin, without_origin(url)) for url in urls]
        job = job_of(response)
        known = sum(self.knows(tidied(url) or url, job) for url in own_urls[:_MOST_COMPARED])
        if known >= _MIN_KNOWN:
            return own_urls
        self._count("foreign_sitemaps")
        if not self._told_foreign[origin]:
            self._told_foreign[origin] = True
            self.logger.warning(
                "%s: its %d pages are left out, because they are another site's, as %s; seed that"
                " site if it is the shop's",
                printable(response.url),
                len(urls),
                printable(first[0]),
            )
        return urls

    def _sitemaps(
        self, sitemap_urls: list[str], origin: str, foreign: int, *, own: bool, **kwargs: str
    ) -> Iterator[Request]:
        """Request sitemaps; they share the rest of *foreign* equally."""
        own_urls = [url for url in sitemap_urls if same_site(url, origin)]
        foreign_urls = [url for url in sitemap_urls if not same_site(url, origin)][
            : max(0, foreign)
        ]
        urls = (own_urls + foreign_urls)[:MOST_SITEMAPS]
        foreign_each = (foreign - len(foreign_urls)) // max(1, len(urls))
        for url in urls:
            try:
                request = self._sitemap(url, origin, foreign_each, **kwargs)
                if own:
                    request.meta[OWN_HOST] = True
            except ValueError:  # http://[ in one line must not drop the file's other lines
                self._count("no_urls_of_sitemaps")
                continue
            yield request

    def _sitemap(self, url: str, origin: str, foreign: int, **kwargs: str) -> Request:
        set_kwargs = {key: text for key, text in kwargs.items() if text}
        return Request(
            url,
            callback=self.parse_sitemap,
            priority=_PRIORITY,
            meta={"handle_httpstatus_list": NONE_THERE},
            cb_kwargs={"origin": origin, "foreign": foreign, **set_kwargs},
        )


def _is_on_own_host(response: Response) -> bool:
    return response.request is not None and OWN_HOST in response.request.meta

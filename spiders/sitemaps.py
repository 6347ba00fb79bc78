"""Which of a shop's sitemaps the catalogue spider asks for, and what it asks for of their pages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.http import Response

from crawler.extract.address_kinds import is_front_of_tongue
from crawler.extract.links.choice import PRIORITY, listed_links
from crawler.extract.links.registered_domain import same_site
from crawler.extract.links.sitemap_format import named_in_robots, read_sitemap
from crawler.extract.links.sitemap_news import dates_of, news_scope
from scrapy_seine import meta as m
from scrapy_seine.urls import absolute
from spiders import which_site
from spiders.page_reading import OK, PageReading, job_of

#: Sitemaps asked for of one robots.txt or one index, at most.
MOST_SITEMAPS = 500
#: Sitemaps of other sites that are asked for on behalf of one site, at most.
MOST_FOREIGN = 50
#: Pages on the way to a sitemap, at most: an index that names an index without end is a trap.
MOST_LEVELS = 10
#: Statuses that say that there is no such file. Redirects are followed, because many a shop's
#: /sitemap.xml is one, and what a server fails at is tried again.
NONE_THERE = [400, 401, 403, 404, 405, 406, 410, 451]


class Sitemaps(PageReading):
    """Callbacks for robots.txt and for sitemaps."""

    def _look_for_sitemaps(self, response: Response) -> Iterator[Request]:
        """Ask a shop's robots.txt for its sitemaps, where this is its front page."""
        if self._wants_sitemaps(response):
            yield Request(
                absolute(response.url, "/robots.txt"),
                callback=self.parse_robots,
                priority=PRIORITY["listing"],
                meta={"handle_httpstatus_list": NONE_THERE},
                cb_kwargs={"origin": response.url},
            )

    def _wants_sitemaps(self, response: Response) -> bool:
        """Whether this is a shop's front page, given as a seed."""
        if response.meta.get(m.DEPTH):
            return False
        # Front pages redirect to /en/ or /home: what was asked for is the front page all the same.
        asked = (*response.meta.get("redirect_urls", ()), response.url)
        paths = [urlsplit(str(url)).path for url in asked]
        is_front = any(path in {"", "/"} or is_front_of_tongue(path) for path in paths)
        return is_front and self.settings.getbool("SEINE_SITEMAPS", True)

    def parse_robots(self, response: Response, origin: str) -> Iterator[Request]:
        """Ask for the sitemaps that a shop's robots.txt names, else where they usually are."""
        body = response.body[:500_000] if response.status == OK else b""
        text = body.decode("utf-8-sig", "replace")
        named = named_in_robots(text, response.url) or [absolute(origin, "/sitemap.xml")]
        yield from self._sitemaps(named, origin, MOST_FOREIGN)

    def parse_sitemap(
        self,
        response: Response,
        origin: str,
        since: str = "",
        crawled: str = "",
        foreign: int = MOST_FOREIGN,
    ) -> Iterator[Request]:
        """Ask for the pages of the shop that a sitemap lists; a wrong sitemap lists none.

        The sitemap may be on another site, yet only the shop's own pages are taken from it, and
        *foreign* is how many more of such sitemaps may be asked for below this one.

        *since* (ISO 8601) leaves out what was last changed before; *crawled* names the job whose
        pages are known, where the sitemap does not say when they changed.
        """
        if response.status != OK:
            return
        site = which_site.find(origin)
        found = read_sitemap(response.body, response.url)
        if response.meta.get(m.DEPTH, 0) >= MOST_LEVELS:
            self._count("sitemaps_too_deep", len(found.sitemaps))
            found.sitemaps.clear()
        yield from self._sitemaps(found.sitemaps, origin, foreign, since=since, crawled=crawled)
        changed = dates_of(found.pages) if response.meta.get(m.JOB_TYPE) == "news" else {}
        start = datetime.fromisoformat(since) if since else None
        for link in listed_links((url for url, _ in found.pages), origin, site.follows):
            if not self.knows(link.url, job_of(response)):
                request = self._request(link, site, None)
                if changed:
                    scope = news_scope(changed.get(link.url) or "", start, crawled)
                    if scope is None:
                        continue
                    request.meta[m.SCOPE] = scope
                yield request

    def _sitemaps(
        self, named: list[str], origin: str, foreign: int, **known: str
    ) -> Iterator[Request]:
        """Ask for sitemaps; what *foreign* leaves after those of other sites is shared below."""
        own = [url for url in named if same_site(url, origin)]
        others = [url for url in named if not same_site(url, origin)][: max(0, foreign)]
        asked = (own + others)[:MOST_SITEMAPS]
        below = (foreign - len(others)) // max(1, len(asked))
        for url in asked:
            try:
                request = self._sitemap(url, origin, below, **known)
            except ValueError:  # http://[ in one line must not cost the file's other lines
                self._count("no_urls_of_sitemaps")
                continue
            yield request

    def _sitemap(self, url: str, origin: str, foreign: int, **known: str) -> Request:
        words = {key: text for key, text in known.items() if text}
        return Request(
            url,
            callback=self.parse_sitemap,
            priority=PRIORITY["listing"],
            meta={"handle_httpstatus_list": NONE_THERE},
            cb_kwargs={"origin": origin, "foreign": foreign, **words},
        )

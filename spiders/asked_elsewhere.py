"""Asks for a seed once more, through another proxy, where a proxy may have answered it itself.

A captive portal, a block page or a filter has few links and none into a catalogue. Of a page behind
it other pages tell (crawler.access.proxies.same_answers), but a crawl that begins with it has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scrapy import Request
from scrapy.http import Response

from crawler.access.proxies.doubtful_pages import AGAIN, DOUBTFUL, pages_of
from crawler.access.proxies.sticky import ELSEWHERE
from crawler.extract import Found, Link
from crawler.extract.links.gate import CATALOGUE, MAX_LINKS
from scrapy_seine import meta as m
from spiders import which_site
from spiders.page_reading import PageReading, job_of

#: Keys in meta: how often a seed was asked for again; the proxy through which a page came.
_LOOKS, _PROXY = "looks_elsewhere", "proxy_id"
#: Looks through other proxies, at most: more than one of them may answer by themselves.
_MOST_LOOKS = 4


class AskedElsewhere(PageReading):
    """Asks for seeds through other proxies."""

    def _ask_elsewhere(
        self, response: Response, result: Found, links: Sequence[Link]
    ) -> Iterator[Request]:
        """Request a seed through another proxy if nothing of a shop is on its page."""
        meta, looks = response.meta, int(response.meta.get(_LOOKS) or 0)
        is_seed = looks or not (meta.get(m.DEPTH) or m.KNOWN in meta)
        if not is_seed or looks >= _MOST_LOOKS or not meta.get(_PROXY):
            return
        is_small = result.kind == "other" and len(result.page.anchors) <= MAX_LINKS
        if not is_small or any(link.kind in CATALOGUE for link in links):
            return
        self._count("seeds_elsewhere")
        url = str((meta.get("redirect_urls") or (response.url,))[0])
        yield self._again(response, url, {_LOOKS: looks + 1, ELSEWHERE: meta[_PROXY]})

    def _ask_doubtful(self, response: Response) -> Iterator[Request]:
        """Request pages again that were read from a proxy's own answer, as this page showed."""
        for times, url in pages_of(response.meta.get(DOUBTFUL, ())):
            self._count("pages_elsewhere")
            yield self._again(response, url, {AGAIN: times})

    def _again(self, response: Response, url: str, marks: dict[str, Any]) -> Request:
        """Request a page; *marks* are for its meta, the first one makes it a request of its own."""
        link = Link(url, "listing", "a proxy may have answered it")
        request = self._request(link, which_site.find(url), None)
        key, times = next(iter(marks.items()))
        scope = f"{job_of(response)} {key} {times} {url}"
        request.meta.update({**marks, m.SCOPE: scope[: m.LONGEST_SCOPE]})
        return request

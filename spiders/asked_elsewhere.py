"""Asks for a page once more, through another proxy, where a proxy may have answered it itself.

A captive portal, a block page or a filter has few links and none into a catalogue. Other pages with
the same answer tell of it (crawler.access.proxies.same_answers), but a proxy may give it once, and
a crawl that begins with it has no other pages: so a seed is asked for several times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scrapy import Request
from scrapy.http import Response

from crawler.access.proxies.sticky import ELSEWHERE, LOOKS
from crawler.extract import Found, Link
from crawler.extract.links.gate import CATALOGUE, MAX_LINKS
from crawler.requested_address import requested_url
from scrapy_seine import meta as m
from scrapy_seine.urls import slot
from spiders import which_site
from spiders.page_reading import PageReading, job_of

#: Key in meta: the proxy through which a page came.
_PROXY = "proxy_id"
#: Looks at a seed through other proxies, at most: more than one may answer by themselves.
_MOST_LOOKS = 4
#: Bytes of an answer that is no HTML, such as an account's error, at most.
_SMALL = 20_000


class AskedElsewhere(PageReading):
    """Asks for pages through other proxies."""

    def _ask_elsewhere(
        self, response: Response, result: Found | None, links: Sequence[Link]
    ) -> Iterator[Request]:
        """Request a page through another proxy if nothing of a shop is on it; None: no HTML."""
        meta, looks = response.meta, int(response.meta.get(LOOKS) or 0)
        if m.KNOWN in meta or looks >= _MOST_LOOKS or not meta.get(_PROXY):
            return
        is_seed = bool(looks) or not meta.get(m.DEPTH)
        if result is None:
            is_small = len(response.body) <= _SMALL
        else:
            is_small = result.kind == "other" and len(result.page.anchors) <= MAX_LINKS
        has_links = any(link.kind in CATALOGUE for link in links)
        if not is_small or (has_links and (looks or not is_seed)):
            return
        is_shut = self.shut_gates.get(f"{job_of(response)} {slot(response.url)}")
        if has_links or not is_seed or is_shut:  # once
            looks = _MOST_LOOKS - 1
        self._count("asked_elsewhere")
        url = requested_url(response)
        yield self._again(response, url, {LOOKS: looks + 1, ELSEWHERE: meta[_PROXY]})

    def _again(self, response: Response, url: str, marks: dict[str, Any]) -> Request:
        """Request a page; *marks* are for its meta, the first one makes it a request of its own."""
        link = Link(url, "listing", "a proxy may have answered it")
        request = self._request(link, which_site.find(url), None)
        key, times = next(iter(marks.items()))
        scope = f"{job_of(response)} {key} {times} {url}"
        request.meta.update({**marks, m.SCOPE: scope[: m.LONGEST_SCOPE]})
        return request

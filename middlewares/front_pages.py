"""What a site's front page shows through a proxy: a proxy that answers each page shows the same.

A proxy may report an error for a host that does not exist, and answer the pages of one site by
itself all the same: its account has ended, or a filter knows the site. Where no other proxy
contradicts it, the front page does, which shows what no other page of the site shows.

A small shop may show its front page for each address. So a page that may be a shop's is no proxy's
own, nor is a gate, which stands before the front page, too.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any
from urllib.parse import urljoin

import attrs
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http.request import NO_CALLBACK

from crawler.access.block_signatures import CONTENT
from crawler.access.proxies.list_format import Proxy
from crawler.access.proxies.own_answer import Shown, shown
from crawler.extract.limited_dict import Newest
from scrapy_seine.attrs_bases import Record
from scrapy_seine.engine.headers import header

#: Seconds for which a site's turn and its answer are waited for.
_LIMIT_S = 30.0
#: Seconds for which an answer counts: a proxy may begin to answer by itself meanwhile.
_KNOWN_S = 5.0
_MOST_SITES = 1000
#: Links of a page that a proxy makes by itself, at most, and what a visitor answers on a gate.
_MOST_LINKS, _GATES = 10, (b"<form", b"<button", b"document.cookie")


def may_be_sites(body: bytes) -> bool:
    """Whether a page may be a shop's, or its gate.

    >>> may_be_sites(b"<h1>Your plan has ended</h1><a href=/help>Help</a>")
    False
    >>> may_be_sites(b"<h1>Welcome</h1><form action=/in><button>Enter</button></form>")
    True
    """
    text = body.lower()
    return text.count(b"<a ") > _MOST_LINKS or any(sign in text for sign in (*CONTENT, *_GATES))


@attrs.define(eq=False, repr=False)
class _Front(Record):
    until: float = 0.0
    """When what is known becomes old, monotonic s."""
    shown: Shown | None = None
    asking: asyncio.Task[Shown | None] | None = None


class FrontPages:
    """Asks sites for their front pages, in a slot of the site."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._fronts: Newest[_Front] = Newest(_Front, _MOST_SITES)

    async def ask(self, proxy: Proxy, site: str, url: str) -> Shown | None:
        """Return what a site's front page shows, once for all who ask; None: nobody knows."""
        front = self._fronts[site]
        if front.asking is None and monotonic() < front.until:
            return front.shown
        if front.asking is None:
            front.asking = asyncio.ensure_future(self._ask(front, proxy, urljoin(url, "/")))
        return await asyncio.shield(front.asking)

    async def _ask(self, front: _Front, proxy: Proxy, url: str) -> Shown | None:
        front.shown = None
        try:
            front.shown = await asyncio.wait_for(self._download(proxy, url), _LIMIT_S)
        except Exception:  # the proxy's, the site's, or robots.txt forbids it
            self._crawler.stats.inc_value("proxies/front_pages_unknown")
        finally:
            front.asking, front.until = None, monotonic() + _KNOWN_S
        return front.shown

    async def _download(self, proxy: Proxy, url: str) -> Shown | None:
        # With a proxy of its own, so that `Proxies` neither takes another nor judges the answer.
        meta = {"proxy": proxy.url, "dont_retry": True, "dont_redirect": True, "dont_cache": True}
        request = Request(url, meta=meta, callback=NO_CALLBACK, dont_filter=True)
        engine: Any = self._crawler.engine
        self._crawler.stats.inc_value("proxies/front_pages_asked")
        response = await engine.download_async(request)
        if may_be_sites(response.body):
            return None
        return shown(url, response.status, response.body, header(response, "Location"))

"""Warm-up: a process requests port 0 first, so that its handlers are set up before a real request.

Setting a handler up takes 5 to 12 ms of CPU, and ten times as long on a busy machine. It would
happen between the send gate's check and the write: the first request would be late, and the next
one, of another worker, too close behind it.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler

from scrapy_seine.engine.fastpath import scrapy_internals

NOWHERE = "http://127.0.0.1:0/"
#: Settings of which one is set if there are proxies.
PROXY_SETTINGS = (
    "SEINE_PROXIES",
    "SEINE_PROXIES_PATH",
    "ROTATING_PROXY_LIST",
    "ROTATING_PROXY_LIST_PATH",
)
#: Packages whose handlers may be called: Scrapy's, and this one, whatever its name.
_KNOWN = frozenset({"scrapy", __name__.partition(".")[0]})
#: Time in which the set-up is done, s; only the refusal of the connection may still be missing.
ENOUGH_S = 0.05


async def warm_up(crawler: Crawler) -> None:
    """Request port 0 by the plain lane, which no connection can reach.

    With proxies, also through one, because they load another client.
    """
    engine: Any = crawler.engine
    if not scrapy_internals.available("warm-up"):
        return
    handler = scrapy_internals.handler_of(engine.downloader.handlers, "http")
    if type(handler).__module__.partition(".")[0] not in _KNOWN:
        return  # another package's handler may start a browser
    metas: list[dict[str, Any]] = [{}]
    if any(crawler.settings.get(name) for name in PROXY_SETTINGS):
        metas.append({"proxy": NOWHERE})
    for meta in metas:
        with contextlib.suppress(Exception):
            answer = handler.download_request(Request(NOWHERE, meta=meta))
            await asyncio.wait_for(answer, ENOUGH_S)

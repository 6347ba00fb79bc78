"""Warm-up: a process asks port 0 first, so that its handlers are set up before a real request.

A handler's set-up takes 5 to 12 ms of CPU, and ten times as long on a busy machine. It would happen
between the last look at the clock and the wire: the first request would be sent too late, and the
next one, of another worker, too close behind it.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler

from scrapy_seine.engine.fastpath import scrapy_internals

NOWHERE = "http://127.0.0.1:0/"
#: Settings of which one is given where there are proxies.
PROXY_SETTINGS = (
    "SEINE_PROXIES",
    "SEINE_PROXIES_PATH",
    "ROTATING_PROXY_LIST",
    "ROTATING_PROXY_LIST_PATH",
)
#: Packages whose handlers may be asked: Scrapy's, and this one, whatever its name.
_KNOWN = frozenset({"scrapy", __name__.partition(".")[0]})
#: Seconds after which the set-up is done; only the refusal of the connection may still be missing.
ENOUGH_S = 0.05


async def warm_up(crawler: Crawler) -> None:
    """Ask the plain lane for an address that no connection can reach: port 0.

    Where there are proxies, also by way of one: another client is loaded for them.
    """
    engine: Any = crawler.engine
    if not scrapy_internals.available("warm-up"):
        return
    handler = scrapy_internals.handler_of(engine.downloader.handlers, "http")
    if type(handler).__module__.partition(".")[0] not in _KNOWN:
        return  # somebody else's may start a browser
    ways: list[dict[str, Any]] = [{}]
    if any(crawler.settings.get(name) for name in PROXY_SETTINGS):
        ways.append({"proxy": NOWHERE})
    for way in ways:
        with contextlib.suppress(Exception):
            answer = handler.download_request(Request(NOWHERE, meta=way))
            await asyncio.wait_for(answer, ENOUGH_S)

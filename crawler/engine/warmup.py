"""The first request of a process, sent nowhere.

What a handler sets up at a first request takes 5 to 12 ms of CPU, and ten times as long on
a busy machine. They pass between the last look at the clock and the wire, so that the first request
would leave too late, and the next one of another worker too close behind it.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler

from crawler.access.listing import Listing

NOWHERE = "http://127.0.0.1:0/"
#: By then all is set up, and only the refusal is still to come, s.
ENOUGH_S = 0.05


async def warm_up(crawler: Crawler) -> None:
    """Ask the plain lane for an address that no connection can reach: port 0.

    Where there are proxies, also by way of one: another client is loaded for them.
    """
    engine: Any = crawler.engine
    handler = engine.downloader.handlers._get_handler("http")
    if not type(handler).__module__.startswith(("scrapy.core.", "crawler.")):
        return  # somebody else's may start a browser
    ways: list[dict[str, Any]] = [{}]
    if Listing.from_settings(crawler.settings):
        ways.append({"proxy": NOWHERE})
    for way in ways:
        with contextlib.suppress(Exception):
            answer = handler.download_request(Request(NOWHERE, meta=way))
            await asyncio.wait_for(answer, ENOUGH_S)

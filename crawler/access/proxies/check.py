"""Tries proxies on one address, all at once, for people who want to know which ones work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import attrs

from crawler.access.detect import Page, judge
from crawler.access.proxies.line import Proxy
from scrapy_seine.engine.download.http.gateway import asked_for
from scrapy_seine.records import Value

if TYPE_CHECKING:
    import wreq

#: Proxies that are tried at a time.
_AT_ONCE = 50


@attrs.frozen(eq=False, repr=False)
class ProxyCheck(Value):
    """What came of one."""

    id: str
    pool: str
    good: bool
    result: str
    """`HTTP 200`, a verdict, or the kind of error; never the address with its credentials."""
    seconds: float


async def try_all(proxies: Sequence[Proxy], url: str, timeout_s: float) -> list[ProxyCheck]:
    """Ask for *url* through each proxy."""
    import wreq  # Scrapy imports every command for each; few workers need this client

    client = wreq.Client(no_proxy=True)
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(proxy: Proxy) -> ProxyCheck:
        async with gate:
            return await _try(client, proxy, url, timeout_s)

    try:
        return list(await asyncio.gather(*map(one, proxies)))
    finally:
        client.close()


async def _try(client: wreq.Client, proxy: Proxy, url: str, timeout_s: float) -> ProxyCheck:
    import wreq

    began = time.monotonic()
    try:
        limit = timedelta(seconds=timeout_s)
        if proxy.is_gateway:
            response = await client.get(asked_for(proxy.url, url), timeout=limit)
        else:
            way = wreq.Proxy.all(proxy.url)
            response = await client.get(url, proxy=way, timeout=limit)
        status, body = response.status.as_int(), await response.bytes()
        finding = judge(Page(status=status, url=url, body=bytes(body)))
        good = finding.verdict == "ok"
        result = f"HTTP {status}" if good else f"{finding.verdict}: {finding.rule} (HTTP {status})"
    except Exception as error:  # whatever the client raises is this proxy's result
        good, result = False, type(error).__name__
    return ProxyCheck(proxy.id, proxy.pool, good, result, round(time.monotonic() - began, 3))

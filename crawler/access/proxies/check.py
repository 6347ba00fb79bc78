"""Check proxies with one URL, many at once, to show operators which ones work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import attrs

from crawler.access.detect import Page, judge
from crawler.access.proxies.list_format import Proxy
from scrapy_seine.attrs_bases import Value
from scrapy_seine.engine.download.http.url_gateway import asked_for

if TYPE_CHECKING:
    import wreq

#: Proxies that are checked at a time.
_MAX_CONCURRENT = 50


@attrs.frozen(eq=False, repr=False)
class ProxyCheck(Value):
    """The result of checking one proxy."""

    id: str
    pool: str
    good: bool
    result: str
    """`HTTP 200`, a verdict, or the type of the error; never the address with its credentials."""
    seconds: float


async def try_all(proxies: Sequence[Proxy], url: str, timeout_s: float) -> list[ProxyCheck]:
    """Request *url* through each proxy."""
    import wreq  # late, because Scrapy imports all commands, and few need this client

    client = wreq.Client(no_proxy=True)
    semaphore = asyncio.Semaphore(_MAX_CONCURRENT)

    async def check(proxy: Proxy) -> ProxyCheck:
        async with semaphore:
            return await _check(client, proxy, url, timeout_s)

    try:
        return list(await asyncio.gather(*map(check, proxies)))
    finally:
        client.close()


async def _check(client: wreq.Client, proxy: Proxy, url: str, timeout_s: float) -> ProxyCheck:
    import wreq

    started_s = time.monotonic()
    try:
        limit = timedelta(seconds=timeout_s)
        if proxy.is_gateway:
            response = await client.get(asked_for(proxy.url, url), timeout=limit)
        else:
            wreq_proxy = wreq.Proxy.all(proxy.url)
            response = await client.get(url, proxy=wreq_proxy, timeout=limit)
        status, body = response.status.as_int(), await response.bytes()
        finding = judge(Page(status=status, url=url, body=bytes(body)))
        good = finding.verdict == "ok"
        result = f"HTTP {status}" if good else f"{finding.verdict}: {finding.rule} (HTTP {status})"
    except Exception as error:  # any error of the client is this proxy's result
        good, result = False, type(error).__name__
    return ProxyCheck(proxy.id, proxy.pool, good, result, round(time.monotonic() - started_s, 3))

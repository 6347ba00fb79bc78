"""A sitemap of 50,000 pages: each enters once, in small steps, whoever is killed meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import threading
from collections.abc import Iterator

import psutil
import pytest
from aiohttp import web
from redis import Redis

from crawler.catalogue.jobs.in_redis import Jobs
from crawler.stores.store_endpoints import redis_client
from scrapy_seine.frontier.frontier import Frontier
from tests.helpers import patient, wait_until

pytestmark = [
    pytest.mark.acceptance,
    pytest.mark.redis,
    pytest.mark.postgres,
    # More than both waits below, so that one of them says what is missing.
    pytest.mark.timeout(240),
]
PAGES = 50_000
#: A worker whose whole memory is a sitemap of strings needs some 60 MB for it.
MOST_MB = 400


@contextlib.contextmanager
def large_shop() -> Iterator[str]:
    """A site whose sitemap is as large as the protocol allows; its pages say nothing."""
    started, loop = threading.Event(), asyncio.new_event_loop()
    base: list[str] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        if request.path == "/robots.txt":
            return web.Response(text="User-agent: *\nAllow: /\n")
        if request.path != "/sitemap.xml.gz":
            return web.Response(text="<title>a page</title>", content_type="text/html")
        entries = "".join(f"<url><loc>{base[0]}p/{n}</loc></url>" for n in range(PAGES))
        body = gzip.compress(f"<urlset>{entries}</urlset>".encode(), 1)
        return web.Response(body=body, content_type="application/gzip")

    async def serve() -> None:
        runner = web.ServerRunner(web.Server(answer, access_log=None))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        base.append(f"http://127.0.0.1:{runner.addresses[0][1]}/")
        started.set()
        await stop.wait()
        await runner.cleanup()

    stop = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert started.wait(patient(10))
        yield base[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def begin(redis_url: str, crawl: str, shop: str) -> None:
    async def work() -> None:
        redis = redis_client(redis_url)
        fields = {"callback": "parse_sitemap", "cb_kwargs": {"origin": shop}}
        urls = [f"{shop}sitemap.xml.gz"]
        await Jobs(Frontier(redis, crawl)).begin(
            "big", site_id="big", kind="news", urls=urls, fields=fields
        )
        await redis.aclose()

    asyncio.run(work())


def test_each_page_of_it_enters_once_in_small_steps(crawl, redis_url):
    with large_shop() as shop, Redis.from_url(redis_url) as redis:
        begin(redis_url, crawl.name, shop)
        job = f"{crawl.keys.prefix}job:big"

        def total() -> int:
            return int(redis.hget(job, "total") or 0)

        first = crawl.start()
        wait_until(lambda: total() > 5_000, 60, "the sitemap is being read")
        in_between = total()
        first.kill()
        assert in_between < PAGES, "it was read in one step"
        second = crawl.start()
        highest = 0

        def complete() -> bool:
            nonlocal highest
            with contextlib.suppress(psutil.Error):
                highest = max(highest, psutil.Process(second.pid).memory_info().rss)
            # The last links enter with the sitemap's own ack.
            return total() >= PAGES + 1

        wait_until(complete, 120, "all of its pages are in the frontier")
        crawl.workers.stop()
        assert total() == PAGES + 1
        assert highest < MOST_MB << 20
        print(f"{in_between} pages at the kill; at most {highest >> 20} MB")

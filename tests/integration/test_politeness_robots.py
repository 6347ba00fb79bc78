"""robots.txt: once for the fleet, obeyed by each worker, never a reason to lose a page."""

from __future__ import annotations

import asyncio
import gzip
import json
import secrets
from itertools import pairwise

import pytest
from aiohttp import web
from redis.asyncio import Redis

from scrapy_seine.politeness.robots_cache import (
    FetchedRobots,
    FetchNeeded,
    FetchRunning,
    SharedRobots,
)
from settings.test import DOWNLOADER_MIDDLEWARES
from tests.helpers import wait_until_async
from tests.integration.politeness.crawl import Crawl, stat
from tests.integration.politeness.site import Answer, Site, page, serve

pytestmark = pytest.mark.redis


@pytest.fixture(autouse=True)
async def _no_robots_txt_of_an_earlier_site(redis_url):
    """Each crawl of a server knows them by address, and a free port is that of an earlier site."""
    async with Redis.from_url(redis_url) as redis:
        async for key in redis.scan_iter("robots:*"):
            await redis.delete(key)


def robots(*answers: web.Response | tuple[int, str]) -> Answer:
    """A site whose robots.txt answers each of these in turn, the last one for ever."""
    left = list(answers)

    def answer(request: web.BaseRequest) -> web.StreamResponse:
        if request.path != "/robots.txt":
            return page(request)
        status, text = left.pop(0) if len(left) > 1 else left[0]
        return web.Response(status=status, text=text)

    return answer


async def crawl_of(
    redis_url: str, name: str, site: Site, urls: list[str], workers: int = 1, **more: object
):
    async with Crawl(redis_url, name, {"ROBOTSTXT_OBEY": True, **more}) as crawl:
        await crawl.start(workers)
        await crawl.seed(urls)
        return await crawl.finish()


async def test_three_workers_fetch_one_robots_txt_and_obey_it(redis_url, namespace):
    rules = "User-agent: *\nDisallow: /no/\n"
    async with serve(robots((200, rules)), latency_s=0.05) as site:
        urls = [*site.pages(60), *(f"{site.url}no/{i}" for i in range(20))]
        logs = await crawl_of(redis_url, namespace, site, urls, workers=3)
        assert site.count("/robots.txt") == 1
        assert len(site.times()) == 60
        assert not site.times("/no/")
        assert stat(logs, "robotstxt/forbidden") == 20
        # A later crawl of the same site reads it from Redis.
        await crawl_of(redis_url, f"{namespace}-2", site, site.pages(2))
        assert site.count("/robots.txt") == 1


async def test_a_request_for_robots_txt_takes_the_known_one_if_it_says_so(redis_url, namespace):
    async with serve(robots((200, "Sitemap: /map.xml\n"))) as site:
        known = json.dumps({"url": f"{site.url}robots.txt", "meta": {"known_robots": True}})
        await crawl_of(redis_url, namespace, site, [*site.pages(2), known])
        assert site.count("/robots.txt") == 1
        await crawl_of(redis_url, f"{namespace}-2", site, [f"{site.url}robots.txt"])
        assert site.count("/robots.txt") == 2


async def test_an_unreadable_robots_txt_delays_every_page_and_loses_none(redis_url, namespace):
    async with serve(robots((500, ""), (200, "User-agent: *\nAllow: /\n"))) as site:
        await crawl_of(redis_url, namespace, site, site.pages(30), workers=2)
        asked = site.times("/robots.txt")
        assert len(asked) == 2
        assert asked[1] - asked[0] >= 4.9
        assert min(site.times()) > asked[1]
        assert len(site.times()) == 30


async def test_a_damaged_robots_txt_delays_every_page_and_loses_none(redis_url, namespace):
    """I7: it was taken for none, and what it forbids was fetched."""
    rules = gzip.compress(b"User-agent: *\nDisallow: /no/\n" + b"# more\n" * 99)
    left = [rules[:-20], rules]

    def answer(request: web.BaseRequest) -> web.StreamResponse:
        if request.path != "/robots.txt":
            return page(request)
        body = left.pop(0) if len(left) > 1 else left[0]
        return web.Response(body=body, headers={"Content-Encoding": "gzip"})

    async with serve(answer) as site:
        urls = [*site.pages(5), f"{site.url}no/1"]
        await crawl_of(redis_url, namespace, site, urls)
        asked = site.times("/robots.txt")
        assert len(asked) == 2
        assert min(site.times()) > asked[1]
        assert len(site.times()) == 5
        assert not site.times("/no/")


@pytest.mark.parametrize("client", ["seine", "scrapy"])
@pytest.mark.parametrize("packed", [False, True])
async def test_a_huge_robots_txt_holds_with_its_first_part(redis_url, namespace, client, packed):
    """RFC 9309, 2.5: above 4 MB no rule was read, and the site's pages became dead letters."""
    filler = "".join(f"# {secrets.token_hex(1000)}\n" for _ in range(8000))
    body = f"User-agent: *\nDisallow: /no/\n{filler}".encode()
    body = gzip.compress(body, 1) if packed else body
    sent = []

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        if request.path != "/robots.txt":
            return page(request)
        headers = {"Content-Encoding": "gzip"} if packed else {}
        response = web.StreamResponse(headers={**headers, "Content-Length": str(len(body))})
        await response.prepare(request)
        for start in range(0, len(body), 1 << 16):
            await response.write(body[start : start + (1 << 16)])
            sent.append(start)
        return response

    async with serve(answer) as site:
        urls = [*site.pages(5), f"{site.url}no/1"]
        await crawl_of(redis_url, namespace, site, urls, SEINE_CLIENT=client)
        assert site.count("/robots.txt") == 1
        assert len(site.times()) == 5
        assert not site.times("/no/")
        assert sent[-1] < len(body) - (1 << 16)


async def test_a_robots_txt_that_a_middleware_ignores_delays_every_page(redis_url, namespace):
    """I5: it was taken for none, and what it forbids was fetched."""
    rules = "User-agent: *\nDisallow: /no/\n"
    shy = {**DOWNLOADER_MIDDLEWARES, "tests.integration.politeness.ignores_once.IgnoresOnce": 10}
    async with serve(robots((200, rules))) as site:
        urls = [*site.pages(5), f"{site.url}no/1"]
        logs = await crawl_of(redis_url, namespace, site, urls, DOWNLOADER_MIDDLEWARES=shy)
        assert site.count("/robots.txt") == 1
        assert len(site.times()) == 5
        assert not site.times("/no/")
        assert "a middleware ignores it (IgnoreRequest: not yet)" in logs[0]


async def test_a_missing_robots_txt_and_a_redirected_one(redis_url, namespace):
    def missing(request: web.BaseRequest) -> web.StreamResponse:
        return page(request) if request.path != "/robots.txt" else web.Response(status=403)

    def hops(times: int) -> Answer:
        def answer(request: web.BaseRequest) -> web.StreamResponse:
            if request.path == "/robots.txt":
                raise_to = f"/hop/{times}"
            elif request.path.startswith("/hop/") and request.path != "/hop/1":
                raise_to = f"/hop/{int(request.path[5:]) - 1}"
            elif request.path == "/hop/1":
                return web.Response(text="User-agent: *\nDisallow: /p/\n")
            else:
                return page(request)
            return web.Response(status=301, headers={"Location": raise_to})

        return answer

    async def case(name: str, answer: Answer, pages: int) -> None:
        async with serve(answer) as site:
            await crawl_of(redis_url, f"{namespace}-{name}", site, site.pages(3))
            assert len(site.times()) == pages, name

    await asyncio.gather(
        case("missing", missing, 3), case("five", hops(5), 0), case("six", hops(6), 3)
    )


async def test_a_robots_txt_that_redis_refuses_to_tell_is_named(redis_url, namespace):
    """A refusal lasts until somebody acts, so the pages' wait must have a line."""
    async with (
        serve(robots((200, "User-agent: *\nAllow: /\n"))) as site,
        Redis.from_url(redis_url) as redis,
        Crawl(redis_url, namespace, {"ROBOTSTXT_OBEY": True}) as crawl,
    ):
        origin = site.url.rstrip("/")
        await redis.set(f"robots:{{{origin}}}", "somebody else's")
        await crawl.start()
        await crawl.seed(site.pages(5))
        await crawl.logged(f"The pages of {origin} wait for robots.txt")
        await redis.delete(f"robots:{{{origin}}}")
        logs = await crawl.finish()
        assert len(site.times()) == 5
        assert "Redis refuses: WRONGTYPE" in logs[0]


@pytest.mark.alone
async def test_crawl_delay_spaces_everything_robots_txt_included(redis_url, namespace):
    async with serve(robots((200, "User-agent: *\nCrawl-delay: 0.2\n")), latency_s=0.03) as site:
        await crawl_of(redis_url, namespace, site, site.pages(25), workers=3)
        times = sorted(at for at, _ in site.arrivals)
        gaps = [b - a for a, b in pairwise(times)]
        assert len(times) == 26
        assert min(gaps) >= 0.19, sorted(gaps)[:5]
        assert times[-1] - times[0] < 25 * 0.2 * 1.3


async def test_robots_txt_goes_the_way_of_the_page(redis_url, namespace):
    """A page with a proxy: the site sees robots.txt through the proxy as well."""
    async with serve(robots((200, "User-agent: *\nDisallow: /no\n"))) as proxy:
        seeds = [
            json.dumps({"url": f"http://far.invalid/p/{i}", "meta": {"proxy": proxy.url}})
            for i in range(3)
        ]
        await crawl_of(redis_url, namespace, proxy, seeds, SEINE_PRIVATE_ADDRESSES="allow")
        assert len(proxy.arrivals) == 4


async def test_one_worker_fetches_and_a_dead_one_is_replaced(redis_client: Redis, namespace):
    origin = f"http://{namespace}.example"
    first = SharedRobots(redis_client, "first", lock_s=50, now_ms=1_000_000)
    second = SharedRobots(redis_client, "second", lock_s=50, now_ms=1_000_000)
    assert await first.lookup(origin) == FetchNeeded(0)
    assert await second.lookup(origin) == FetchRunning()
    await redis_client.delete(f"robots:{{{origin}}}:lock")  # it expired: the first one died
    assert await second.lookup(origin) == FetchNeeded(0)
    await first.store(origin, FetchedRobots("free", b"", 60))  # late: it no longer holds the lock
    assert await first.lookup(origin) == FetchRunning()
    await second.store(origin, FetchedRobots("away", b"", 5), failures=1)
    assert await first.lookup(origin) == FetchedRobots("away", b"", 5)
    first.now_ms += 5_000
    assert await first.lookup(origin) == FetchNeeded(1)
    await first.store(origin, FetchedRobots("rules", b"User-agent: *", 60))
    second.now_ms += 6_000
    assert await second.lookup(origin) == FetchedRobots("rules", b"User-agent: *", 59)


async def test_the_fetching_worker_keeps_its_lock_and_a_dead_one_loses_it_soon(
    redis_client: Redis, namespace
):
    """A lock as long as the longest fetch made a site wait for 50 s after its worker's death."""
    origin = f"http://{namespace}.example"
    first = SharedRobots(redis_client, "first", lock_s=1.5)
    second = SharedRobots(redis_client, "second", lock_s=1.5)

    async def left_ms() -> int:
        return int(await redis_client.pttl(f"robots:{{{origin}}}:lock"))

    async def has_run_down() -> bool:
        return await left_ms() < 1300

    async def is_renewed() -> bool:
        return await left_ms() > 1300

    async def is_free() -> bool:
        return await second.lookup(origin) == FetchNeeded(0)

    assert await first.lookup(origin) == FetchNeeded(0)
    async with first.locked(origin):
        for _ in range(2):
            await wait_until_async(has_run_down, 2, "the lock runs down")
            await wait_until_async(is_renewed, 2, "its holder renews it")
        assert await second.lookup(origin) == FetchRunning()
    await wait_until_async(is_free, 5, "nobody renews it any more")
    assert SharedRobots(redis_client, "default").lock_s <= 10

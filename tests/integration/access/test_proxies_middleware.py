"""The proxies' middleware: rotating_proxies' settings and hooks, sessions, changing lists."""

from __future__ import annotations

import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadTimeoutError,
    IgnoreRequest,
    NotConfigured,
    NotSupported,
)
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.statscollectors import StatsCollector

from crawler.access.detect import VERDICT
from crawler.access.proxies.doubtful_pages import doubtful_pages
from crawler.access.proxies.pool import TakenProxy
from crawler.stores.store_endpoints import redis_client
from middlewares.ban_policy import VerdictPolicy
from middlewares.proxies import LEASE, PROXY_ID, Proxies
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import AddressRefused, ConfigError, NoWay
from scrapy_seine.frontier.model import Lease
from scrapy_seine.middlewares.robots import RobotsMiddleware

pytestmark = pytest.mark.redis
URL = "http://shop.example/p/1"
Make = Callable[..., Awaitable[Proxies]]


class NobodyIsBanned:
    """A ban policy of a project, in rotating_proxies' form."""

    def response_is_ban(self, request: Request, response: Response) -> bool:
        return False

    def exception_is_ban(self, request: Request, exception: Exception) -> bool | None:
        return None


@pytest.fixture
async def make(redis_url: str, namespace: str) -> AsyncIterator[Make]:
    made: list[Proxies] = []

    async def build(spider: type[Spider] = Spider, **settings: Any) -> Proxies:
        found = Settings()
        found.setmodule("settings.test")
        found.setdict({"REDIS_URL": redis_url, "SEINE_FLEET": namespace, **settings}, "cmdline")
        crawler = Crawler(spider, found)
        crawler.stats = StatsCollector(crawler)
        crawler.spider = spider("x")
        made.append(Proxies.from_crawler(crawler))
        return made[-1]

    yield build
    for middleware in made:
        await middleware.closed()


def leased(middleware: Proxies, number: int = 1, **meta: Any) -> Request:
    """A request as the scheduler hands it out."""
    request = Request(URL, meta=meta)
    lease = Lease(id=str(number), token="1", slot_ms=0, delay_ms=0, deliveries=0, stored=b"")
    inflight = worker_of(middleware.crawler).inflight
    inflight.connect(lambda entry: None, lambda *_: 0.0)
    inflight.begin(request, lease)
    return request


async def used(middleware: Proxies, **meta: Any) -> str:
    """Send one request that ends well; its proxy."""
    request = leased(middleware, **meta)
    assert await middleware.process_request(request) is None
    proxy = str(request.meta["proxy"])
    request.meta[VERDICT] = "ok"
    await middleware.process_response(request, Response(URL))
    return proxy


async def test_without_a_list_there_is_no_middleware(make: Make) -> None:
    with pytest.raises(NotConfigured):
        await make()


async def test_rotating_proxies_own_settings_work(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "proxies.txt"
    path.write_text("b.example:2\n# a comment\n", "utf-8")
    middleware = await make(
        ROTATING_PROXY_LIST=["a.example:1"],
        ROTATING_PROXY_LIST_PATH=str(path),
        ROTATING_PROXY_BACKOFF_BASE=7,
    )
    assert {await used(middleware) for _ in range(4)} == {
        "http://a.example:1",
        "http://b.example:2",
    }
    assert middleware.config.quarantine_s == 7


async def test_a_request_with_a_proxy_of_its_own_or_for_none_is_left_alone(make: Make) -> None:
    middleware = await make(SEINE_PROXIES="a.example:1")
    own = leased(middleware, proxy="http://mine.example:9")
    none = leased(middleware, proxy_pool="none")
    for request in (own, none):
        assert await middleware.process_request(request) is None
    assert own.meta["proxy"] == "http://mine.example:9"
    assert "proxy" not in none.meta


async def test_a_refused_proxy_is_not_used_again_and_the_page_keeps_its_tries(make: Make) -> None:
    middleware = await make(SEINE_PROXIES="a.example:1,b.example:2")
    request = leased(middleware)
    await middleware.process_request(request)
    refused, request.meta[VERDICT] = request.meta["proxy"], "blocked"
    back = await middleware.process_response(request, Response(URL, status=403))
    assert isinstance(back, Request)
    assert "retry_count" not in back.meta
    assert refused not in {await used(middleware) for _ in range(3)}


async def test_refusals_of_one_proxy_count_for_the_site_once_and_only_if_it_was_accepted(
    make: Make,
) -> None:
    middleware = await make(SEINE_PROXIES="a.example:1,b.example:2")
    told: list[tuple[bool, int]] = []
    worker_of(middleware.crawler).verdict_listeners.listen(
        lambda _, good, weight: told.append((good, weight))
    )

    async def refuse(request: Request) -> None:
        request.meta[VERDICT] = "captcha"
        await middleware.process_response(request, Response(URL))

    unproven = leased(middleware)
    await middleware.process_request(unproven)
    await refuse(unproven)
    assert told == []
    await used(middleware)
    under_way = [leased(middleware, n) for n in (2, 3)]
    for request in under_way:
        await middleware.process_request(request)
    for request in under_way:
        await refuse(request)
    assert told == [(False, 1)]


async def test_a_pause_of_all_proxies_is_no_refusal_by_the_site(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SEINE_PROXY_DELAY_MS climbed the ladder, and could end the spider for want of proxies."""
    middleware = await make(SEINE_PROXIES="a.example:1", SEINE_PROXY_DELAY_MS=3_600_000)
    told: list[bool] = []
    listeners = worker_of(middleware.crawler).verdict_listeners
    listeners.listen(lambda _, good, weight: told.append(good))
    await used(middleware)
    assert isinstance(await middleware.process_request(leased(middleware, 2)), Request)
    assert told == []
    pool = middleware._pool
    assert pool is not None
    [only] = middleware.proxies
    await pool.report("shop.example", TakenProxy(only.id, ""), "ban")
    assert isinstance(await middleware.process_request(leased(middleware, 3)), Request)
    assert told == [False], "now it is one"


async def test_where_no_proxy_is_free_the_request_waits_in_the_frontier(make: Make) -> None:
    middleware = await make(SEINE_PROXIES="a.example:1")
    first, second = leased(middleware, 1), leased(middleware, 2)
    await middleware.process_request(first)
    back = await middleware.process_request(second)
    assert isinstance(back, Request)
    entry = worker_of(middleware.crawler).inflight.entry_of(second)
    assert entry is not None
    assert (entry.outcome, entry.kind) == ("retry", "proxy")
    assert entry.wait_s > 0
    assert middleware.stats.get_value("proxies/none_free") == 1


async def test_a_projects_ban_policy_and_a_spiders_own_decide(make: Make) -> None:
    class Strict(Spider):
        name = "x"

        def response_is_ban(self, request: Request, response: Response) -> bool:
            return True

    policy = f"{__name__}.NobodyIsBanned"
    lenient = await make(SEINE_PROXIES="a.example:1", ROTATING_PROXY_BAN_POLICY=policy)
    request = leased(lenient)
    await lenient.process_request(request)
    request.meta[VERDICT] = "blocked"
    answer = Response(URL, status=403)
    assert await lenient.process_response(request, answer) is answer
    strict = await make(Strict, SEINE_PROXIES="a.example:1")
    request = leased(strict)
    await strict.process_request(request)
    assert await strict.process_response(request, Response(URL)) is not answer
    assert request.meta["_ban"] is True


async def test_a_residential_session_lasts_and_then_moves_on(make: Make) -> None:
    lines = [f"{name}.example:1 pool=residential" for name in "abc"]
    middleware = await make(SEINE_PROXIES=lines, SEINE_PROXY_STICKY_REQUESTS=3)
    ways = [await used(middleware) for _ in range(6)]
    assert len(set(ways[:3])) == len(set(ways[3:])) == 1
    assert ways[0] != ways[3]


async def test_datacenter_proxies_change_with_each_request(make: Make) -> None:
    middleware = await make(SEINE_PROXIES=[f"{name}.example:1" for name in "abc"])
    assert len({await used(middleware) for _ in range(3)}) == 3


async def test_a_changed_list_is_read_while_the_crawl_runs(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "proxies.txt"
    path.write_text("a.example:1\n", "utf-8")
    middleware = await make(SEINE_PROXIES_PATH=str(path))
    assert await used(middleware) == "http://a.example:1"
    path.write_text("b.example:2\nnonsense\n", "utf-8")
    os.utime(path, (1, 1))
    middleware._look_at = 0.0
    assert await used(middleware) == "http://b.example:2"


async def test_lists_that_stay_different_are_told_once_and_without_credentials(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    one = await make(SEINE_PROXIES="http://me:hunter2@a.example:1,b.example:2")
    other = await make(SEINE_PROXIES="b.example:2,http://me:hunter2@c.example:3")
    await used(one)
    for _ in range(3):
        other._look_at = other._register_at = 0.0
        await used(other)
    told = [r.getMessage() for r in caplog.records if "different lists" in r.getMessage()]
    assert len(told) == 1
    assert "Only here: 1 (c.example:3#" in told[0]
    assert "only elsewhere: 1 (a.example:1#" in told[0]
    assert "hunter2" not in caplog.text
    own = {"http://b.example:2", "http://me:hunter2@c.example:3"}
    assert {await used(other) for _ in range(4)} <= own


async def test_an_outage_of_redis_is_a_wait_and_no_error(make: Make, tmp_path: Path) -> None:
    """A page that arrives is fetched again: nobody compared it, and it may be a portal's."""
    middleware = await make(SEINE_PROXIES="a.example:1")
    sent = leased(middleware, 2, **{VERDICT: "ok"})
    await middleware.process_request(sent)
    assert middleware._pool is not None
    await middleware._pool.redis.aclose()
    middleware._pool.redis = redis_client(f"unix://{tmp_path}/gone")
    assert isinstance(await middleware.process_request(leased(middleware)), Request)
    assert middleware.stats.get_value("proxies/store_errors") == 1
    again = await middleware.process_response(sent, Response(URL, body=b"Welcome"))
    assert isinstance(again, Request)
    assert "retry_count" not in again.meta


async def test_a_refusal_of_redis_is_counted_each_time_and_told_once_with_what_waits(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    middleware = await make(SEINE_PROXIES="a.example:1")
    await used(middleware)
    pool = middleware._pool
    assert pool is not None
    await pool.redis.delete(pool.key + "info")
    await pool.redis.set(pool.key + "info", "another program's")
    for number in (2, 3):
        waiting = await middleware.process_request(leased(middleware, number))
        assert isinstance(waiting, Request)
    await pool.redis.delete(pool.key + "info")
    assert middleware.stats.get_value("proxies/store_errors") == 2
    [line] = [r.getMessage() for r in caplog.records if "Redis refuses" in r.getMessage()]
    assert line.endswith("The requests to shop.example wait for a proxy")


async def test_no_credential_is_in_what_others_see(make: Make) -> None:
    middleware = await make(SEINE_PROXIES="http://me:hunter2@a.example:1")
    request = leased(middleware)
    await middleware.process_request(request)
    shown = {k: v for k, v in request.meta.items() if k != "proxy"}
    assert "hunter2" not in f"{shown} {middleware.proxies_by_id} {middleware.stats.get_stats()}"
    assert LEASE in shown
    assert request.meta[PROXY_ID].startswith("a.example:1#")


@pytest.mark.parametrize("content", [b"", b"\n# none yet\n", b"\xef\xbb\xbf\r\n# none yet\r\n"])
async def test_an_empty_list_is_said_and_stops_nothing(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes
) -> None:
    """A file that is mounted before its first proxy is written means no proxies."""
    path = tmp_path / "proxies"
    path.write_bytes(content)
    middleware = await make(SEINE_PROXIES_PATH=str(path))
    request = leased(middleware)
    assert await middleware.process_request(request) is None
    assert "proxy" not in request.meta
    assert "lists no proxy: requests are sent directly" in caplog.text
    assert [record.levelname for record in caplog.records] == ["WARNING"]


async def test_a_worker_that_starts_with_an_empty_list_waits_where_others_have_proxies(
    make: Make, tmp_path: Path
) -> None:
    """A worker that starts while the list is written sent its requests from its own address."""
    await used(await make(SEINE_PROXIES="a.example:1"))
    path = tmp_path / "proxies"
    path.touch()
    middleware = await make(SEINE_PROXIES_PATH=str(path))
    request = leased(middleware)
    assert await middleware.process_request(request) is not None
    entry = worker_of(middleware.crawler).inflight.entry_of(request)
    assert entry is not None
    assert (entry.outcome, entry.kind) == ("retry", "proxy")
    assert entry.wait_s <= 1, "longer waits block the site for the workers that have proxies"
    path.write_text("b.example:2\n")
    middleware._look_at = 0.0
    assert await used(middleware) == "http://b.example:2"


async def test_a_worker_without_proxies_takes_those_that_its_list_gets(
    make: Make, tmp_path: Path
) -> None:
    path = tmp_path / "proxies"
    path.touch()
    middleware = await make(SEINE_PROXIES_PATH=str(path))
    assert await middleware.process_request(leased(middleware)) is None
    path.write_text("b.example:2\n")
    middleware._direct_until = middleware._look_at = 0.0
    assert await used(middleware) == "http://b.example:2"


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", b"no proxy at all\n"])
async def test_a_list_that_cannot_be_used_stops_the_start(
    make: Make, tmp_path: Path, content: bytes | None
) -> None:
    """Else each request would leave from the worker's own address."""
    path = tmp_path / "proxies"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match="list of proxies"):
        await make(SEINE_PROXIES_PATH=str(path))


async def test_a_list_that_vanishes_is_said_and_the_last_one_stays(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "proxies"
    path.write_text("http://127.0.0.1:8001\n")
    middleware = await make(SEINE_PROXIES_PATH=str(path))
    first = await used(middleware)
    path.unlink()
    middleware._look_at = 0.0
    assert await used(middleware) == first
    path.write_text("")
    middleware._look_at = 0.0
    assert await used(middleware) == first
    assert caplog.text.count("the last 1 stay in use") == 2
    path.write_text("http://127.0.0.1:8002\n")
    middleware._look_at = 0.0
    assert await used(middleware) != first


async def test_a_pool_that_no_proxy_has_is_said_and_its_requests_end(
    make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    middleware = await make(SEINE_PROXIES=["http://127.0.0.1:8001"])
    back = await middleware.process_request(leased(middleware, proxy_pool="residential"))
    assert back is not None
    assert "no proxy of pool 'residential' is listed" in caplog.text
    monkeypatch.setattr("scrapy_seine.engine.lease.stated_outcomes.LACKING_S", -1.0)
    request = leased(middleware, 2, proxy_pool="residential")
    with pytest.raises(IgnoreRequest):
        await middleware.process_request(request)
    entry = worker_of(middleware.crawler).inflight.entry_of(request)
    assert entry is not None
    assert (entry.outcome, entry.kind) == ("bury", "proxy")


async def test_a_pool_that_no_proxy_has_reaches_a_page_through_its_robots_txt(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else robots.txt would be "away" for ever: the page neither read nor a dead letter."""
    proxies = await make(SEINE_PROXIES=["http://127.0.0.1:8001"], ROBOTSTXT_OBEY=True)
    request = leased(proxies, proxy_pool="residential")
    robots = RobotsMiddleware.from_crawler(proxies.crawler)

    async def ask(request: Request) -> None:
        """The way of robots.txt through this middleware, as the downloader goes it."""
        meta = {"proxy_pool": request.meta["proxy_pool"]}
        again: Request | None = Request("http://shop.example/robots.txt", meta=meta)
        while again is not None:
            again = await proxies.process_request(again)

    proxies.crawler._engine = SimpleNamespace(download_async=ask)  # type: ignore[assignment]
    back = await robots.process_request(request)  # type: ignore[misc]
    entry = worker_of(proxies.crawler).inflight.entry_of(request)
    assert back is not None
    assert entry is not None
    assert (entry.outcome, entry.kind) == ("retry", "proxy")
    assert not robots.sites, "robots.txt of the site is not known to be away"
    monkeypatch.setattr("scrapy_seine.engine.lease.stated_outcomes.LACKING_S", -1.0)
    request = leased(proxies, 2, proxy_pool="residential")
    with pytest.raises(IgnoreRequest):
        await robots.process_request(request)  # type: ignore[misc]
    entry = worker_of(proxies.crawler).inflight.entry_of(request)
    assert entry is not None
    assert (entry.outcome, entry.kind) == ("bury", "proxy")


@pytest.mark.parametrize(
    ("error", "ban"),
    [
        (AddressRefused("a private address", "10.0.0.1:80"), None),
        (DownloadCancelledError(), None),
        (NoWay("no client for a gateway"), None),
        (IgnoreRequest(), None),
        (NotSupported("a browser cannot log in to this SOCKS proxy"), True),
        (DownloadTimeoutError(), True),
    ],
)
def test_a_proxy_is_not_blamed_for_a_page(error: Exception, ban: bool | None) -> None:
    """Else a page that links to a private address could ban all proxies of its site."""
    assert VerdictPolicy().exception_is_ban(Request(URL), error) is ban


@pytest.mark.parametrize("workers", [1, 4])
async def test_a_proxy_with_one_answer_for_all_pages_is_banned_and_they_are_sent_again(
    make: Make, caplog: pytest.LogCaptureFixture, workers: int
) -> None:
    """A third of a shop was read from a captive portal, and called done.

    Of a fleet each worker read a page from it, because none had another one to compare.
    """
    ways = ["portal.example:1", "good.example:2"]
    fleet = [await make(SEINE_PROXIES=ways) for _ in range(workers)]
    turns = itertools.cycle(fleet)

    async def read_through(number: int) -> str:
        """Send a page until it is read; returns its proxy."""
        meta: dict[str, Any] = {}
        while True:
            proxies = next(turns)
            request = leased(proxies, number, **meta)
            request._set_url(f"http://shop.example/p/{number}")
            assert await proxies.process_request(request) is None
            request.meta[VERDICT] = "ok"
            proxy = str(request.meta["proxy"])
            body = b"Welcome" if "portal" in proxy else b"%d" % number
            answer = Response(request.url, body=body)
            back = await proxies.process_response(request, answer)
            if back is answer:
                return proxy
            assert isinstance(back, Request)
            meta = back.meta

    read = [await read_through(number) for number in range(20 * workers)]
    assert read.count("http://portal.example:1") <= 1, "nothing to compare the first page with"
    assert caplog.text.count("answers pages of shop.example with what is not the site's") == 1
    read_there = [f"0 http://shop.example/p/{n}" for n, via in enumerate(read) if "portal" in via]
    pool = await fleet[0]._open()
    doubtful = await doubtful_pages(pool.redis, pool.key, "")
    assert [name for pages in doubtful for name in pages.names] == read_there
    assert sum(proxies.stats.get_value("proxies/bans", 0) for proxies in fleet) == 1


async def test_an_answer_of_a_proxys_own_never_counts_as_done(make: Make) -> None:
    """After six banned proxies the seventh one's was read as the page."""
    proxies = await make(SEINE_PROXIES=["portal.example:1", "portal.example:2"])
    inflight = worker_of(proxies.crawler).inflight
    request = leased(proxies, proxy_retry_times=100)
    assert await proxies.process_request(request) is None
    assert await proxies.reject(request, "led to its login") is not None
    entry = inflight.entry_of(request)
    assert entry is not None
    assert (entry.outcome, entry.kind) == ("retry", "proxy")
    inflight.connect(lambda entry: None, lambda *_: None)
    last = Request(URL, meta={"proxy_retry_times": 100, PROXY_ID: "portal", LEASE: "1"})
    lease = Lease(id="2", token="1", slot_ms=0, delay_ms=0, deliveries=0, stored=b"")
    entry = inflight.begin(last, lease)
    with pytest.raises(IgnoreRequest, match="led to its login"):
        await proxies.reject(last, "led to its login")
    assert entry.outcome == "bury"

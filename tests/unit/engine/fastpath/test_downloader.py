"""The downloader without a queue keeps what Scrapy promises to middlewares and handlers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, _InvalidOutput
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from scrapy_seine.engine.fastpath import site_slots
from scrapy_seine.engine.fastpath.downloader import Downloader
from scrapy_seine.engine.fastpath.site_slots import SiteSlots
from scrapy_seine.engine.lease.uncaught import unbroken

URL = "http://127.0.0.1/page"


class Handler(BaseDownloadHandler):
    """Answers at once; URLs with "broken" fail."""

    lazy = False

    async def download_request(self, request: Request) -> Response:
        if "broken" in request.url:
            raise OSError("no way")
        return Response(request.url, body=b"page")

    async def close(self) -> None:
        """Nothing is open."""


class Middleware:
    """Does what the request asks for; notes what it sees."""

    def process_request(self, request: Request) -> Any:
        request.meta.setdefault("seen", []).append("request")
        return request.meta.get("before")

    def process_response(self, request: Request, response: Response) -> Any:
        request.meta["seen"].append("response")
        return request.meta.get("after", response)

    def process_exception(self, request: Request, exception: Exception) -> Any:
        request.meta["seen"].append(type(exception).__name__)
        return request.meta.get("instead")


async def promised(value: Any) -> Any:
    """What an asynchronous middleware returns."""
    await asyncio.sleep(0)
    return value


def downloader(**settings: Any) -> Downloader:
    """One with the middleware above and nothing else."""
    base = {
        "DOWNLOAD_HANDLERS_BASE": {},
        "DOWNLOAD_HANDLERS": {"http": Handler},
        "DOWNLOADER_MIDDLEWARES_BASE": {},
        "DOWNLOADER_MIDDLEWARES": {Middleware: 1},
        "CONCURRENT_REQUESTS": 32,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
    }
    crawler = Crawler(Spider, Settings({**base, **settings}))
    crawler.stats = MemoryStatsCollector(crawler)
    crawler.spider = Spider("test")
    return Downloader(crawler)


def fetched(request: Request, **settings: Any) -> Awaitable[Any]:
    """Fetch it with a new downloader."""
    return downloader(**settings).fetch(request).asFuture(asyncio.get_running_loop())


async def test_a_page_passes_all_middlewares_and_leaves() -> None:
    request = Request(URL)
    used = downloader()
    response = await used.fetch(request).asFuture(asyncio.get_running_loop())
    assert response.body == b"page"
    assert request.meta["seen"] == ["request", "response"]
    assert request.meta["download_slot"] == "127.0.0.1"
    assert not used.active


async def test_code_of_a_project_reads_the_slot_of_the_site_that_it_asked(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SiteSlots, "was_logged", False)
    slots = {"own": {"delay": 3, "concurrency": 2}}
    used = downloader(DOWNLOAD_DELAY=0.5, DOWNLOAD_SLOTS=slots)
    for request in (Request(URL), Request(URL, meta={"download_slot": "own"})):
        await used.fetch(request).asFuture(asyncio.get_running_loop())
    slot, own = used.slots["127.0.0.1"], used.slots["own"]
    assert (slot.delay, slot.concurrency, slot.jitter) == (0.5, 32, 0.5)
    assert (own.delay, own.concurrency) == (3, 2)
    assert used.slots.get("never.asked") is None
    assert not slot.active
    assert not caplog.records
    slot.delay = own.delay = 10
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "changes nothing" in caplog.text


def test_nothing_is_said_of_the_pauses_that_scrapys_autothrottle_writes(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SiteSlots, "was_logged", False)
    slots = SiteSlots(Settings({"AUTOTHROTTLE_ENABLED": True}))
    slots.record_sent("a")
    slots["a"].delay = 7
    assert not caplog.records


def test_of_very_many_sites_the_latest_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_slots, "MAX_SLOTS", 2)
    slots = SiteSlots(Settings())
    for site in ("a", "b", "a", "c"):
        slots.record_sent(site)
    assert list(slots) == ["a", "c"]


async def test_a_request_counts_from_when_it_is_sent_not_from_the_loops_next_turn() -> None:
    used = downloader(CONCURRENT_REQUESTS=1)
    assert not used.needs_backout()
    sent = used.fetch(Request(URL))
    assert used.needs_backout()
    await sent.asFuture(asyncio.get_running_loop())
    assert not used.needs_backout()


@pytest.mark.parametrize("wrap", [lambda value: value, promised], ids=["at once", "promised"])
async def test_a_middleware_may_answer_instead_of_the_site(wrap: Any) -> None:
    own = Response(URL, body=b"own")
    request = Request(URL, meta={"before": wrap(own)})
    assert await fetched(request) is own
    assert request.meta["seen"] == ["request", "response"]


@pytest.mark.parametrize("wrap", [lambda value: value, promised], ids=["at once", "promised"])
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_middleware_may_send_another_request(when: str, wrap: Any) -> None:
    other = Request(URL + "/other")
    assert await fetched(Request(URL, meta={when: wrap(other)})) is other


async def test_an_asynchronous_middleware_that_returns_nothing_lets_the_request_pass() -> None:
    assert (await fetched(Request(URL, meta={"before": promised(None)}))).body == b"page"


async def test_a_failure_goes_to_the_middlewares_and_then_out() -> None:
    request = Request(URL + "/broken")
    with pytest.raises(OSError, match="no way"):
        await fetched(request)
    assert request.meta["seen"] == ["request", "OSError"]


async def test_a_middleware_may_save_a_failure() -> None:
    saved = Response(URL, body=b"saved")
    request = Request(URL + "/broken", meta={"instead": saved})
    assert await fetched(request) is saved
    assert request.meta["seen"] == ["request", "OSError", "response"]


@pytest.mark.parametrize(("when", "what"), [("before", "text"), ("after", None)])
async def test_what_is_neither_response_nor_request_is_named(when: str, what: Any) -> None:
    with pytest.raises(
        _InvalidOutput, match=rf"Middleware\.process_{'request' if what else 'resp'}"
    ):
        await fetched(Request(URL, meta={when: what}))


async def test_a_refused_request_leaves_the_downloader() -> None:
    class Refuses:
        def process_request(self, request: Request) -> None:
            raise IgnoreRequest("not wanted")

    used = downloader(DOWNLOADER_MIDDLEWARES={Refuses: 1})
    with pytest.raises(IgnoreRequest):
        await used.fetch(Request(URL)).asFuture(asyncio.get_running_loop())
    assert not used.active


def test_limits_of_the_process_are_kept_by_scrapys_queue() -> None:
    own = {"CONCURRENT_REQUESTS_PER_DOMAIN": 2, "SEINE_DOMAIN_CONCURRENCY": 16}
    assert downloader(**own).queues
    assert not downloader().queues


@pytest.mark.parametrize(
    "fleets",
    [
        {"DOWNLOAD_DELAY": 0.1},
        {"DOWNLOAD_SLOTS": {"a.example": {"delay": 1}}},
        {"AUTOTHROTTLE_ENABLED": True},
        {"CONCURRENT_REQUESTS_PER_DOMAIN": 2},
    ],
    ids=str,
)
def test_a_pace_that_the_fleet_keeps_is_not_kept_once_more(fleets: dict[str, Any]) -> None:
    assert not downloader(**fleets).queues


async def test_a_download_that_a_start_awaits_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each worker does it, which a user of one process does not expect."""
    used, loop = downloader(), asyncio.get_running_loop()

    async def start() -> AsyncIterator[Any]:
        for _ in range(2):
            yield await used.fetch(Request(URL)).asFuture(loop)

    assert [page.body async for page in unbroken(start())] == [b"page", b"page"]
    await used.fetch(Request("http://127.0.0.1/later")).asFuture(loop)
    said = [line.getMessage() for line in caplog.records if "by itself" in line.getMessage()]
    assert len(said) == 1
    assert URL in said[0]
    await fetched(Request("http://127.0.0.1/another"))
    assert len([line for line in caplog.records if "by itself" in line.getMessage()]) == 1

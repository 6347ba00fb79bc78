"""`scrapy_seine.hold`: a page is done only when its items are durable in anybody's sink (I4)."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
from functools import partial
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from redis.asyncio import Redis
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.statscollectors import StatsCollector

import scrapy_seine
from scrapy_seine.engine.lease.entry import InFlight, current
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Lease
from scrapy_seine.sinks import holds
from tests.helpers import serving, wait_until
from tests.integration.feeds import kit

PAGES = 60
#: Answers half a second later, on a thread of its own, as a producer of Kafka does.
SINK = """
import json
import threading
import time

import scrapy_seine


class Sink:
    def __init__(self, crawler):
        self.crawler = crawler
        self.waiting = []
        self.closed = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def process_item(self, item):
        self.waiting.append((json.dumps(item), scrapy_seine.hold(self.crawler)))
        return item

    def close_spider(self):
        self.closed.set()
        self.thread.join()

    def run(self):
        while not self.closed.wait(0.5) or self.waiting:
            taken, self.waiting = self.waiting, []
            with open("stored.jl", "a", encoding="utf-8") as out:
                out.write("".join(line + "\\n" for line, _ in taken))
            for _, hold in taken:
                hold.release()
"""


@pytest.mark.redis
async def test_no_item_is_missing_where_workers_are_killed_before_their_sink_answers(
    tmp_path: Path, redis_url: str, namespace: str, redis_client: Redis
) -> None:
    (tmp_path / "sink.py").write_text(SINK, "utf-8")
    pipelines = json.dumps({"sink.Sink": 1})
    more: dict[str, Any] = {"SEINE_LEASE_SECONDS": 1, "ITEM_PIPELINES": pipelines}
    kills, site = 0, kit.site_of(PAGES)
    with serving(site) as base:
        for _ in range(2):
            before = len(site.served)
            site.held_from = before + 1
            worker = kit.start(tmp_path, redis_url, namespace, base, **more)
            got_on = partial(lambda before: len(site.served) > before, before)
            kills += await asyncio.to_thread(kit.kill_when, worker, got_on)
        site.held_from = inf
        worker = kit.start(tmp_path, redis_url, namespace, base, **more)
        await asyncio.to_thread(kit.finish, worker, tmp_path)
    lines = (tmp_path / "stored.jl").read_text("utf-8").splitlines()
    found = {(item["page"], item["row"]) for item in map(json.loads, lines)}
    assert sorted(found) == kit.expected(PAGES)
    assert kills == 2
    assert (await Frontier(redis_client, namespace).counts()).undone == 0


class Scene:
    """A crawler with one page in flight."""

    def __init__(self) -> None:
        self.crawler: Any = Crawler(Spider)
        self.crawler.stats = StatsCollector(self.crawler)
        self.table: InFlightTable = worker_of(self.crawler).inflight
        self.ended: list[InFlight] = []
        self.table.connect(self.ended.append, lambda kind, request, tries, wait_s: None)
        self.request: Any = SimpleNamespace(meta={}, url="http://a/")
        lease = Lease(id="1", token="1", slot_ms=0, deliveries=0, stored=b"4000 a\n")
        self.entry = self.table.begin(self.request, lease)
        self.token = current.set(self.entry)

    def finish(self) -> None:
        """The callback has ended."""
        self.table.state_done(self.entry)
        current.reset(self.token)
        self.table.record_finished(self.request)


async def test_a_page_waits_for_its_hold_and_the_first_word_counts() -> None:
    scene = Scene()
    hold = scrapy_seine.hold(scene.crawler)
    scene.finish()
    assert hold.is_open
    assert not scene.ended
    hold.release()
    hold.fail("too late")
    hold.release()
    assert [entry.outcome for entry in scene.ended] == ["done"]
    assert not hold.is_open


async def test_a_hold_may_be_ended_on_any_thread_and_its_failure_is_the_pages() -> None:
    scene = Scene()
    hold = scrapy_seine.hold(scene.crawler)
    scene.finish()
    thread = threading.Thread(target=hold.fail, args=("the broker refused it",))
    thread.start()
    await asyncio.to_thread(thread.join)
    await asyncio.sleep(0)
    (entry,) = scene.ended
    assert (entry.outcome, entry.kind, entry.reason) == ("bury", "store", "the broker refused it")


async def test_a_hold_that_nobody_keeps_has_failed(caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene()
    scrapy_seine.hold(scene.crawler)
    scene.finish()
    gc.collect()
    assert [entry.reason for entry in scene.ended] == [holds.DROPPED]
    assert holds.DROPPED in caplog.text


async def test_a_hold_without_a_page_holds_nothing() -> None:
    assert current.get() is None
    hold = scrapy_seine.hold(type("Crawler", (), {})())
    assert not hold.is_open
    hold.release()
    hold.fail("nothing")


async def test_a_hold_taken_on_another_thread_is_refused_and_leaves_no_page_open() -> None:
    scene = Scene()
    with pytest.raises(RuntimeError):
        await asyncio.to_thread(scrapy_seine.hold, scene.crawler)
    scene.finish()
    assert [entry.outcome for entry in scene.ended] == ["done"]


async def test_a_worker_takes_no_request_while_very_many_items_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(holds, "MOST_HELD", 4)
    scene = Scene()
    taken = [scrapy_seine.hold(scene.crawler) for _ in range(4)]
    assert scene.table.is_pause_requested
    taken.pop().release()
    assert scene.table.is_pause_requested
    taken.pop().release()
    assert not scene.table.is_pause_requested
    for hold in taken:
        hold.release()
    wait_until(lambda: not scene.table.is_pause_requested, 1, "the pause to end")
    scene.finish()

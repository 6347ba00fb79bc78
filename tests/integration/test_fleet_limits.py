"""CLOSESPIDER_…COUNT are the fleet's: what the workers count together, and until when."""

from __future__ import annotations

import asyncio
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.live_workers import live_workers
from scrapy_seine.frontier.runs import list_runs
from scrapy_seine.lua_scripts import call, load_script
from tests.benchmarks.projects.site import Site
from tests.helpers import patient, serving, wait_until_async
from tests.integration.test_any_spider import scrapy

pytestmark = pytest.mark.redis
LIFE = 60_000
LIMIT = 20


class Counts:
    """Workers of a crawl that tell their counts."""

    def __init__(self, redis: Redis, crawl: str) -> None:
        self.redis: Any = redis
        self.key = Keys(crawl).limits

    async def tell(self, worker: str, *counts: int, life_ms: int = LIFE) -> list[int]:
        lua = load_script("scrapy_seine.engine.ending", "fleet_limits")
        return list(await call(self.redis, lua, [self.key], [worker, life_ms, *counts]))

    async def leave(self, worker: str, *counts: int) -> list[int]:
        return await self.tell(worker, *counts, life_ms=0)


@pytest.fixture
def counts(redis_client: Redis, namespace: str) -> Counts:
    return Counts(redis_client, namespace)


async def test_the_fleets_count_is_the_sum_of_its_workers(counts: Counts) -> None:
    assert await counts.tell("a", 3, 30) == [3, 30]
    assert await counts.tell("b", 0, 1) == [3, 31]
    assert await counts.tell("b", 2, 5) == [5, 35]
    assert await counts.tell("b", 2, 5) == [5, 35], "a call that is repeated counts once"


async def test_what_a_worker_that_left_counted_stays_until_the_last_one_leaves(
    counts: Counts,
) -> None:
    await counts.tell("a", 3)
    await counts.tell("b", 1)
    assert await counts.leave("a", 4) == [5]
    assert await counts.tell("b", 1) == [5]
    assert await counts.tell("c", 0) == [5], "it joined those that are there"
    assert await counts.leave("b", 1) == [5]
    assert await counts.leave("c", 2) == [7]
    assert await counts.redis.exists(counts.key) == 0
    assert await counts.tell("d", 0) == [0], "the next fleet begins anew"


async def test_who_died_is_counted_while_others_are_there(counts: Counts) -> None:
    await counts.tell("a", 3, life_ms=1)
    await counts.redis.hset(counts.key, "a", "1 3")
    await counts.redis.hset(counts.key, "b", f"{9 * 10**15} 2")
    assert await counts.tell("c", 1) == [6]
    assert sorted(await counts.redis.hkeys(counts.key)) == [b"", b"b", b"c"]


async def test_a_fleet_that_died_is_not_counted_by_the_next(counts: Counts) -> None:
    await counts.tell("a", 3)
    await counts.redis.hset(counts.key, mapping={"a": "1 3", "": "7"})
    assert await counts.tell("b", 0) == [0]


async def test_junk_in_the_hash_counts_as_nothing(counts: Counts) -> None:
    await counts.redis.hset(counts.key, mapping={"": "x y", "z": "", "y": "99", "w": "\xff 1"})
    assert await counts.tell("b", 2) == [2]
    await counts.redis.hset(counts.key, mapping={"": "x y", "z": ""})
    assert await counts.tell("b", 2) == [2]


SPIDER = """
import scrapy

class Mine(scrapy.Spider):
    name = "mine"

    async def start(self):
        for n in range(500):
            yield scrapy.Request(f"%s/page/1/?n={n}")

    def parse(self, response):
        yield {"url": response.url}
"""


def _slowly(redis_url: str, crawl: str) -> list[str]:
    """Options of a worker that has one request at a time, ten in a second."""
    settings = {
        "CONCURRENT_REQUESTS": 1,
        "SEINE_READ_AHEAD": 1,
        "DOWNLOAD_DELAY": 0.1,
        "REDIS_URL": redis_url,
        "SEINE_CRAWL": crawl,
        "ADDONS": '{"scrapy_seine.Addon": 500}',
    }
    return [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]


async def _all_said(workers: list[subprocess.Popen[str]]) -> list[tuple[str, str]]:
    """Return what each worker wrote, out and err, when all have ended."""
    said = [asyncio.to_thread(w.communicate, timeout=patient(90)) for w in workers]
    return await asyncio.gather(*said)


async def test_two_workers_stop_at_the_items_that_both_have_together(
    tmp_path: Path, redis_client: Redis, redis_url: str, namespace: str
) -> None:
    words = [*_slowly(redis_url, namespace), "-s", f"CLOSESPIDER_ITEMCOUNT={LIMIT}"]
    frontier = Frontier(redis_client, namespace)
    await frontier.pause()
    with serving(Site) as url:
        (tmp_path / "mine.py").write_text(SPIDER % url, "utf-8")
        workers = [scrapy(tmp_path, "runspider", "mine.py", *words) for _ in range(2)]
        ended = asyncio.ensure_future(_all_said(workers))

        async def all_there() -> bool:
            return len(await live_workers(frontier)) == len(workers) or ended.done()

        await wait_until_async(all_there, 90, "both workers joined")
        await frontier.resume()
        errs = [err for _, err in await ended]
    assert all("closespider_itemcount" in err for err in errs), errs
    items = [int(n) for err in errs for n in re.findall(r"'item_scraped_count': (\d+)", err)]
    assert LIMIT <= sum(items) < 1.5 * LIMIT, items


CLOSES = """
import scrapy
from scrapy.exceptions import CloseSpider

class Mine(scrapy.Spider):
    name = "mine"

    async def start(self):
        for n in range(500):
            yield scrapy.Request(f"%s/page/1/?n={n}", callback=self.last if n == 30 else self.parse)

    def parse(self, response):
        yield {"url": response.url}

    def last(self, response):
        raise CloseSpider("had enough")

    def closed(self, reason):
        print("closed:", reason, flush=True)
"""


async def test_a_callback_that_closes_the_spider_ends_all_workers_with_its_reason(
    tmp_path: Path, redis_client: Redis, redis_url: str, namespace: str
) -> None:
    """Else each worker goes on until it meets the same page, 500 requests later if at all."""
    words = _slowly(redis_url, namespace)
    frontier = Frontier(redis_client, namespace)
    with serving(Site) as url:
        (tmp_path / "mine.py").write_text(CLOSES % url, "utf-8")
        workers = [scrapy(tmp_path, "runspider", "mine.py", *words) for _ in range(3)]
        ended = await _all_said(workers)
        assert [out.strip() for out, _ in ended] == ["closed: had enough"] * 3, ended
        assert [w.returncode for w in workers] == [0] * 3
        runs = await list_runs(frontier)
        assert [run.closed for run in runs] == ["had enough"]
        assert (await frontier.counts()).ready, "what is left stays in the frontier"

        later = scrapy(tmp_path, "runspider", "mine.py", *words, "-s", "CLOSESPIDER_PAGECOUNT=3")
        out, err = await asyncio.to_thread(later.communicate, timeout=patient(90))
    assert out.strip() == "closed: closespider_pagecount", err
    assert "joins run 1" in err


IS_TOLD = """
import os
import signal

import scrapy

class Mine(scrapy.Spider):
    name = "mine"

    async def start(self):
        for n in range(40):
            yield scrapy.Request(f"%s/page/1/?n={n}", callback=self.last if n == 10 else self.parse)

    def parse(self, response):
        yield {"url": response.url}

    def last(self, response):
        if not os.path.exists("told"):
            open("told", "w").close()
            os.kill(os.getpid(), signal.SIGTERM)

    def closed(self, reason):
        print("closed:", reason, flush=True)
"""


async def test_a_signal_that_comes_while_a_page_is_read_ends_that_worker_alone(
    tmp_path: Path, redis_client: Redis, redis_url: str, namespace: str
) -> None:
    """What the signal's handler schedules has the page's context; the page did not ask for it."""
    words = _slowly(redis_url, namespace)
    with serving(Site) as url:
        (tmp_path / "mine.py").write_text(IS_TOLD % url, "utf-8")
        workers = [scrapy(tmp_path, "runspider", "mine.py", *words) for _ in range(2)]
        ended = await _all_said(workers)
    assert sorted(out.strip() for out, _ in ended) == ["closed: finished", "closed: shutdown"], (
        ended
    )
    assert [run.closed for run in await list_runs(Frontier(redis_client, namespace))] == [""]

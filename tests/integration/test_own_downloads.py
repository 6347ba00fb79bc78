"""What a project's own code downloads beside the pages keeps the fleet's pace too (I5)."""

from __future__ import annotations

import asyncio
import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from redis.asyncio import Redis

from crawler.stores.store_endpoints import redis_client as redis_client_of
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Push
from tests import started
from tests.benchmarks.projects.site import Site
from tests.helpers import patient, serving, serving_noted, wait_until

pytestmark = pytest.mark.redis
DELAY_S = 0.2
PROJECT = """
import asyncio

import scrapy
from scrapy.http.request import NO_CALLBACK


class Mine(scrapy.Spider):
    name = "mine"
    start_urls = [f"%s/page/{n}/" for n in range(1, 5)]
    custom_settings = {
        "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
        "FILES_STORE": "files",
    }

    async def parse(self, response):
        page = response.url[-2]
        own = [response.urljoin(f"/picture/{page}{n}.gif") for n in range(3)]
        asked = (scrapy.Request(url, callback=NO_CALLBACK) for url in own[:2])
        bodies = await asyncio.gather(*map(self.crawler.engine.download_async, asked))
        yield {"page": page, "sizes": [len(x.body) for x in bodies], "file_urls": own[2:]}
"""

BLOCKED = """
import scrapy


class Mine(scrapy.Spider):
    name = "mine"
    start_urls = ["%s/page/1/", *(f"%s/page/{n}/" for n in range(8))]
    custom_settings = {
        "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
        "FILES_STORE": "files",
        "CONCURRENT_REQUESTS": 2,
        "SEINE_PRIVATE_ADDRESSES": "allow",
    }

    def parse(self, response):
        if response.url == self.start_urls[0]:
            yield {"file_urls": [f"%s/picture/{n}.gif" for n in range(4)]}
"""

OWN_HANDLER = """
import time

import scrapy
from scrapy.http import TextResponse


class Handler:
    lazy = False

    @classmethod
    def from_crawler(cls, crawler):
        return cls()

    async def download_request(self, request):
        with open("asked", "a") as file:
            print(time.monotonic(), file=file)
        return TextResponse(request.url, body=b"page")

    async def close(self):
        pass


class Mine(scrapy.Spider):
    name = "mine"
    start_urls = [f"http://127.0.0.1/{n}" for n in range(12)]
    custom_settings = {"DOWNLOAD_HANDLERS": {"http": Handler}}

    def parse(self, response):
        pass
"""


def project(folder: Path, spiders: str) -> None:
    """Write a project that has the one line, and a pause."""
    settings = (
        'SPIDER_MODULES = ["spiders"]',
        'ADDONS = {"scrapy_seine.Addon": 500}',
        f"DOWNLOAD_DELAY = {DELAY_S}",
        "RANDOMIZE_DOWNLOAD_DELAY = False",
    )
    (folder / "mine.py").write_text("\n".join(settings), "utf-8")
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = mine\n", "utf-8")
    (folder / "spiders.py").write_text(spiders, "utf-8")


@pytest.mark.alone
@pytest.mark.parametrize("limit", ["CONCURRENT_REQUESTS=16", "CONCURRENT_REQUESTS_PER_IP=8"])
def test_files_and_awaited_downloads_keep_the_pace_of_all_workers(
    tmp_path: Path, redis_url: str, namespace: str, limit: str
) -> None:
    """With a limit that a process keeps by itself, Scrapy's queue asks the handlers."""
    with serving_noted(Site) as (url, asked):
        project(tmp_path, PROJECT % url)
        own = ("-s", f"REDIS_URL={redis_url}", "-s", f"SEINE_CRAWL={namespace}", "-s", limit)
        workers = [
            started.Popen(
                [sys.executable, "-m", "scrapy", "crawl", "mine", "-O", "items.jl", *own],
                cwd=tmp_path,
                stderr=started.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        logs = [worker.communicate(timeout=patient(60))[1] for worker in workers]
    items = [json.loads(line) for line in (tmp_path / "items.jl").read_text().splitlines()]
    assert len(items) == 4, logs
    assert all(size for item in items for size in item["sizes"])
    assert [len(item["files"]) for item in items] == [1] * 4, logs
    assert len(asked) == 16, logs
    # Three quarters: a request may be late on its way to the site.
    assert min(b - a for (a, _), (b, _) in pairwise(sorted(asked))) > 0.75 * DELAY_S


def test_files_of_a_blocked_site_keep_no_place_of_pages_of_others(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    """A worker with CONCURRENT_REQUESTS such files asked no site until the block was over."""

    async def block(site: str, wait_ms: int) -> None:
        client = redis_client_of(redis_url)
        try:
            frontier, domain = Frontier(client, namespace), urlsplit(site).netloc
            await frontier.block_until(domain, wait_ms)
            if not wait_ms:  # a block is never shortened
                state: Any = client.hset(frontier.keys.domain(domain), "blocked", "0")
                await state
        finally:
            await client.aclose()

    with (
        serving_noted(Site) as (shop, asked),
        serving(Site) as files,
        serving_noted(Site) as (other, asked_of_other),
    ):
        project(tmp_path, BLOCKED % (shop, other, files))
        asyncio.run(block(files, 3_600_000))
        own = ("-s", f"REDIS_URL={redis_url}", "-s", f"SEINE_CRAWL={namespace}")
        worker = started.Popen(
            [sys.executable, "-m", "scrapy", "crawl", "mine", "-O", "items.jl", *own],
            cwd=tmp_path,
            stderr=started.PIPE,
            text=True,
        )
        try:
            wait_until(
                lambda: len(asked) + len(asked_of_other) == 9,
                30,
                "the other site's pages are asked for",
            )
            asyncio.run(block(files, 0))
            _, log = worker.communicate(timeout=patient(60))
        finally:
            worker.kill()
    (item,) = map(json.loads, (tmp_path / "items.jl").read_text().splitlines())
    assert len(item["files"]) == 4, log


@pytest.mark.alone
def test_a_handler_of_the_projects_own_keeps_the_pause(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    """It does not know that a request leased early has to wait."""
    project(tmp_path, OWN_HANDLER)
    own = ("-s", f"REDIS_URL={redis_url}", "-s", f"SEINE_CRAWL={namespace}")
    worker = started.run(
        [sys.executable, "-m", "scrapy", "crawl", "mine", *own],
        cwd=tmp_path,
        stderr=started.PIPE,
        text=True,
        timeout=patient(60),
    )
    asked = [float(line) for line in (tmp_path / "asked").read_text().split()]
    assert len(asked) == 12, worker.stderr
    # Half of the time by which a request is leased early.
    assert min(b - a for a, b in pairwise(asked)) > DELAY_S - 0.012


async def test_a_download_without_a_lease_moves_the_next_page(
    redis_client: Redis, namespace: str
) -> None:
    frontier = Frontier(redis_client, namespace, now_ms=1_000_000)
    await frontier.set_delay("a", delay_ms=1000)
    own = frontier.beside("a")
    assert await frontier.reschedule(own) == (1_000_000, 1_000_000, 1000)
    (_, slot_ms, _) = await frontier.reschedule(own, patience_ms=5000)
    assert slot_ms == 1_001_020
    assert (await frontier.reschedule(own))[1] == 0  # further away than the patience of 1 s
    await frontier.push([Push(domain="a", blob=b"x", fingerprint=1)])
    frontier.now_ms = 1_002_039
    assert not (await frontier.lease("w", 5, ttl_ms=60_000)).leases
    frontier.now_ms = 1_002_040
    assert (await frontier.lease("w", 5, ttl_ms=60_000)).leases


@pytest.mark.parametrize("domain", ["a", ""])
async def test_a_download_without_a_lease_waits_while_an_operator_has_paused_its_site(
    redis_client: Redis, namespace: str, domain: str
) -> None:
    frontier = Frontier(redis_client, namespace, now_ms=1_000_000)
    own = frontier.beside("a")
    await frontier.pause(domain)
    assert (await frontier.reschedule(own, patience_ms=5000))[1] == 0
    await frontier.resume(domain)
    assert (await frontier.reschedule(own, patience_ms=5000))[1] == 1_000_000

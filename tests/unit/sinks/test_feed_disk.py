"""A full disk or a silent storage under a feed: its items wait, and a line says so."""

from __future__ import annotations

import asyncio
import json
import resource
from pathlib import Path

import pytest
from scrapy.exporters import JsonLinesItemExporter

from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.sinks.feeds import feed as feeds
from scrapy_seine.sinks.feeds.feed import Feed
from scrapy_seine.sinks.feeds.part import Sealed
from scrapy_seine.sinks.feeds.part_names import Naming
from scrapy_seine.sinks.feeds.part_storage import Folder
from tests.helpers import wait_until_async


async def named(number: int) -> str:
    return f"{number}.jl"


def feed_in(place: Folder, failures: list[str]) -> Feed:
    place.prepare()
    return Feed(
        place,
        lambda buffer, columns: JsonLinesItemExporter(buffer),
        InFlightTable(),
        Naming(named, lambda entry: "page"),
        outage_s=60,
        on_failure=failures.append,
    )


async def test_a_storage_that_does_not_answer_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Silent(Folder):
        async def write(self, name: str, part: Sealed) -> None:
            await wait_until_async(is_told, 10, "a line tells that the storage is silent")
            await super().write(name, part)

    async def is_told() -> bool:
        return "has not answered" in caplog.text

    monkeypatch.setattr(feeds, "SLOW_S", 0.05)
    place, failures = Silent(tmp_path / "out.jl"), list[str]()
    feed = feed_in(place, failures)
    feed.take({"name": "lamp"})

    await feed.flush()

    assert f"feed {tmp_path}/out.jl: its storage has not answered for 0.05 s" in caplog.text
    assert not failures
    assert [path.stat().st_size > 0 for path in place.path.glob("*.jl")] == [True]


async def test_a_full_disk_is_told_with_the_feeds_name_and_loses_no_item(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place, failures = Folder(tmp_path / "out.jl"), list[str]()
    feed = feed_in(place, failures)

    async def is_told() -> bool:
        return "waiting for it" in caplog.text

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    feed.take({"name": "lamp"})
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))  # no file of this process grows
    try:
        flushing = asyncio.ensure_future(feed.flush())
        await wait_until_async(is_told, 10, "the feed waits")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    await flushing

    assert f"feed {tmp_path}/out.jl: [Errno 27] File too large" in caplog.text
    assert not failures
    written = [path.read_text("utf-8") for path in place.path.glob("*.jl")]
    assert [json.loads(text) for text in written] == [{"name": "lamp"}]

"""A full disk under a feed: its items wait, and are written when there is room."""

from __future__ import annotations

import asyncio
import json
import resource
from pathlib import Path

import pytest
from scrapy.exporters import JsonLinesItemExporter

from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.sinks.feeds.feed import Feed
from scrapy_seine.sinks.feeds.part_names import Naming
from scrapy_seine.sinks.feeds.part_storage import Folder
from tests.helpers import wait_until_async


async def named(number: int) -> str:
    return f"{number}.jl"


async def test_a_full_disk_is_told_with_the_feeds_name_and_loses_no_item(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place, failures = Folder(tmp_path / "out.jl"), list[str]()
    place.prepare()
    feed = Feed(
        place,
        lambda buffer, columns: JsonLinesItemExporter(buffer),
        InFlightTable(),
        Naming(named, lambda entry: "page"),
        outage_s=60,
        on_failure=failures.append,
    )

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

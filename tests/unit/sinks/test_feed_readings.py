"""Which reading of a page an item belongs to, so that the joined file has each page once."""

from __future__ import annotations

from pathlib import Path

import pytest
from scrapy import Request
from scrapy.exporters import JsonLinesItemExporter

from scrapy_seine.engine.lease.entry import InFlight, current
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.frontier.model import Lease
from scrapy_seine.sinks.feeds.feed import Feed
from scrapy_seine.sinks.feeds.join import Order, join
from scrapy_seine.sinks.feeds.part_names import Naming
from scrapy_seine.sinks.feeds.part_storage import Folder


async def named(number: int) -> str:
    return f"r{number}.jl"


def began(inflight: InFlightTable, request: Request, token: str) -> InFlight:
    entry = inflight.begin(request, Lease(id="1", token=token, slot_ms=0, deliveries=0, stored=b""))
    current.set(entry)
    return entry


@pytest.mark.parametrize("is_read_again", [True, False])
async def test_items_after_the_loss_of_a_lease_count_only_if_nobody_reads_the_page_again(
    tmp_path: Path, is_read_again: bool
) -> None:
    """I4: Redis fell back to an older state while a page's code ran, so its lease is gone."""
    inflight = InFlightTable()
    inflight.connect(lambda entry: None, lambda *_: None)
    place = Folder(tmp_path / "out.jl")
    place.prepare()
    feed = Feed(
        place,
        lambda buffer, _: JsonLinesItemExporter(buffer),
        inflight,
        Naming(named, lambda entry: f"s {entry.lease.id}"),
        outage_s=1,
        on_failure=pytest.fail,
    )
    inflight.finishing.append(feed.page_finished)
    lost = began(inflight, Request("http://a.example/"), "11")
    assert inflight.abandon() == [lost.lease]
    feed.take({"row": 1})
    feed.take({"row": 2})
    if is_read_again:
        request = Request("http://a.example/")
        entry = began(inflight, request, "22")
        feed.take({"row": 1})
        feed.take({"row": 2})
        inflight.state_done(entry)
        inflight.record_finished(request)
    await feed.flush()

    joined = join(Order(place.path, "r", lambda _: place.final))
    assert joined is not None
    assert place.final.read_text("utf-8").split("\n") == ['{"row": 1}', '{"row": 2}', ""]
    assert joined.cut_off == (not is_read_again)

"""An item that a feed refuses costs itself alone, also where it is the first one of a part."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from scrapy.exporters import CsvItemExporter

from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.sinks.feeds.feed import Feed
from scrapy_seine.sinks.feeds.join import Order, join
from scrapy_seine.sinks.feeds.part import Reading
from scrapy_seine.sinks.feeds.part_names import Naming
from scrapy_seine.sinks.feeds.part_storage import Folder


async def named(number: int) -> str:
    return f"r{number}.csv"


def exporter(buffer: BytesIO, columns: Any) -> CsvItemExporter:
    return CsvItemExporter(buffer, fields_to_export=list(columns), encoding="latin-1")


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    place = Folder(tmp_path / "out.csv")
    place.prepare()
    naming = Naming(named, lambda entry: "page")
    return Feed(place, exporter, InFlightTable(), naming, outage_s=1, on_failure=pytest.fail)


@pytest.mark.parametrize("refused", [{"name": "5 €"}, {"name": "lamp", 5: 1}])
@pytest.mark.parametrize("before", [[], [{"name": "first"}]])
async def test_rows_after_a_refused_item_have_their_header_and_no_column_of_it(
    feed: Feed, refused: dict[Any, Any], before: list[dict[str, str]]
) -> None:
    for item in before:
        feed.take(item)
    with pytest.raises((UnicodeEncodeError, TypeError)):
        feed.take(refused)
    feed.take({"name": "desk"})
    feed.take({"name": "chair"})
    await feed.flush()

    place = feed.place
    assert isinstance(place, Folder)
    assert join(Order(place.path, "r", lambda _: place.final))
    rows = ["name", *(item["name"] for item in before), "desk", "chair"]
    assert place.final.read_text("latin-1").split() == rows


async def test_a_part_that_gives_its_place_to_one_with_more_columns_leaves_it_its_records(
    feed: Feed,
) -> None:
    empty = feed._begin_part()
    empty.finished_readings.append((Reading("s 1", "11", 100), "done"))
    feed.take({"name": "desk"})
    await feed.flush()

    assert isinstance(feed.place, Folder)
    (sidecar,) = feed.place.path.glob("*.rows")
    assert re.search(r'"ended":\[\["s 1","11",100,"done"\]\]', sidecar.read_text("utf-8"))

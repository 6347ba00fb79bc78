"""An item that a feed refuses costs itself alone, also where it is the first one of a part."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from scrapy import Request
from scrapy.exporters import CsvItemExporter, JsonLinesItemExporter, XmlItemExporter

from scrapy_seine.engine.lease.entry import current
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.frontier.model import Lease
from scrapy_seine.sinks.feeds.feed import Feed
from scrapy_seine.sinks.feeds.join import Order, join
from scrapy_seine.sinks.feeds.part import NO_PAGE, Part, Reading
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


class RefusesAtTheEnd(JsonLinesItemExporter):  # type: ignore[misc]
    """Finds only at a part's end that it cannot write an item, as exporters of Parquet do."""

    bad = False

    def export_item(self, item: Any) -> None:
        """Take an item."""
        self.bad = self.bad or item["name"] == "bad"
        super().export_item(item)

    def finish_exporting(self) -> None:
        """Refuse a part with a bad item.

        Raises:
            ValueError: it has one.
        """
        if self.bad:
            raise ValueError("bad")


async def test_a_page_whose_part_is_refused_has_failed_though_its_end_waits_in_another(
    tmp_path: Path,
) -> None:
    inflight, ends = InFlightTable(), []
    inflight.connect(lambda entry: ends.append((entry.outcome, entry.reason)), lambda *_: None)
    place = Folder(tmp_path / "out.jl")
    place.prepare()
    feed = Feed(
        place,
        lambda buffer, _: RefusesAtTheEnd(buffer),
        inflight,
        Naming(named, lambda entry: "page"),
        outage_s=1,
        on_failure=pytest.fail,
    )
    inflight.finishing.append(feed.page_finished)
    request = Request("http://a.example/")
    lease = Lease(id="1", token="1", slot_ms=0, deliveries=0, stored=b"")
    entry = inflight.begin(request, lease)
    current.set(entry)
    feed.take({"name": "bad"})
    feed.seal()
    feed.take({"name": "good"})
    inflight.state_done(entry)
    inflight.record_finished(request)
    await feed.flush()
    [(outcome, reason)] = ends
    assert outcome == "bury"
    assert reason.endswith("ValueError: bad")


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


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "ascii"])
@pytest.mark.parametrize("text", ["a\0b", "\x1b[31m", "\ufffe"])
def test_an_item_that_xml_cannot_hold_costs_itself_alone(text: str, encoding: str) -> None:
    """Scrapy writes it, and nobody could read the file after that."""
    buffer = BytesIO()
    part = Part(XmlItemExporter(buffer, encoding=encoding), buffer)
    part.add({"name": "first"}, NO_PAGE)
    with pytest.raises(ValueError, match="has no place in XML"):
        part.add({"name": text}, NO_PAGE)
    part.add({"name": "]]>&<\t\x85"}, NO_PAGE)
    text = part.seal().data.decode(encoding).partition("?>")[2]
    names = [item.findtext("name") for item in ElementTree.fromstring(text)]
    assert names == ["first", "]]>&<\t\x85"]

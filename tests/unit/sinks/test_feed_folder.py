"""A folder of parts: what a worker wrote there is in the joined file, and once (I4)."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from scrapy.exporters import (
    BaseItemExporter,
    CsvItemExporter,
    JsonLinesItemExporter,
    XmlItemExporter,
)

from scrapy_seine.errors import ConfigError, SeineError
from scrapy_seine.sinks.feeds.join import Joined, Order, join
from scrapy_seine.sinks.feeds.parquet import ParquetItemExporter
from scrapy_seine.sinks.feeds.part import SIDECAR, Part, Reading, Sealed
from scrapy_seine.sinks.feeds.part_storage import Folder, Store

FIRST, OTHER = Reading("s 1", "11", 100), Reading("s 2", "33", 150)


@pytest.fixture
def place(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path / "out")
    folder.prepare()
    return folder


def sealed(
    reading: Reading, text: str, *, ends: bool = True, by: type[BaseItemExporter] | None = None
) -> Sealed:
    """A part with one item, of a page that ends with it."""
    buffer = BytesIO()
    part = Part((by or JsonLinesItemExporter)(buffer), buffer)
    part.add({"t": text}, reading)
    part.finished_readings += [(reading, "done")] if ends else []
    return part.seal()


def joined(place: Folder, *, over: bool = False) -> Joined:
    made = join(Order(place.path, "r", lambda _: place.final, over=over))
    assert made is not None
    return made


async def test_parts_of_rows_alone_follow_each_other_in_one_file(place: Folder) -> None:
    await place.write("r1", sealed(FIRST, "a", ends=False))
    await place.write("r2", sealed(FIRST, "b"))
    place.close()
    await place.write("r3", sealed(OTHER, "c"))
    assert {path.name for path in place.path.iterdir()} == {"r1", "r1.rows", "r3", "r3.rows"}
    made = joined(place, over=True)
    assert (made.items, made.parts, made.cut_off) == (3, 2, 0)
    assert place.final.read_text() == '{"t": "a"}\n{"t": "b"}\n{"t": "c"}\n'
    assert {path.name for path in place.path.iterdir()} == {".lock", "r.joined"}


async def test_parts_of_a_format_with_a_head_have_files_of_their_own(place: Folder) -> None:
    await place.write("r1", sealed(FIRST, "a", by=CsvItemExporter))
    await place.write("r2", sealed(OTHER, "b", by=CsvItemExporter))
    assert joined(place).parts == 2
    assert place.final.read_text().split() == ["t", "a", "b"]


async def test_a_part_in_which_its_worker_died_counts_for_nothing_and_those_before_it_count(
    place: Folder,
) -> None:
    await place.write("r1", sealed(FIRST, "a"))
    await place.write("r2", sealed(OTHER, "b"))
    path = place.path / f"r1{SIDECAR}"
    path.write_bytes(path.read_bytes()[:-2])
    assert joined(place).cut_off == 0
    assert place.final.read_text() == '{"t": "a"}\n'


@pytest.mark.parametrize("by", [JsonLinesItemExporter, CsvItemExporter, XmlItemExporter])
@pytest.mark.parametrize("left", [None, 0, 3])
async def test_a_part_that_lost_rows_is_named_and_nothing_is_joined_without_them(
    place: Folder, by: type[BaseItemExporter], left: int | None
) -> None:
    """Say of an incomplete copy: their pages are done, and the count was that of all items."""
    await place.write("r1", sealed(FIRST, "a", by=by))
    path = place.path / "r1"
    data = path.read_bytes()
    path.write_bytes(data[:left]) if left is not None else path.unlink()
    with pytest.raises(SeineError, match=rf"r1 lacks {len(data) - (left or 0)} bytes"):
        joined(place)
    assert not place.final.exists()
    path.write_bytes(data)
    assert joined(place).items == 1


@pytest.mark.parametrize(
    "by", [pytest.param(CsvItemExporter, id="csv"), pytest.param(ParquetItemExporter, id="parquet")]
)
async def test_a_part_that_cannot_be_read_is_one_line(
    place: Folder, by: type[BaseItemExporter]
) -> None:
    await place.write("r1", sealed(FIRST, "a", by=by))
    path = place.path / "r1"
    path.write_bytes(b"\xff" * len(path.read_bytes()))
    with pytest.raises(SeineError, match=r"a part in .* is damaged: "):
        joined(place)


async def test_a_part_that_was_written_again_stands_once_in_the_joined_file(place: Folder) -> None:
    await place.write("r1", sealed(FIRST, "a"))
    await place.write("r2", sealed(OTHER, "b"))
    place.close()  # as after an error: nobody knows whether it is durable
    await place.write("r2", sealed(OTHER, "b"))
    assert joined(place).items == 2


async def test_no_part_is_written_into_a_file_that_somebody_removed(place: Folder) -> None:
    await place.write("r1", sealed(FIRST, "a"))
    for path in place.path.iterdir():
        path.unlink()
    await place.write("r2", sealed(OTHER, "b"))
    assert joined(place).items == 1
    assert place.final.read_text() == '{"t": "b"}\n'


async def test_rows_that_somebody_removed_or_cut_off_are_counted(place: Folder) -> None:
    await place.write("r1", sealed(FIRST, "a"))
    await place.write("r2", sealed(FIRST, "b"))
    await place.write("r3", sealed(OTHER, "c", by=CsvItemExporter))
    assert place.lost_rows() is None
    (place.path / "r1").write_text("{")
    assert place.lost_rows() == 2
    (place.path / "r3.rows").unlink()
    assert place.lost_rows() == 3


async def test_a_store_whose_package_is_missing_is_no_outage() -> None:
    """The worker waited for it until SEINE_OUTAGE_LIMIT."""

    def storage_of(uri: str) -> Any:
        raise ModuleNotFoundError("No module named 'google'")

    spider: Any = None
    store = Store(storage_of, "gs://bucket/x.json", spider)
    with pytest.raises(ConfigError, match="its store needs a package: No module named 'google'"):
        await store.write("r1", sealed(FIRST, "a"))

"""Parts in Parquet whose columns have other types become one file, with all values."""

from __future__ import annotations

import json
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from scrapy_seine.sinks.feeds.join import join
from scrapy_seine.sinks.feeds.parquet import ParquetItemExporter
from scrapy_seine.sinks.feeds.part import NO_PAGE, Part
from tests.unit.sinks.test_feeds import order, put_part, read


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([Decimal("1.10"), 12, Decimal("123456.789")], ["1.100", "12.000", "123456.789"]),
        ([2**53 + 1, 0.5], ["9007199254740993", "0.5"]),
        ([[2**53 + 1], [0.5], None], ["[9007199254740993]", "[0.5]", "None"]),
    ],
)
def test_parquet_joins_numbers_of_kinds_that_differ_from_part_to_part(
    tmp_path: Path, values: list[Any], expected: list[str]
) -> None:
    parts = tmp_path / "parts"
    for at, value in enumerate(values):
        put_part(parts, f"r{at}", "parquet", [(NO_PAGE, {"price": value, "at": at})])
    join(order(parts, "parquet"))
    rows = read(tmp_path / "out-1.parquet")
    assert [str(row["price"]) for row in rows] == expected
    assert [row["at"] for row in rows] == list(range(len(values)))


@pytest.mark.parametrize(
    "item", [{"v": "a\ud800"}, {"v": [{"k": "\udfff"}]}, {"v": {"\udfff": 1}}, {"\ud800": 1}]
)
def test_an_item_that_parquet_cannot_hold_is_refused_alone(item: dict[str, Any]) -> None:
    """It was found when its part was closed, and the pages of all its items failed with it."""
    buffer = BytesIO()
    part = Part(ParquetItemExporter(buffer), buffer)
    part.add({"v": "good"}, NO_PAGE)
    with pytest.raises(ValueError, match="surrogates not allowed"):
        part.add(item, NO_PAGE)
    part.add({"v": "other"}, NO_PAGE)
    assert _rows(part) == [{"v": "good"}, {"v": "other"}]


def test_a_number_too_long_to_be_written_is_refused_alone() -> None:
    buffer = BytesIO()
    part = Part(ParquetItemExporter(buffer), buffer)
    part.add({"v": 2**70}, NO_PAGE)
    with pytest.raises(ValueError, match="a number of 16610 bits"):
        part.add({"v": 10**5000}, NO_PAGE)
    assert _rows(part) == [{"v": str(2**70)}]


def test_what_nests_deeper_than_parquet_reads_is_kept_as_json() -> None:
    """The part was written, its pages were done, and nobody could read it again."""
    nested: Any = 1
    for _ in range(60):
        nested = [{"k": nested}]
    buffer = BytesIO()
    part = Part(ParquetItemExporter(buffer), buffer)
    part.add({"v": nested}, NO_PAGE)
    (row,) = _rows(part)
    found = row["v"]
    while not isinstance(found, str):
        nested, found = nested[0]["k"], found[0]["k"]
    assert json.loads(found) == nested


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["Gr\u00fcn", b"\xff"], ["Gr\u00fcn", "\\xff"]),
        ([["a"], [b"b"]], ['["a"]', '["b"]']),
        ([Decimal("9.50"), "x"], ["9.50", "x"]),
        ([b"\xff", None], [b"\xff", None]),
    ],
)
def test_texts_of_a_column_stay_texts_beside_bytes(values: list[Any], expected: list[Any]) -> None:
    buffer = BytesIO()
    part = Part(ParquetItemExporter(buffer), buffer)
    for value in values:
        part.add({"v": value}, NO_PAGE)
    assert [row["v"] for row in _rows(part)] == expected


def _rows(part: Part) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(BytesIO(part.seal().data)).to_pylist()
    return found

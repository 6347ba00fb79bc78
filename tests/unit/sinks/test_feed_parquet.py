"""Parts in Parquet whose columns have other types become one file, with all values."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from scrapy_seine.sinks.feeds.join import join
from scrapy_seine.sinks.feeds.part import NO_PAGE
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

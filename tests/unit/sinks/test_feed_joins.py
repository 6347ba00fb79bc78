"""What a join reads may be as large as a page, and what it writes behind a file fits to it."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from scrapy_seine.errors import SeineError
from scrapy_seine.sinks.feeds.join import join
from scrapy_seine.sinks.feeds.part import NO_PAGE
from tests.unit.sinks.test_feeds import AGAIN, FIRST, order, put_part, read


def test_a_csv_field_may_be_as_large_as_a_page_where_columns_differ(tmp_path: Path) -> None:
    parts, page = tmp_path / "parts", "x" * 200_000
    put_part(parts, "r1", "csv", [(NO_PAGE, {"html": page})])
    put_part(parts, "r2", "csv", [(NO_PAGE, {"html": "", "price": 1})])
    limit = csv.field_size_limit()
    join(order(parts, "csv"))
    assert csv.field_size_limit() == limit
    _, first, second = (tmp_path / "out-1.csv").read_text("utf-8").splitlines()
    assert (first, second) == (f"{page},", ",1")


def test_plain_parts_are_not_put_behind_a_compressed_file(tmp_path: Path) -> None:
    parts, out = tmp_path / "parts", tmp_path / "out-1.jsonl"
    put_part(parts, "r1", "jsonl", [(NO_PAGE, {"n": 1})])
    out.write_bytes(before := gzip.compress(b"{}\n"))
    with pytest.raises(SeineError, match="the file is compressed, its parts are not"):
        join(order(parts, "jsonl", append=True))
    assert out.read_bytes() == before


@pytest.mark.parametrize("outcome", ["bury", "ignored"])
def test_items_of_a_page_that_was_done_stay_where_it_returned_and_was_given_up(
    tmp_path: Path, outcome: str
) -> None:
    """Its worker was killed between its items and the end of its lease; then the site was down."""
    parts = tmp_path / "parts"
    put_part(parts, "r1", "jsonl", [(FIRST, {"n": 1})], [(FIRST, "done")])
    put_part(parts, "r2", "jsonl", [(NO_PAGE, {"n": 2})], [(AGAIN, outcome)])
    join(order(parts, "jsonl"))
    expected = [{"n": 1}, {"n": 2}] if outcome == "bury" else [{"n": 2}]
    assert read(tmp_path / "out-1.jsonl") == expected

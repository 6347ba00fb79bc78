"""What is in a feed's folder of parts after the run's end changes no item of the file (I4)."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from scrapy_seine.sinks.feeds.join import join
from scrapy_seine.sinks.feeds.part import NO_PAGE
from tests.unit.sinks.test_feeds import AGAIN, FIRST, OTHER, formats, order, put_part, read, texts


@formats
@pytest.mark.parametrize("append", [False, True])
def test_parts_that_a_killed_worker_joined_and_did_not_remove_change_nothing(
    tmp_path: Path, format_: str, append: bool
) -> None:
    """The file would hold the items of these parts alone, or twice."""
    parts = tmp_path / "parts"
    put_part(parts, "r1", format_, [(NO_PAGE, {"n": 0}), (FIRST, {"n": 1})], [(FIRST, "done")])
    put_part(parts, "r2", format_, [(NO_PAGE, {"n": 2}), (OTHER, {"n": 3})], [(OTHER, "done")])
    left_over = {path: path.read_bytes() for path in parts.glob("r2*")}
    over = order(parts, format_, over=True, append=append)
    join(over)
    for path, data in left_over.items():
        path.write_bytes(data)
    assert join(over) is None
    assert texts(read(tmp_path / f"out-1.{format_}")) == [{"n": str(n)} for n in range(4)]
    assert [path.name for path in parts.glob("r*")] == ["r.joined"]


@formats
def test_items_that_come_after_the_end_are_added_to_the_file(tmp_path: Path, format_: str) -> None:
    """`start()` of another worker may yield one while this worker joins the run."""
    parts = tmp_path / "parts"
    put_part(parts, "r1", format_, [(FIRST, {"n": 0})], [(FIRST, "done")])
    over = order(parts, format_, over=True, append=True)
    base = parts / f"r.out-1.{format_}.base"
    join(attrs.evolve(over, over=False))
    left_over = base.read_bytes()
    join(over)
    base.write_bytes(left_over)  # its worker was killed before it removed this
    late = [(AGAIN, {"n": 9}), (NO_PAGE, {"n": 1})], [(NO_PAGE, {"n": 2}), (OTHER, {"n": 3})]
    for at, rows in enumerate(late):
        put_part(parts, f"r{at + 2}", format_, rows, [(OTHER, "done")])
        joined = join(over)
        assert joined is not None
        assert joined.items == at + 1
    assert texts(read(tmp_path / f"out-1.{format_}")) == [{"n": str(n)} for n in range(4)]
    assert join(over) is None


@formats
@pytest.mark.parametrize("outcome", ["done", "bury"])
def test_a_reading_of_a_page_that_was_done_adds_nothing_after_the_end(
    tmp_path: Path, format_: str, outcome: str
) -> None:
    """A worker that stood still goes on with pages that another one has read meanwhile.

    A page that was given up may be replayed later.
    """
    parts = tmp_path / "parts"
    rows = [(OTHER, {"n": 0})] if outcome == "bury" else [(FIRST, {"n": 1}), (OTHER, {"n": 0})]
    put_part(parts, "r1", format_, rows, [(FIRST, outcome), (OTHER, "done")])
    over = order(parts, format_, over=True)
    join(over)
    put_part(parts, "r2", format_, [(AGAIN, {"n": 1})], [(AGAIN, "done")])
    assert (join(over) is None) is (outcome == "done")
    numbers = [item["n"] for item in texts(read(tmp_path / f"out-1.{format_}"))]
    assert sorted(numbers) == ["0", "1"]
    other = AGAIN if outcome == "done" else FIRST
    put_part(parts, "r3", format_, [(other, {"n": 1})], [(other, "done")])
    assert join(over) is None

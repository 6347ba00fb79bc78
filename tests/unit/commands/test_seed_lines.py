"""Which seeds a file holds, whatever it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_seine.commands import seed
from scrapy_seine.engine.starting.seed_format import MOST_BYTES
from scrapy_seine.errors import ConfigError


def test_a_line_without_an_end_costs_only_itself(tmp_path: Path) -> None:
    """/dev/zero filled the memory."""
    file = tmp_path / "seeds"
    file.write_bytes(b"http://a.example/\n" + b"x" * (3 * MOST_BYTES) + b"\nhttp://b.example/\n")
    first, long, last = (line for _, line in seed.lines(str(file)))
    assert (first, last) == (b"http://a.example/", b"http://b.example/")
    assert MOST_BYTES < len(long) < 2 * MOST_BYTES


def test_an_empty_file_holds_none() -> None:
    assert list(seed.lines("/dev/null")) == []


def test_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        list(seed.lines(str(tmp_path)))

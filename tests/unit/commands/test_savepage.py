"""A saved page is there with both of its files, or not at all."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crawler.commands.savepage import write_files
from scrapy_seine.errors import ConfigError


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Let no file grow beyond so many bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_no_part_of_a_page(tmp_path: Path) -> None:
    folder = tmp_path / "lamp"
    files = {"page.html": b"<h1>Lamp</h1>", "expected.json": b"x" * 20_000}
    with full_disk(4096), pytest.raises(ConfigError, match="cannot be written"):
        write_files(folder, files)
    assert not folder.exists()


def test_a_full_disk_leaves_the_page_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(b"old")
    with full_disk(4096), pytest.raises(ConfigError, match="cannot be written"):
        write_files(tmp_path, {"page.html": b"x" * 20_000})
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("page.html", b"old")]

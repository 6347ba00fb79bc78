"""A full disk under the archive: pages wait and are kept when there is room; none is lost."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
import pytest

from crawler.stores.archive.batches import PageTable
from crawler.stores.archive.object_storage import Folder
from crawler.stores.archive.warc import Page
from crawler.stores.products import write_rejected
from crawler.stores.refused_to_rejected import refused
from scrapy_seine.sinks.postgres.batches import Limits, Report
from scrapy_seine.sinks.postgres.writer import Writer
from tests.helpers import wait_until
from tests.integration.storage.kit import rows_of

pytestmark = pytest.mark.postgres
KB = 1024


@attrs.define
class Desk:
    writer: Writer = attrs.field(init=False)
    stored: list[Any] = attrs.Factory(list)
    failed: list[Any] = attrs.Factory(list)
    pressed: list[bool] = attrs.Factory(list)

    def heard(self, report: Report) -> None:
        self.stored += report.stored
        self.failed += report.failed


def desk(database: str, root: Path, limits: Limits) -> Desk:
    made = Desk()
    made.writer = Writer(
        database,
        {"pages": PageTable(Folder(root), lambda: "w"), "rejected": write_rejected},
        on_report=made.heard,
        on_pause=made.pressed.append,
        replacement_of=refused,
        limits=limits,
    )
    made.writer.start()
    return made


def page(number: int, size: int = 20 * KB) -> Page:
    return Page(
        url=f"https://a.example/{number}",
        at=datetime(2026, 1, 1, tzinfo=UTC),
        status=200,
        headers=[],
        body=os.urandom(size),
    )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    root = tmp_path / "disk"
    root.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(root)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small file system can be mounted by root only")
    yield root
    subprocess.run(["umount", str(root)], check=True)


def test_a_full_disk_is_waited_for_and_leaves_no_half_file(database: str, small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(900 * KB))
    made = desk(database, small_disk / "archive", Limits(rows=20, age_s=0.02))
    for number in range(20):
        made.writer.put("pages", page(number), 20 * KB, number)
    wait_until(lambda: made.pressed == [True], 10, "back-pressure")
    assert made.failed == []
    assert [path for path in small_disk.rglob("*") if path.name.startswith(".")] == []
    ballast.unlink()
    wait_until(lambda: len(made.stored) == 20, 20, "all pages")
    made.writer.close(10)
    assert made.pressed == [True, False]
    assert rows_of(database, "SELECT count(*) FROM archive") == [(20,)]


def test_an_object_that_is_too_large_for_its_file_system_is_halved(
    database: str, tmp_path: Path
) -> None:
    """RLIMIT_FSIZE stands for a file system's limit; a page that is larger itself is rejected."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200 * KB, hard))
    try:
        made = desk(database, tmp_path / "archive", Limits(rows=50, age_s=0.2))
        for number in range(20):
            made.writer.put("pages", page(number), 20 * KB, number)
        made.writer.put("pages", page(99, 300 * KB), 300 * KB, 99)
        wait_until(lambda: len(made.stored) == 21, 20, "each page has its end")
        made.writer.close(10)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert made.failed == []
    assert rows_of(database, "SELECT count(*) FROM archive") == [(20,)]
    assert rows_of(database, "SELECT url FROM rejected_items") == [("https://a.example/99",)]

"""What a worker logs of each page."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.utils.log import logformatter_adapter
from twisted.python.failure import Failure

from crawler.cli.output_checks import check_files
from scrapy_seine.engine.lease.entry import current
from scrapy_seine.engine.telemetry.logs import LostLines, PageLines, is_read
from scrapy_seine.errors import ConfigError

URL = "http://127.0.0.1/"


@pytest.mark.parametrize(
    ("levels", "told"),
    [
        ([logging.DEBUG], True),
        ([logging.INFO], False),
        ([logging.NOTSET], True),
        ([logging.ERROR, logging.DEBUG], True),  # a project's own handler beside Scrapy's
        ([], False),
    ],
)
def test_pages_are_told_of_where_a_handler_reads_that(
    monkeypatch: pytest.MonkeyPatch, levels: list[int], told: bool
) -> None:
    handlers = [logging.StreamHandler() for _ in levels]
    for handler, level in zip(handlers, levels, strict=True):
        handler.setLevel(level)
    monkeypatch.setattr(logging.root, "handlers", [logging.NullHandler(), *handlers])
    monkeypatch.setattr(logging.root, "level", logging.NOTSET)
    lines, spider = PageLines(), Spider("test")
    assert (lines.crawled(Request(URL), Response(URL), spider) is not None) is told
    assert (lines.scraped({}, Response(URL), spider) is not None) is told


@pytest.mark.parametrize(("kind", "traced"), [("connection", False), ("internal", True)])
def test_a_download_that_failed_in_a_known_way_is_one_line(
    caplog: pytest.LogCaptureFixture, kind: str, traced: bool
) -> None:
    """Sixty lines of traceback stood beside the line that says what becomes of the page."""
    lines, request, error = PageLines(), Request(URL), ConnectionError("refused")
    token = current.set(SimpleNamespace(kind=kind))  # type: ignore[arg-type]
    try:
        line = lines.download_error(Failure(error), request, Spider("test"))
    finally:
        current.reset(token)
    logger = logging.getLogger("scrapy.core.scraper")
    logger.log(*logformatter_adapter(line), exc_info=(type(error), error, None))
    (record,) = caplog.records
    assert (record.exc_info is not None) is traced
    assert ("ConnectionError: refused" in record.getMessage()) is not traced
    assert "Error downloading <GET http://127.0.0.1/>" in record.getMessage()


def test_a_log_on_a_full_disk_is_told_of_once_and_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    handler = logging.FileHandler("/dev/full")
    handler.handleError = LostLines(handler)  # type: ignore[method-assign]
    for number in range(3):
        handler.handle(logging.makeLogRecord({"msg": f"line {number}"}))
    with pytest.raises(OSError, match="No space"):
        handler.close()
    assert capsys.readouterr().err == (
        "seine: the log /dev/full cannot be written: No space left on device;"
        " its lines may be lost\n"
    )


def test_no_worker_starts_with_a_log_that_takes_no_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--logfile /dev/full cannot be written: No space left"):
        check_files(Settings({"LOG_FILE": "/dev/full"}))
    log = tmp_path / "log"
    log.write_text("another worker's line\n")
    check_files(Settings({"LOG_FILE": str(log)}))
    assert log.read_text() == "another worker's line\n"
    assert list(tmp_path.iterdir()) == [log]


def test_ctrl_c_while_modules_are_loaded_is_one_line() -> None:
    code = "import settings; raise KeyboardInterrupt"
    root = Path(__file__).parents[4]
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )
    assert ended.stderr == "seine: stopped\n"
    assert ended.returncode != 0


def test_a_logger_that_is_set_higher_or_apart_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.root, "handlers", [logging.StreamHandler()])
    log = logging.getLogger("scrapy.core.engine")
    monkeypatch.setattr(log, "level", logging.INFO)
    log.manager._clear_cache()  # type: ignore[attr-defined]  # what it remembers of its level
    assert not is_read("scrapy.core.engine")
    monkeypatch.setattr(log, "level", logging.DEBUG)
    log.manager._clear_cache()  # type: ignore[attr-defined]
    assert is_read("scrapy.core.engine")
    monkeypatch.setattr(log, "propagate", False)
    assert not is_read("scrapy.core.engine")
    log.manager._clear_cache()  # type: ignore[attr-defined]

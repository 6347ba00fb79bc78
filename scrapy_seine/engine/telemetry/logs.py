"""A worker's log: its form, and no line that nobody reads.

JSON instead of Scrapy's text where SEINE_LOG_FORMAT asks for it: an object a line, with the worker,
and what was at hand when it was written: URL, job and task of the page.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Self

import orjson
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.logformatter import LogFormatter, LogFormatterResult
from scrapy.settings import BaseSettings
from scrapy.utils.log import get_scrapy_root_handler
from twisted.python.failure import Failure

from scrapy_seine import meta as m
from scrapy_seine.engine.lease.entry import current
from scrapy_seine.engine.lease.error_text import describe
from scrapy_seine.engine.starting.unusable_settings import blame
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import ConfigError, SeineError
from scrapy_seine.printable import printable, redact

_FORMATS = ("text", "json")


class PageLines(LogFormatter):
    """Writes Scrapy's two lines about each page only where a handler of the log takes them.

    Scrapy makes them for every page and item, whether DEBUG is read or not: 0.05 ms a line.
    A download that failed in a known way is one line too, without Scrapy's traceback.
    """

    def __init__(self) -> None:
        super().__init__()
        scraper = logging.getLogger("scrapy.core.scraper")
        if not any(isinstance(one, _Told) for one in scraper.filters):
            scraper.addFilter(_Told())

    @cached_property
    def told(self) -> bool:
        """Whether anybody reads them; asked at the first page, when the handlers are there."""
        return is_read("scrapy.core.engine") or is_read("scrapy.core.scraper")

    def crawled(  # type: ignore[override]  # Scrapy reads None as no line
        self, request: Request, response: Response, spider: Spider
    ) -> LogFormatterResult | None:
        """Tell of a page received."""
        return super().crawled(request, response, spider) if self.told else None

    def scraped(  # type: ignore[override]
        self, item: Any, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult | None:
        """Tell of an item."""
        return super().scraped(item, response, spider) if self.told else None

    def download_error(
        self, failure: Failure, request: Request, spider: Spider, errmsg: str | None = None
    ) -> LogFormatterResult:
        """Tell of a download that failed, with the reason where the failure is of a known kind."""
        entry = current.get()
        known = entry is not None and entry.kind not in {"", "internal"}
        reason = describe(failure.value) if known and failure.value is not None else errmsg
        return super().download_error(failure, request, spider, reason)


class _Told(logging.Filter):
    """Leaves out the traceback of a line that gives its reason: it names no code of the project."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, dict) and "errmsg" in record.args:
            record.exc_info = None
        return True


def is_read(name: str, level: int = logging.DEBUG) -> bool:
    """Whether a handler takes what a logger of this name writes at a level.

    LOG_LEVEL is the level of Scrapy's own handler alone: a project may have others.
    """
    log: logging.Logger | None = logging.getLogger(name)
    if log is None or not log.isEnabledFor(level):
        return False
    while log is not None:
        if any(each.level <= level and not _drops_all(each) for each in log.handlers):
            return True
        log = log.parent if log.propagate else None
    return False


def _drops_all(handler: logging.Handler) -> bool:
    return isinstance(handler, logging.NullHandler)


class JsonFormatter(logging.Formatter):
    """Lays a record out as one JSON object."""

    #: Name in the fleet; known once the worker has joined.
    worker: str | None = None

    def format(self, record: logging.LogRecord) -> str:
        """Write a record; what cannot be JSON is written as text."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "worker": self.worker,
            **_page(),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


class SafeFormatter(logging.Formatter):
    """Another formatter's lines, printable and without credentials, tracebacks included."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self.inner = inner

    def format(self, record: logging.LogRecord) -> str:
        """Write a record."""
        return printable(redact(self.inner.format(record)))


class LostLines:
    """Says once that a log cannot be written, instead of a traceback for each of its lines."""

    def __init__(self, handler: logging.Handler) -> None:
        self.handler = handler
        self.is_told = False

    def __call__(self, record: logging.LogRecord) -> None:
        """Take an error of writing a record; any other is Python's to show."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            logging.Handler.handleError(self.handler, record)
        elif not self.is_told and sys.stderr is not None:
            self.is_told = True
            name = getattr(self.handler, "baseFilename", "on stderr")
            with contextlib.suppress(OSError, ValueError):  # stderr may be what cannot be written
                text = f"the log {name} cannot be written: {error.strerror}; its lines may be lost"
                print(f"seine: {text}", file=sys.stderr, flush=True)


def guard_logs() -> None:
    """Have each handler of the process' log write through a SafeFormatter."""
    for handler in logging.getLogger().handlers:
        if not isinstance(handler.handleError, LostLines):
            handler.handleError = LostLines(handler)  # type: ignore[method-assign]
        inner = handler.formatter or logging.Formatter()
        if not isinstance(inner, SafeFormatter):
            handler.setFormatter(SafeFormatter(inner))


class _OneLine(logging.Filter):
    """A worker that cannot start says why in one line, instead of the tracebacks around it.

    Scrapy raises what ends a start to whoever started the crawl, where nobody takes it; asyncio
    writes it then. On its way another error may come up, of the engine that is half open.
    """

    def __init__(self) -> None:
        super().__init__()
        self.settings: BaseSettings | None = None
        """Those of the crawler that was made last."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Replace a traceback by its cause, if that is an error for the user to mend."""
        raised = error = record.exc_info[1] if record.exc_info else None
        while error is not None and not isinstance(error, SeineError):
            error = error.__cause__ or error.__context__
        text = str(error) if error is not None else None
        if raised is not None and text is None and self.settings is not None:
            text = blame(self.settings, raised)
        if text is not None:
            record.msg, record.args = ("the worker does not start: %s", (" ".join(text.split()),))
            record.exc_info = record.exc_text = None
        return True


def one_line_failures(settings: BaseSettings) -> None:
    """Have errors that the user can mend written as one line where nobody catches them."""
    asyncio_logger = logging.getLogger("asyncio")
    there = [one for one in asyncio_logger.filters if isinstance(one, _OneLine)]
    one_line = there[0] if there else _OneLine()
    one_line.settings = settings
    asyncio_logger.addFilter(one_line)  # Python adds none twice


def _page() -> dict[str, Any]:
    """Return what names the page at hand; nothing between pages."""
    entry = current.get()
    if entry is None:
        return {}
    request = entry.request
    found = {
        "url": request.url,
        "job": request.meta.get(m.JOB_ID),
        "task": request.meta.get(m.TASK_ID),
    }
    return {name: value for name, value in found.items() if value is not None}


class JsonLogs:
    """Puts the formatter in the place of Scrapy's, and a guard around whichever there is."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read SEINE_LOG_FORMAT.

        Raises:
            ConfigError: it is neither text nor json.
        """
        wanted = str(crawler.settings.get("SEINE_LOG_FORMAT") or "text").lower()
        if wanted not in _FORMATS:
            raise ConfigError(f"SEINE_LOG_FORMAT={wanted!r} is neither text nor json")
        formatter = JsonFormatter() if wanted == "json" else None

        def guard() -> None:
            handler = get_scrapy_root_handler()
            if formatter is not None and handler is not None:
                handler.setFormatter(formatter)
            guard_logs()

        def joined() -> None:
            guard()  # Scrapy may have made its handler anew since then
            if formatter is not None:
                formatter.worker = worker_of(crawler).name

        guard()
        crawler.signals.connect(joined, signals.spider_opened, weak=False)
        return cls()

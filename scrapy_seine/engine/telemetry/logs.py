"""A worker's log: its format, and only lines that a handler takes.

With SEINE_LOG_FORMAT=json it writes JSON instead of Scrapy's text: an object a line, with the
worker and the current page's URL, job and task.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from types import TracebackType
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
    """Formats Scrapy's two lines about each page only if a handler of the log takes them.

    Scrapy formats them for every page and item, whether DEBUG is logged or not: 0.05 ms a line. A
    download that failed in a known way gets one line too, without Scrapy's traceback.
    """

    def __init__(self) -> None:
        super().__init__()
        scraper = logging.getLogger("scrapy.core.scraper")
        if not any(isinstance(log_filter, _NoTraceback) for log_filter in scraper.filters):
            scraper.addFilter(_NoTraceback())

    @cached_property
    def are_read(self) -> bool:
        """Whether a handler takes them; checked at the first page, when the handlers exist."""
        return is_read("scrapy.core.engine") or is_read("scrapy.core.scraper")

    def crawled(  # type: ignore[override]  # Scrapy reads None as no line
        self, request: Request, response: Response, spider: Spider
    ) -> LogFormatterResult | None:
        """Format the line of a received page."""
        return super().crawled(request, response, spider) if self.are_read else None

    def scraped(  # type: ignore[override]
        self, item: Any, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult | None:
        """Format the line of an item."""
        return super().scraped(item, response, spider) if self.are_read else None

    def download_error(
        self, failure: Failure, request: Request, spider: Spider, errmsg: str | None = None
    ) -> LogFormatterResult:
        """Format the line of a failed download, with the reason if it is of a known kind."""
        entry = current.get()
        is_known = entry is not None and entry.kind not in {"", "internal"}
        reason = describe(failure.value) if is_known and failure.value is not None else errmsg
        return super().download_error(failure, request, spider, reason)


class _NoTraceback(logging.Filter):
    """Removes the traceback of a line with a reason, because it names no code of the project."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, dict) and "errmsg" in record.args:
            record.exc_info = None
        return True


def is_read(name: str) -> bool:
    """Whether a handler takes a logger's lines of the lowest level.

    LOG_LEVEL is the level of Scrapy's own handler only: a project may have others.
    """
    log: logging.Logger | None = logging.getLogger(name)
    if log is None or not log.isEnabledFor(logging.DEBUG):
        return False
    while log is not None:
        if any(
            handler.level <= logging.DEBUG and not _drops_all(handler) for handler in log.handlers
        ):
            return True
        log = log.parent if log.propagate else None
    return False


def _drops_all(handler: logging.Handler) -> bool:
    return isinstance(handler, logging.NullHandler)


class JsonFormatter(logging.Formatter):
    """Formats a record as one JSON object."""

    #: Name in the fleet; set when the worker has joined.
    worker: str | None = None

    def format(self, record: logging.LogRecord) -> str:
        """Format a record; a value that JSON lacks becomes text."""
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
        try:
            return _json(line)
        except TypeError:  # UTF-8 cannot encode one of its texts
            return _json({name: _encodable(value) for name, value in line.items()})


def _json(line: dict[str, Any]) -> str:
    return orjson.dumps(line, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def _encodable(value: Any) -> Any:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


class SafeFormatter(logging.Formatter):
    """Another formatter's lines, printable and without credentials, tracebacks included."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self.inner = inner

    def format(self, record: logging.LogRecord) -> str:
        """Format a record."""
        return printable(redact(self.inner.format(record)))


class LostLines:
    """Reports once that a log cannot be written, instead of a traceback for each of its lines."""

    def __init__(self, handler: logging.Handler) -> None:
        self.handler = handler
        self.is_told = False

    def __call__(self, record: logging.LogRecord) -> None:
        """Handle an error of writing a record; Python shows any other."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            logging.Handler.handleError(self.handler, record)
        elif not self.is_told and sys.stderr is not None:
            self.is_told = True
            name = getattr(self.handler, "baseFilename", "on stderr")
            with contextlib.suppress(OSError, ValueError):  # stderr may be broken itself
                text = f"the log {name} cannot be written: {error.strerror}; its lines may be lost"
                print(f"seine: {text}", file=sys.stderr, flush=True)


def guard_logs() -> None:
    """Make each handler of the process' log write through a SafeFormatter."""
    for handler in logging.getLogger().handlers:
        _guard(handler)


def guard_scrapys_log() -> None:
    """Do as `guard_logs` with Scrapy's handler, unless the project formats its lines, as in colour.

    Scrapy makes that handler after the extensions, so that none of them can guard it.
    """
    handler = get_scrapy_root_handler()
    if handler is not None and type(handler.formatter) is logging.Formatter:
        _guard(handler)


def _guard(handler: logging.Handler) -> None:
    if not isinstance(handler.handleError, LostLines):
        handler.handleError = LostLines(handler)  # type: ignore[method-assign]
    inner = handler.formatter or logging.Formatter()
    if not isinstance(inner, SafeFormatter):
        handler.setFormatter(SafeFormatter(inner))


class _OneLine(logging.Filter):
    """Logs one line for a worker that cannot start, instead of the tracebacks around it.

    Scrapy raises such an error to the code that started the crawl, which does not handle it; then
    asyncio logs it. The half-open engine may raise further errors.
    """

    def __init__(self) -> None:
        super().__init__()
        self.settings: BaseSettings | None = None
        """Those of the crawler that was made last."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Replace a traceback by its cause, if that is an error for the user to mend."""
        text = _cause(record.exc_info[1] if record.exc_info else None, self.settings)
        if text is not None:
            record.msg, record.args = ("the worker does not start: %s", (" ".join(text.split()),))
            record.exc_info = record.exc_text = None
        return True


class _OneLineHook:
    """Python's report of an error that ends the process: one line if a setting is to blame.

    What Scrapy loads before it makes a crawler (the spider loader, the DNS resolver, the log's
    file) fails outside any task, so that no log sees the error.
    """

    def __init__(self, settings: BaseSettings, report: Callable[..., object]) -> None:
        self.settings = settings
        self.report = report

    def __call__(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        text = _cause(error, self.settings)
        if text is None or sys.stderr is None:
            self.report(kind, error, trace)
        else:
            print(f"the worker does not start: {' '.join(text.split())}", file=sys.stderr)


def _cause(error: BaseException | None, settings: BaseSettings | None) -> str | None:
    """Describe what the user has to fix, if *error* or one that led to it tells that."""
    while error is not None:
        if isinstance(error, SeineError):
            return str(error)
        if settings is not None and (text := blame(settings, error)) is not None:
            return text
        error = error.__cause__ or error.__context__
    return None


def one_line_end(settings: BaseSettings) -> None:
    """Report an error that ends the process in one line, if one of these settings causes it."""
    if isinstance(sys.excepthook, _OneLineHook):
        sys.excepthook.settings = settings
    else:
        sys.excepthook = _OneLineHook(settings, sys.excepthook)


def one_line_failures(settings: BaseSettings) -> None:
    """Log unhandled errors that the user can fix as one line."""
    asyncio_logger = logging.getLogger("asyncio")
    filters = [each for each in asyncio_logger.filters if isinstance(each, _OneLine)]
    one_line = filters[0] if filters else _OneLine()
    one_line.settings = settings
    asyncio_logger.addFilter(one_line)  # Python adds none twice


def _page() -> dict[str, Any]:
    """Return URL, job and task of the current page; {} between pages."""
    entry = current.get()
    if entry is None:
        return {}
    request = entry.request
    fields = {
        "url": request.url,
        "job": request.meta.get(m.JOB_ID),
        "task": request.meta.get(m.TASK_ID),
    }
    return {name: value for name, value in fields.items() if value is not None}


class JsonLogs:
    """Installs the JSON formatter in place of Scrapy's, and a guard around any formatter."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read SEINE_LOG_FORMAT.

        Raises:
            ConfigError: it is neither text nor json.
        """
        log_format = str(crawler.settings.get("SEINE_LOG_FORMAT") or "text").lower()
        if log_format not in _FORMATS:
            raise ConfigError(f"SEINE_LOG_FORMAT={log_format!r} is neither text nor json")
        formatter = JsonFormatter() if log_format == "json" else None

        def guard() -> None:
            handler = get_scrapy_root_handler()
            if formatter is not None and handler is not None:
                handler.setFormatter(formatter)
            guard_logs()

        def joined() -> None:
            guard()  # Scrapy may have replaced its handler since then
            if formatter is not None:
                formatter.worker = worker_of(crawler).name

        guard()
        crawler.signals.connect(joined, signals.spider_opened, weak=False)
        return cls()

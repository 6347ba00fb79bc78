"""Extension: keeps the last lines of a worker's log in Redis, for `scrapy logs` and the dashboard.

Lines are collected in memory and sent together every few seconds; at level INFO a worker writes a
few lines a minute. Lines that cannot be sent wait, and the oldest are dropped first.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

from redis.asyncio import Redis
from redis.exceptions import RedisError
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from scrapy_seine.config import FrontierConfig
from scrapy_seine.endpoints import endpoints, redis_client
from scrapy_seine.engine.telemetry.logs import SafeFormatter
from scrapy_seine.engine.worker import SIGN_OFF_S, worker_of
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.printable import redact
from scrapy_seine.reads.kept_log_lines import KEEP, write_log

logger = logging.getLogger(__name__)
#: Between two sends, s.
PAUSE_S = 2.0
_FORM = "%(asctime)s [%(name)s] %(levelname)s: %(message)s"


def chosen_level(settings: BaseSettings) -> int | str:
    """Return the level that a project chose, or INFO.

    Scrapy's default is DEBUG, which is two lines a page: the last 1,000 would be seconds old.
    """
    is_chosen = (settings.getpriority("LOG_LEVEL") or 0) > SETTINGS_PRIORITIES["default"]
    return (is_chosen and settings["LOG_LEVEL"]) or "INFO"


class Collector(logging.Handler):
    """Keeps the newest lines, printable and without credentials."""

    def __init__(self, level: int | str) -> None:
        super().__init__(level)
        self.lines: deque[str] = deque(maxlen=KEEP)
        self.setFormatter(SafeFormatter(logging.Formatter(_FORM)))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line; the log's own handler reports one that cannot be written."""
        try:
            line = self.format(record)
        except Exception:  # arguments that do not fit their message, or that cannot be shown
            message = record.msg if isinstance(record.msg, str) else type(record.msg).__name__
            line = redact(f"[{record.name}] {record.levelname}: {message}")
        self.lines.append(line)

    def take(self) -> list[str]:
        """Return the collected lines and remove them here."""
        lines, self.lines = list(self.lines), deque(maxlen=KEEP)
        return lines

    def put_back(self, lines: list[str]) -> None:
        """Put lines back in front of newer ones; the newest ones stay."""
        self.lines = deque([*lines, *self.lines], maxlen=KEEP)


class LogStream:
    """Collects one worker's log while it works."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        config = FrontierConfig.from_settings(crawler.settings, crawler.spidercls.name)
        self.keys = Keys(config.crawl, config.partitions)
        self.collector = Collector(chosen_level(crawler.settings))
        self._redis: Redis | None = None
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect the signals of one crawler."""
        self = cls(crawler)
        connect: Callable[..., Any] = crawler.signals.connect
        connect(self._opened, signals.spider_opened)
        connect(self._closed, signals.spider_closed)
        return self

    def _opened(self) -> None:
        """Begin to collect, if the worker has joined: one that has not leaves nothing in Redis."""
        if worker_of(self.crawler).member is None:
            return
        self._redis = redis_client(endpoints(self.crawler.settings, need=("redis",)).redis_url)
        logging.getLogger().addHandler(self.collector)
        self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        while not self._closing.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), PAUSE_S)
            await self.send()

    async def send(self) -> None:
        """Send the collected lines; lines that cannot be sent wait."""
        if self._redis is None or not self.collector.lines:
            return
        lines = self.collector.take()
        try:
            await write_log(self._redis, self.keys, worker_of(self.crawler).name, lines)
        except (RedisError, OSError):  # the scheduler logs it; further lines would not help
            self.collector.put_back(lines)

    async def _closed(self) -> None:
        if self._task is None or self._redis is None:
            return
        self._closing.set()  # cancelling a send would lose its lines
        try:
            async with asyncio.timeout(SIGN_OFF_S):
                await self._task
                await self.send()
        except TimeoutError:
            logger.debug("the last lines are not in Redis, because it does not answer")
        finally:
            logging.getLogger().removeHandler(self.collector)
            await self._redis.aclose()

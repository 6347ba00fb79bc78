"""Extension: a worker's metrics and health on a port of its own.

`/metrics` is worked out from Scrapy's stats when Prometheus asks; `/healthz` answers as long as the
event loop turns, whatever Redis does, so that an outage of a store restarts no worker; `/readyz`
says whether the worker takes work.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from prometheus_client import ProcessCollector
from scrapy import signals
from scrapy.crawler import Crawler

from scrapy_seine import metrics
from scrapy_seine.config import FrontierConfig
from scrapy_seine.engine.heartbeat import own_version
from scrapy_seine.engine.telemetry.outcome_counter import OutcomeCounter
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import ConfigError
from scrapy_seine.metrics import Sheet, Spec
from scrapy_seine.reads.exposition import CONTENT_TYPE, render

if TYPE_CHECKING:
    from aiohttp import web

logger = logging.getLogger(__name__)
_TICK_S = 0.25
_HIGHEST_PORT = 65535

#: Metrics that are one stat.
_SINGLE: Mapping[Spec, str] = {
    metrics.RESPONSE_BYTES: "downloader/response_bytes",
    metrics.DUPLICATES: "seine/duplicates_local",
    metrics.LEASES_LOST: "seine/leases_lost",
    metrics.BATCHES: "seine/store/batches",
    metrics.SLOTS_MISSED: "seine/slots_missed",
    metrics.PROXY_BANS: "proxies/bans",
    metrics.PROXY_LACK: "proxies/none_free",
}
#: Metrics whose first label is the end of the stat's name, with their further labels.
_FAMILIES: Mapping[str, tuple[Spec, tuple[str, ...]]] = {
    "downloader/response_status_count": (metrics.RESPONSES, ()),
    "downloader/exception_type_count": (metrics.EXCEPTIONS, ()),
    "access": (metrics.VERDICTS, ()),
    "seine/retries": (metrics.FAILURES, ("retry",)),
    "seine/buried": (metrics.FAILURES, ("bury",)),
    "seine/store": (metrics.ROWS, ()),
    "seine/blocks": (metrics.BLOCKS, ()),
    "proxies/used": (metrics.PROXY_USES, ()),
    "extract/doubtful": (metrics.DOUBTFUL, ()),
}
_MILLISECONDS = "seine/store/milliseconds"
_NOT_ROWS = {_MILLISECONDS, "seine/store/batches"}
#: Metrics gathered from stats with names of their own.
_NAMED: Mapping[str, tuple[Spec, str]] = {
    "item_scraped_count": (metrics.ITEMS, "scraped"),
    "item_dropped_count": (metrics.ITEMS, "dropped"),
    "seine/seeds": (metrics.SEEDS, "taken"),
    "seine/seeds_rejected": (metrics.SEEDS, "rejected"),
    "seine/state_lost": (metrics.STATE_CHANGES, "lost"),
    "seine/state_rolled_back": (metrics.STATE_CHANGES, "rolled_back"),
    "seine/unencodable": (metrics.UNREADABLE, "in"),
    "seine/undecodable": (metrics.UNREADABLE, "out"),
}


def worker_sheet(crawl: str, stats: Mapping[str, Any], tally: OutcomeCounter) -> Sheet:
    """Lay one worker's counters out as metrics."""
    sheet = Sheet(crawl)
    for spec, stat in _SINGLE.items():
        sheet.add(spec, float(stats.get(stat, 0)))
    for stat, (spec, label) in _NAMED.items():
        sheet.add(spec, float(stats.get(stat, 0)), label)
    for stat, value in stats.items():
        prefix, _, label = stat.rpartition("/")
        if prefix in _FAMILIES and stat not in _NOT_ROWS:
            spec, more = _FAMILIES[prefix]
            # An exception's name comes with its module.
            sheet.add(spec, float(value), label.rpartition(".")[2], *more)
    sheet.add(metrics.BATCH_SECONDS, stats.get(_MILLISECONDS, 0) / 1000)
    for (domain, outcome), n in tally.by_label.items():
        sheet.add(metrics.REQUESTS_ENDED, n, domain, outcome)
    sheet.add_histogram(metrics.RESPONSE_SECONDS, tally.seconds)
    return sheet


def parse_port(raw: Any) -> int:
    """Read SEINE_METRICS_PORT.

    Raises:
        ConfigError: it is no port.
    """
    try:
        port = int(raw)
    except (TypeError, ValueError):
        port = -1
    if not 0 <= port <= _HIGHEST_PORT:
        raise ConfigError(f"SEINE_METRICS_PORT={raw!r} is no port")
    return port


class Exporter:
    """Serves one worker's metrics."""

    def __init__(self, crawler: Crawler, port: int, host: str) -> None:
        self.crawler = crawler
        self.port = port
        self.host = host
        self.crawl = FrontierConfig.from_settings(crawler.settings, crawler.spidercls.name).crawl
        self._process = ProcessCollector(registry=None)
        self._lag_s = 0.0
        self._ticker: asyncio.Task[None] | None = None
        self._runner: web.AppRunner | None = None
        self._closing = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension, at the port that SEINE_METRICS_PORT says.

        Raises:
            ConfigError: it is no port.
        """
        port = parse_port(crawler.settings.get("SEINE_METRICS_PORT"))
        host = str(crawler.settings.get("SEINE_METRICS_HOST", "127.0.0.1"))
        self = cls(crawler, port, host)
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)
        return self

    async def _opened(self) -> None:
        from aiohttp import web  # 14 MB and 0.15 s that a worker without the port saves

        app = web.Application()
        app.add_routes(
            [
                web.get("/metrics", self._metrics),
                web.get("/healthz", self._healthz),
                web.get("/readyz", self._readyz),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self.host, self.port).start()
        except OSError as error:
            logger.error("no metrics: port %d cannot be used: %s", self.port, error)
            return
        self.port = self._runner.addresses[0][1]
        logger.info("metrics at http://%s:%d/metrics", self.host, self.port)
        self._ticker = asyncio.ensure_future(self._tick())

    async def _closed(self) -> None:
        if self._ticker is not None:
            self._ticker.cancel()
            await asyncio.gather(self._ticker, return_exceptions=True)
        if self._runner is not None:
            await self._runner.cleanup()

    async def _tick(self) -> None:
        """Measure how late the event loop wakes us."""
        while True:
            asked = monotonic()
            await asyncio.sleep(_TICK_S)
            self._lag_s = max(self._lag_s, monotonic() - asked - _TICK_S)

    def sheet(self) -> Sheet:
        """Work all metrics out."""
        stats: Any = self.crawler.stats
        worker = worker_of(self.crawler)
        sheet = worker_sheet(self.crawl, stats.get_stats(), worker.outcomes)
        inflight = worker.inflight
        sheet.add(metrics.WORKER_INFO, 1, worker.name, own_version())
        sheet.add(metrics.WORKER_STARTED, worker.started_s)
        sheet.add(metrics.ACTIVE, len(inflight))
        sheet.add(metrics.BUFFERED, worker.buffered)
        rows, weight = inflight.waiting()
        sheet.add(metrics.WAITING_ROWS, rows)
        sheet.add(metrics.WAITING_BYTES, weight)
        sheet.add(metrics.PRESSED, float(inflight.pressed))
        sheet.add(metrics.REACTOR_LAG, self._lag_s)
        self._lag_s = 0.0
        return sheet

    async def _metrics(self, request: web.Request) -> web.Response:
        body = render([*self.sheet(), *self._process.collect()])
        return _answer(body=body, headers={"Content-Type": CONTENT_TYPE})

    async def _healthz(self, request: web.Request) -> web.Response:
        return _answer(text="ok\n")

    async def _readyz(self, request: web.Request) -> web.Response:
        worker = worker_of(self.crawler)
        if worker.member is None or worker.closing:
            return _answer(status=503, text="the worker takes no work\n")
        return _answer(text="ready\n")


def _answer(**what: Any) -> web.Response:
    from aiohttp import web

    return web.Response(**what)

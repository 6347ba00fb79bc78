"""Extension: serves a worker's metrics and health on a port of its own.

`/metrics` is computed when Prometheus asks; `/healthz` answers while the event loop runs, whatever
Redis does, so that an outage of a store restarts no worker; `/readyz` reports whether the worker
takes work.
"""

from __future__ import annotations

import logging
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from scrapy_seine.engine.telemetry.reactor_lag import ReactorLag
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import ConfigError

if TYPE_CHECKING:
    from aiohttp import web

    from scrapy_seine.engine.telemetry.worker_metrics import WorkerMetrics

logger = logging.getLogger(__name__)
_HIGHEST_PORT = 65535


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


class MetricsPort:
    """Serves one worker's metrics and health.

    aiohttp and Prometheus' client are loaded only if a port is set: other workers save 14 MB and
    0.15 s.
    """

    def __init__(self, crawler: Crawler, port: int, host: str) -> None:
        self.crawler = crawler
        self.port = port
        self.host = host
        self._lag = ReactorLag()
        self._runner: web.AppRunner | None = None
        self._metrics: WorkerMetrics | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it if SEINE_METRICS_PORT names a port.

        Raises:
            NotConfigured: the setting is empty.
            ConfigError: it is no port, or aiohttp is missing.
        """
        if crawler.settings.get("SEINE_METRICS_PORT", "") in {"", None}:
            raise NotConfigured  # without a message, as Scrapy's own: a message is a warning
        port = parse_port(crawler.settings.get("SEINE_METRICS_PORT"))
        if find_spec("aiohttp") is None:
            raise ConfigError(
                "SEINE_METRICS_PORT needs aiohttp: pip install 'scrapy-seine[dashboard]'"
            )
        host = str(crawler.settings.get("SEINE_METRICS_HOST", "127.0.0.1"))
        self = cls(crawler, port, host)
        crawler.signals.connect(self._on_opened, signals.spider_opened)
        crawler.signals.connect(self._on_closed, signals.spider_closed)
        return self

    async def _on_opened(self) -> None:
        from aiohttp import web

        from scrapy_seine.engine.telemetry.worker_metrics import WorkerMetrics
        from scrapy_seine.newest_connections import Runner

        self._metrics = WorkerMetrics(self.crawler)
        app = web.Application()
        app.add_routes(
            [
                web.get("/metrics", self._scraped),
                web.get("/healthz", self._healthz),
                web.get("/readyz", self._readyz),
            ]
        )
        self._runner = Runner(app)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self.host, self.port).start()
        except OSError as error:
            logger.error("metrics are not served: port %d cannot be used: %s", self.port, error)
            return
        self.port = self._runner.addresses[0][1]
        logger.info("metrics at http://%s:%d/metrics", self.host, self.port)
        self._lag.start()

    async def _on_closed(self) -> None:
        await self._lag.stop()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _scraped(self, request: web.Request) -> web.Response:
        from scrapy_seine.reads.prometheus import CONTENT_TYPE

        assert self._metrics is not None  # as long as a port is open
        text = self._metrics.text(self._lag.take_s())
        return _answer(body=text, headers={"Content-Type": CONTENT_TYPE})

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

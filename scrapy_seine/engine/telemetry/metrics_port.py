"""Extension: a worker's metrics, which are loaded where a port is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

if TYPE_CHECKING:
    from scrapy_seine.engine.telemetry.worker_metrics import Exporter


class MetricsPort:
    """Makes the exporter; without a port, Prometheus' client is not even imported."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Exporter:
        """Make it where SEINE_METRICS_PORT asks for it.

        Raises:
            NotConfigured: the setting is empty.
            ConfigError: it is no port.
        """
        if crawler.settings.get("SEINE_METRICS_PORT", "") in {"", None}:
            raise NotConfigured("SEINE_METRICS_PORT is empty")
        from scrapy_seine.engine.telemetry.worker_metrics import Exporter

        return Exporter.from_crawler(crawler)

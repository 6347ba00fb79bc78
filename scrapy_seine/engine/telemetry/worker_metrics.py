"""A worker's counters as metrics, computed from Scrapy's stats when Prometheus asks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from prometheus_client import ProcessCollector
from scrapy.crawler import Crawler

from scrapy_seine import metrics
from scrapy_seine.config import FrontierConfig
from scrapy_seine.engine.heartbeat import own_version
from scrapy_seine.engine.telemetry.outcome_counter import OutcomeCounter
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.metrics import Sheet, Spec
from scrapy_seine.reads.prometheus import render

#: Metrics that equal one stat.
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
#: Metrics computed from several stats.
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
    """Convert one worker's counters to metrics."""
    sheet = Sheet(crawl)
    for spec, stat in _SINGLE.items():
        sheet.add(spec, float(stats.get(stat, 0)))
    for stat, (spec, label) in _NAMED.items():
        sheet.add(spec, float(stats.get(stat, 0)), label)
    for (spec, labels), value in _sums(stats).items():
        sheet.add(spec, value, *labels)
    sheet.add(metrics.BATCH_SECONDS, stats.get(_MILLISECONDS, 0) / 1000)
    for (domain, outcome), n in tally.by_label.items():
        sheet.add(metrics.REQUESTS_ENDED, n, domain, outcome)
    sheet.add_histogram(metrics.RESPONSE_SECONDS, tally.seconds)
    return sheet


def _sums(stats: Mapping[str, Any]) -> Mapping[tuple[Spec, tuple[str, ...]], float]:
    """Sum the stats of each series: errors of two modules may have one name, as TimeoutError."""
    sums: defaultdict[tuple[Spec, tuple[str, ...]], float] = defaultdict(float)
    for stat, value in stats.items():
        prefix, _, label = stat.rpartition("/")
        if prefix in _FAMILIES and stat not in _NOT_ROWS:
            spec, labels = _FAMILIES[prefix]
            name = label.rpartition(".")[2] if spec is metrics.EXCEPTIONS else label
            sums[spec, (name, *labels)] += float(value)
    return sums


class WorkerMetrics:
    """One worker's metrics, and those of its process."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl = FrontierConfig.from_settings(crawler.settings, crawler.spidercls.name).crawl
        self._process = ProcessCollector(registry=None)

    def text(self, lag_s: float) -> bytes:
        """Format all metrics for Prometheus; *lag_s*: how late the event loop woke us."""
        return render([*self.sheet(lag_s), *self._process.collect()])

    def sheet(self, lag_s: float) -> Sheet:
        """Compute the worker's metrics."""
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
        sheet.add(metrics.PRESSED, float(inflight.is_pause_requested))
        sheet.add(metrics.REACTOR_LAG, lag_s)
        return sheet

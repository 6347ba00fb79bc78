"""Every metric of Seine, declared once: name, kind, labels, help.

Names follow Prometheus' conventions: `seine_` first, the unit last (`_seconds`, `_bytes`), and
`_total` for counters. Label sets are bounded: domains beyond the busiest count as `other`. Workers'
metrics are computed from their counters when they are scraped, so that a page costs nothing here;
the fleet's come from Redis' own counters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import attrs
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from scrapy_seine.attrs_bases import Value
from scrapy_seine.page_metrics import Histogram
from scrapy_seine.printable import escaped

Kind = Literal["counter", "gauge", "histogram"]


@attrs.frozen(eq=False, repr=False)
class Spec(Value):
    """One metric. Its first label is always the crawl."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()

    @property
    def label_names(self) -> tuple[str, ...]:
        """All labels, the crawl first."""
        return ("crawl", *self.labels)


def _counter(name: str, text: str, *labels: str) -> Spec:
    return Spec(name, "counter", text, labels)


def _gauge(name: str, text: str, *labels: str) -> Spec:
    return Spec(name, "gauge", text, labels)


# One worker:
WORKER_INFO = _gauge("seine_worker_info", "Always 1; who this worker is.", "worker", "version")
WORKER_STARTED = _gauge("seine_worker_start_time_seconds", "Unix time of the worker's start.")
REQUESTS_ENDED = _counter(
    "seine_requests_ended_total", "Requests by how their lease ended.", "domain", "outcome"
)
FAILURES = _counter(
    "seine_failures_total", "Failed attempts by kind, and what became of them.", "kind", "end"
)
RESPONSES = _counter("seine_responses_total", "Responses received, by HTTP status.", "status")
EXCEPTIONS = _counter("seine_download_errors_total", "Downloads without a response.", "error")
RESPONSE_BYTES = _counter("seine_response_bytes_total", "Bytes received, headers included.")
RESPONSE_SECONDS = Spec(
    "seine_response_seconds", "histogram", "From sending a request to its response."
)
ITEMS = _counter("seine_items_total", "Items by what became of them.", "outcome")
DUPLICATES = _counter("seine_duplicate_links_total", "Links dropped without asking Redis.")
VERDICTS = _counter("seine_verdicts_total", "Pages by verdict of block detection.", "verdict")
DOUBTFUL = _counter(
    "seine_doubtful_total", "Values that contradict what their site's pages did so far.", "field"
)
SEEDS = _counter("seine_seeds_total", "Seeds taken, by outcome.", "outcome")
LEASES_LOST = _counter("seine_leases_lost_total", "Leases that ran out in this worker's hands.")
STATE_CHANGES = _counter(
    "seine_state_changes_total", "Times that Redis had another state of the crawl.", "change"
)
UNREADABLE = _counter("seine_unstorable_requests_total", "Requests set aside.", "direction")
ROWS = _counter("seine_rows_total", "Rows handed to PostgreSQL, by what became of them.", "outcome")
BATCHES = _counter("seine_upsert_batches_total", "Batches written to PostgreSQL.")
BATCH_SECONDS = _counter("seine_upsert_seconds_total", "Time spent in writing batches.")
WAITING_ROWS = _gauge("seine_rows_waiting", "Rows that wait for PostgreSQL.")
WAITING_BYTES = _gauge("seine_rows_waiting_bytes", "What those rows weigh.")
BLOCKS = _counter("seine_blocks_total", "Pauses that sites asked for, by HTTP status.", "status")
SLOTS_MISSED = _counter("seine_slots_missed_total", "Requests that came too late for their slot.")
PROXY_USES = _counter("seine_proxy_uses_total", "Requests sent through a proxy.", "pool")
PROXY_BANS = _counter("seine_proxy_bans_total", "Answers that a site gave a banned proxy.")
PROXY_LACK = _counter("seine_proxy_none_free_total", "Requests put off as no proxy was free.")
ACTIVE = _gauge("seine_active_requests", "Requests in Scrapy's hands or waiting for a commit.")
BUFFERED = _gauge("seine_buffered_requests", "Requests read ahead, not begun.")
PRESSED = _gauge("seine_back_pressure", "1 while a store asks the worker to pause.")
REACTOR_LAG = _gauge(
    "seine_reactor_lag_seconds", "Longest delay of the event loop since the last scrape."
)

# The fleet:
STORE_UP = _gauge("seine_store_up", "1 when the store answers.", "store")
FRONTIER = _gauge("seine_frontier_requests", "Requests by state.", "state")
DUE_NOW = _gauge("seine_frontier_due_now", "Requests that could be sent now.")
DEMAND = _gauge(
    "seine_frontier_demand",
    "Requests leased or due now, and seeds up to one worker's; autoscaling reads this.",
)
SEEDS_WAITING = _gauge("seine_seeds_waiting", "Seeds that no worker has taken yet.")
OLDEST = _gauge(
    "seine_frontier_oldest_request_seconds", "Age of the request that is next to be handed out."
)
LATENESS = _gauge(
    "seine_frontier_lateness_seconds", "How long work that is due has been waiting for a worker."
)
DOMAINS = _gauge("seine_frontier_domains", "Domains with queued requests, by state.", "state")
SEEN = _gauge("seine_frontier_seen", "Fingerprints remembered in the current generation.")
EVENTS = _counter("seine_frontier_events_total", "What happened to requests, by verb.", "event")
PAUSED = _gauge("seine_crawl_paused", "1 while the crawl is paused.")
WORKERS = _gauge("seine_workers", "Workers by state of their heartbeat.", "state")
DOMAIN_OUTCOMES = _counter(
    "seine_domain_outcomes_total", "Ended requests of the busiest domains.", "domain", "outcome"
)
PROXIES = _gauge("seine_proxies", "Proxies by state.", "state")
LADDER = _gauge("seine_ladder_domains", "Domains by step of the escalation ladder.", "step")
QUALITY = _gauge("seine_quality_score", "Data quality by site, 0 to 1.", "site")
PRODUCTS = _gauge("seine_products", "Products in PostgreSQL, as its statistics estimate.")
REDIS_MEMORY = _gauge("seine_redis_memory_bytes", "Memory Redis uses.")
REDIS_MEMORY_LIMIT = _gauge("seine_redis_memory_limit_bytes", "Memory Redis may use; 0: no limit.")
READ_SECONDS = _gauge("seine_fleet_read_seconds", "What reading the fleet's state took.")

SPECS: tuple[Spec, ...] = tuple(value for value in globals().values() if isinstance(value, Spec))


class Sheet:
    """One scrape's values, grouped by metric."""

    def __init__(self, crawl: str) -> None:
        self.crawl = crawl
        self._families: dict[str, Metric] = {}

    def add(self, spec: Spec, value: float, *labels: str) -> None:
        """Add one value; *labels* in the order of the declaration, without the crawl."""
        family = self._families.get(spec.name)
        if family is None:
            shape = CounterMetricFamily if spec.kind == "counter" else GaugeMetricFamily
            family = shape(spec.name, spec.help, labels=spec.label_names)
            self._families[spec.name] = family
        # Escaped, because labels from Redis must neither break the format nor become equal.
        family.add_metric([self.crawl, *map(escaped, labels)], value)  # type: ignore[attr-defined]

    def add_each(self, spec: Spec, values: Mapping[str, float]) -> None:
        """Add one value for each value of the metric's only label."""
        for label, value in values.items():
            self.add(spec, value, label)

    def add_histogram(self, spec: Spec, histogram: Histogram) -> None:
        """Add a histogram."""
        family = HistogramMetricFamily(spec.name, spec.help, labels=spec.label_names)
        family.add_metric([self.crawl], histogram.cumulative(), histogram.total)
        self._families[spec.name] = family

    def __iter__(self) -> Iterator[Metric]:
        return iter(self._families.values())

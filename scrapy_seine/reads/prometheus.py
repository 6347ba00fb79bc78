"""The fleet's metrics as Prometheus' text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.registry import Collector

from scrapy_seine import metrics
from scrapy_seine.metrics import Sheet
from scrapy_seine.reads.demand import demand
from scrapy_seine.reads.domains import Domain
from scrapy_seine.reads.fleet import Fleet
from scrapy_seine.reads.outcome_history import OUTCOMES

#: Content type of the metrics for the scraper.
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: Verbs that are shown before they first happen, so that rates start from zero.
VERBS = ("pushed", "duplicate", "leased", "done", "retried", "buried", "lost", "reaped", "requeued")


def render(sheet: Iterable[Any]) -> bytes:
    """Write metric families as text."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(cast("Collector", _Once(sheet)))
    return generate_latest(registry)


class _Once:
    """Shows metrics that exist already."""

    def __init__(self, families: Iterable[Any]) -> None:
        self._families = families

    def collect(self) -> Iterable[Any]:
        return self._families

    def describe(self) -> Iterable[Any]:
        return ()


def fleet_sheet(fleet: Fleet, busiest: Sequence[Domain]) -> Sheet:
    """Lay the fleet's state out as metrics; *busiest* are the domains with labels of their own."""
    sheet, counts = Sheet(fleet.crawl), fleet.counts
    for state in ("ready", "delayed", "leased", "dead"):
        sheet.add(metrics.FRONTIER, getattr(counts, state), state)
    if fleet.partitions > 1:
        sheet.add(metrics.FRONTIER, counts.moving, "moving")
    sheet.add(metrics.DUE_NOW, fleet.due_now)
    sheet.add(metrics.OLDEST, fleet.oldest_s)
    sheet.add(metrics.LATENESS, fleet.lateness_s)
    sheet.add(metrics.DOMAINS, counts.domains_ready, "ready")
    sheet.add(metrics.DOMAINS, counts.domains_waiting, "waiting")
    sheet.add(metrics.SEEN, counts.seen)
    sheet.add_each(metrics.EVENTS, {**dict.fromkeys(VERBS, 0), **counts.totals})
    sheet.add(metrics.PAUSED, float(counts.paused))
    alive = len(fleet.alive)
    sheet.add(metrics.WORKERS, alive, "alive")
    sheet.add(metrics.WORKERS, len(fleet.workers) - alive, "silent")
    for domain in busiest:
        for outcome in OUTCOMES:
            sheet.add(metrics.DOMAIN_OUTCOMES, getattr(domain, outcome), domain.name, outcome)
    sheet.add(metrics.STORE_UP, 1, "redis")
    sheet.add(metrics.REDIS_MEMORY, fleet.memory_bytes)
    sheet.add(metrics.REDIS_MEMORY_LIMIT, fleet.memory_limit_bytes)
    sheet.add(metrics.READ_SECONDS, fleet.read_s)
    return sheet


def down_sheet(crawl: str) -> Sheet:
    """What is shown while Redis does not answer: that it does not."""
    sheet = Sheet(crawl)
    sheet.add(metrics.STORE_UP, 0, "redis")
    return sheet


def add_products(sheet: Sheet, products: int | None) -> None:
    """Add what PostgreSQL says; None: it says nothing."""
    sheet.add(metrics.STORE_UP, float(products is not None), "postgresql")
    if products is not None:
        sheet.add(metrics.PRODUCTS, products)


def add_quality(sheet: Sheet, scores: Mapping[str, float]) -> None:
    """Add each site's score, 0 to 1."""
    sheet.add_each(metrics.QUALITY, scores)


def add_seeds(sheet: Sheet, fleet: Fleet, waiting: int) -> None:
    """Add the seeds that no worker has taken yet, and what they and the rest ask of workers."""
    sheet.add(metrics.SEEDS_WAITING, waiting)
    sheet.add(metrics.DEMAND, demand(fleet, waiting))


def add_proxies(sheet: Sheet, states: Mapping[str, int]) -> None:
    """Add proxies by state, where there are any."""
    if any(states.values()):
        sheet.add_each(metrics.PROXIES, states)


def add_ladder(sheet: Sheet, steps: Mapping[str, int]) -> None:
    """Add domains by step of the ladder, where any has climbed."""
    sheet.add_each(metrics.LADDER, steps)

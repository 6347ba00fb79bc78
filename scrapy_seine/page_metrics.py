"""Per-page counters of a worker's metrics: times by bucket, and labels for domains."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from scrapy_seine.attrs_bases import Record

#: The label of domains without their own.
OTHER = "other"
#: Upper bounds of the response time histogram, seconds.
RESPONSE_BUCKETS = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


@attrs.define(eq=False, repr=False)
class Histogram(Record):
    """Counts by bucket, cheap enough for each page."""

    bounds: tuple[float, ...] = RESPONSE_BUCKETS
    counts: list[int] = attrs.Factory(lambda self: [0] * (len(self.bounds) + 1), takes_self=True)
    total: float = 0.0

    def observe(self, value: float) -> None:
        """Count one value."""
        bucket = 0
        for bound in self.bounds:
            if value <= bound:
                break
            bucket += 1
        self.counts[bucket] += 1
        self.total += value

    def cumulative(self) -> list[tuple[str, float]]:
        """Return buckets in Prometheus' format: each includes all smaller ones."""
        bounds = [*(str(bound) for bound in self.bounds), "+Inf"]
        below, rows = 0, []
        for bound, count in zip(bounds, self.counts, strict=True):
            below += count
            rows.append((bound, float(below)))
        return rows


class TopLabels:
    """Gives the busiest domains a label of their own, and the others a common one.

    A domain keeps its label, so that no counter ever decreases: half the labels go to the first
    domains, the other half to the busiest ones of each interval.
    """

    def __init__(self, limit: int = 50) -> None:
        self.limit = limit
        self._labelled: set[str] = set()

    def label(self, domain: str) -> str:
        """Return the label under which *domain* is counted."""
        if domain in self._labelled:
            return domain
        if len(self._labelled) < self.limit // 2:
            self._labelled.add(domain)
            return domain
        return OTHER

    def promote(self, busiest: Sequence[str]) -> None:
        """Give remaining labels to the domains that were busiest lately."""
        room = self.limit - len(self._labelled)
        for domain in [d for d in busiest if d not in self._labelled][: max(room, 0)]:
            self._labelled.add(domain)

"""What a worker counts of each page for its metrics: times by bucket, and labels for domains."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from scrapy_seine.records import Record

#: Where what has no label of its own is counted.
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
        at = 0
        for bound in self.bounds:
            if value <= bound:
                break
            at += 1
        self.counts[at] += 1
        self.total += value

    def cumulative(self) -> list[tuple[str, float]]:
        """Return buckets as Prometheus wants them: each holds all smaller ones."""
        bounds = [*(str(bound) for bound in self.bounds), "+Inf"]
        below, rows = 0, []
        for bound, count in zip(bounds, self.counts, strict=True):
            below += count
            rows.append((bound, float(below)))
        return rows


class TopLabels:
    """Gives the busiest domains a label of their own, and the others one together.

    A domain keeps the label once it has one, so that no counter ever falls: half the labels go to
    the first domains that come, the other half to the busiest ones of each interval.
    """

    def __init__(self, limit: int = 50) -> None:
        self.limit = limit
        self._shown: set[str] = set()

    def label(self, domain: str) -> str:
        """Label under which *domain* is counted."""
        if domain in self._shown:
            return domain
        if len(self._shown) < self.limit // 2:
            self._shown.add(domain)
            return domain
        return OTHER

    def promote(self, busiest: Sequence[str]) -> None:
        """Give labels that are left to the domains that were busiest lately."""
        room = self.limit - len(self._shown)
        for domain in [d for d in busiest if d not in self._shown][: max(room, 0)]:
            self._shown.add(domain)

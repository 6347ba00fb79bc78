"""Counts by domain how the leases of one worker ended."""

from __future__ import annotations

from scrapy_seine.page_metrics import Histogram, TopLabels

#: Domains remembered between two reports, at most; beyond them only labels are counted.
MAX_PENDING = 20_000


class OutcomeCounter:
    """Counts of one process. Pure: the extension feeds it, the exporter and the report read it."""

    def __init__(self, labels: int = 50) -> None:
        self.top = TopLabels(labels)
        self.seconds = Histogram()
        self.by_label: dict[tuple[str, str], int] = {}
        self._pending: dict[str, dict[str, int]] = {}

    def count_end(self, domain: str, outcome: str) -> None:
        """Count the end of one lease."""
        key = (self.top.label(domain), outcome)
        self.by_label[key] = self.by_label.get(key, 0) + 1
        counts = self._pending.get(domain)
        if counts is None:
            if len(self._pending) >= MAX_PENDING:
                return
            counts = self._pending[domain] = {}
        counts[outcome] = counts.get(outcome, 0) + 1

    def take(self) -> dict[str, dict[str, int]]:
        """Return the counts since the last call, and start again."""
        pending, self._pending = self._pending, {}
        self.top.promote(sorted(pending, key=lambda d: -sum(pending[d].values()))[:50])
        return pending

    def put_back(self, counts_by_domain: dict[str, dict[str, int]]) -> None:
        """Add counts that could not be reported."""
        for domain, counts in counts_by_domain.items():
            pending = self._pending.setdefault(domain, {})
            for outcome, n in counts.items():
                pending[outcome] = pending.get(outcome, 0) + n

"""Samples of the queue, the domains and the workers, because Redis has no history of them.

A running dashboard samples every ten seconds; a plot has a gap where it did not run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.reads.overview import Overview

#: Seconds between two samples.
STEP_S = 10
#: Number of stored samples by grain in seconds: an hour, a day, a week.
_GRAINS = {STEP_S: 361, 600: 145, 3600: 169}
#: Samples of a sparkline: ten minutes.
_SPARK_SAMPLES = 61
#: Samples over which a rate is computed, because a worker reports as often as the dashboard
#: samples: between two samples there may be two reports or none.
_RATE_SAMPLES = 3
#: Most domains, and most workers, of one sample.
_MAX_NAMES = 200


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Sample(Value):
    """The fleet at one moment."""

    at: float
    ready: int
    delayed: int
    leased: int
    workers: int


@attrs.define(eq=False)
class History:
    """Samples by grain, and the counts of each domain and worker."""

    samples: dict[int, deque[Sample]] = attrs.Factory(
        lambda: {step: deque(maxlen=length) for step, length in _GRAINS.items()}
    )
    done_counts: deque[tuple[float, Mapping[str, int]]] = attrs.Factory(
        lambda: deque(maxlen=_SPARK_SAMPLES)
    )
    """By time: pages of each domain and of each worker, whose key is `worker/…`."""

    def note(self, now: Overview) -> None:
        """Add a sample, unless the same step has one."""
        counts, at_s = now.fleet.counts, now.fleet.at
        sample = Sample(
            at=at_s,
            ready=counts.ready,
            delayed=counts.delayed,
            leased=counts.leased,
            workers=len(now.fleet.alive),
        )
        for step, grain_samples in self.samples.items():
            if not grain_samples or grain_samples[-1].at // step < at_s // step:
                grain_samples.append(sample)
        if not self.done_counts or self.done_counts[-1][0] // STEP_S < at_s // STEP_S:
            counts_by_name = {domain.name: domain.done for domain in now.domains[:_MAX_NAMES]}
            counts_by_name |= {
                f"worker/{worker.name}": worker.pages for worker in now.fleet.workers[:_MAX_NAMES]
            }
            self.done_counts.append((at_s, counts_by_name))

    def at_steps(self, times: Sequence[int], step_s: int) -> list[Sample | None]:
        """Return the sample of each step; None: there is none."""
        by_step = {int(sample.at) // step_s * step_s: sample for sample in self.samples[step_s]}
        return [by_step.get(moment) for moment in times]

    def course(self, name: str) -> list[float]:
        """Return the pages a minute of a domain, or of `worker/…`, over the last ten minutes."""
        counts = [
            (at_s, counts_by_name[name])
            for at_s, counts_by_name in self.done_counts
            if name in counts_by_name
        ]
        later = counts[_RATE_SAMPLES:] or counts[1:][-1:]
        pairs = zip(counts, later, strict=False)
        return [60 * max(n - m, 0) / max(b - a, 1) for (a, m), (b, n) in pairs]

"""Samples of the queue, the domains and the workers, because Redis keeps no history of them.

It looks every ten seconds while it runs; a plot has a gap where it did not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import attrs

from scrapy_seine.reads.overview import Overview
from scrapy_seine.records import Value

#: Seconds between two looks.
STEP_S = 10
#: Steps that are kept of each grain: an hour, a day, a week.
_KEPT = {STEP_S: 361, 600: 145, 3600: 169}
#: Looks that a sparkline shows: ten minutes.
_SPARK = 61
#: Looks that a rate is taken over: a worker reports as often as the dashboard looks, so that
#: between two looks there may be two reports or none.
_SMOOTH = 3
#: Domains and workers that are remembered.
_MOST = 200


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
    """Samples by grain, and how much each domain and worker had done."""

    samples: dict[int, deque[Sample]] = attrs.Factory(
        lambda: {step: deque(maxlen=most) for step, most in _KEPT.items()}
    )
    done: deque[tuple[float, Mapping[str, int]]] = attrs.Factory(lambda: deque(maxlen=_SPARK))
    """By moment: pages of each domain and of each worker, whose name is written `worker/…`."""

    def note(self, now: Overview) -> None:
        """Remember a look, unless one was within the same step."""
        counts, at = now.fleet.counts, now.fleet.at
        sample = Sample(
            at=at,
            ready=counts.ready,
            delayed=counts.delayed,
            leased=counts.leased,
            workers=len(now.fleet.alive),
        )
        for step, kept in self.samples.items():
            if not kept or kept[-1].at // step < at // step:
                kept.append(sample)
        if not self.done or self.done[-1][0] // STEP_S < at // STEP_S:
            done = {domain.name: domain.done for domain in now.domains[:_MOST]}
            done |= {f"worker/{one.name}": one.pages for one in now.fleet.workers[:_MOST]}
            self.done.append((at, done))

    def at_steps(self, at: Sequence[int], step_s: int) -> list[Sample | None]:
        """Return the sample of each step, None where nobody looked."""
        kept = {int(sample.at) // step_s * step_s: sample for sample in self.samples[step_s]}
        return [kept.get(moment) for moment in at]

    def course(self, name: str) -> list[float]:
        """Return the pages a minute of a domain, or of `worker/…`, over the last ten minutes."""
        known = [(at, done[name]) for at, done in self.done if name in done]
        later = known[_SMOOTH:] or known[1:][-1:]
        pairs = zip(known, later, strict=False)
        return [60 * max(n - m, 0) / max(b - a, 1) for (a, m), (b, n) in pairs]

"""How far a job is, and when it may be over. Pure."""

from __future__ import annotations

import math

import attrs

from scrapy_seine.attrs_bases import Value

#: Time after which a rate's weight has fallen to about a third, s.
_MEMORY_S = 120.0
#: A job has no end in sight if its total grows by more than this share of what it ends.
_GROWS = 0.5


@attrs.frozen(eq=False, repr=False)
class Pace(Value):
    """A job's speed, as it was when somebody last looked."""

    at_s: float
    """Unix time."""
    total: int
    ended: int
    """Done and failed."""
    rate: float
    """Requests ended per second, smoothed; what happened lately counts most."""
    growth: float
    """Requests that were added per second, smoothed likewise."""


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Estimate(Value):
    """When a job may be over."""

    rate: float
    """Requests ended per second, lately."""
    eta_s: float | None
    """Seconds to the end; None while nothing moves."""
    growing: bool
    """The total still grows about as fast as the job: the end is at least that far away."""


def follow(before: Pace | None, at_s: float, total: int, ended: int, started_s: float) -> Pace:
    """Look again: smooth the speed over the time since the look before, or since the start.

    >>> first = follow(None, 10.0, 100, 50, 0.0)
    >>> first.rate, follow(first, 20.0, 100, 100, 0.0).rate
    (5.0, 5.0)
    """
    if before is None:
        elapsed = at_s - started_s
        return Pace(at_s, total, ended, ended / elapsed if elapsed > 0 else 0.0, 0.0)
    gap = at_s - before.at_s
    if gap <= 0:
        return before
    weight = 1 - math.exp(-gap / _MEMORY_S)

    def smoothed(rate: float, n: int) -> float:
        return rate + weight * (max(0, n) / gap - rate)

    rate = smoothed(before.rate, ended - before.ended)
    return Pace(at_s, total, ended, rate, smoothed(before.growth, total - before.total))


def estimate(pace: Pace) -> Estimate:
    """Say when it may be over, by its present pace.

    >>> estimate(Pace(0.0, 100, 50, 5.0, 0.0))
    Estimate(rate=5.0, eta_s=10.0, growing=False)
    """
    remaining = pace.total - pace.ended
    eta = 0.0 if remaining <= 0 else (remaining / pace.rate if pace.rate > 0 else None)
    growing = remaining > 0 and pace.growth > _GROWS * pace.rate
    return Estimate(rate=pace.rate, eta_s=eta, growing=growing)

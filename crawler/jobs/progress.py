"""How far a job is, and when it may be over. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

#: A job whose total grows by more than this share of what it finishes has no end in sight.
_GROWS = 0.5
_ENOUGH = 2


@attrs.frozen
class Sample:
    """A job's counters at one time."""

    at_s: float
    total: int
    ended: int
    """Done and failed."""


@attrs.frozen(kw_only=True)
class Estimate:
    """When a job may be over."""

    rate: float
    """Requests ended per second, lately."""
    eta_s: float | None
    """Seconds to the end; None while nothing moves."""
    growing: bool
    """The total still grows: the end is at least that far away."""


def simple_eta_s(total: int, done: int, elapsed_s: float) -> float | None:
    """(total − done) / (done / elapsed): the whole run's average; None before anything is done.

    >>> simple_eta_s(100, 25, 10.0)
    30.0
    """
    if done <= 0 or elapsed_s <= 0:
        return None
    return (total - done) / (done / elapsed_s)


def estimate(samples: Sequence[Sample]) -> Estimate:
    """Judge by the samples of the last minutes, oldest first.

    >>> estimate([Sample(0, 100, 0), Sample(10, 100, 50)])
    Estimate(rate=5.0, eta_s=10.0, growing=False)
    """
    if len(samples) < _ENOUGH:
        return Estimate(rate=0.0, eta_s=None, growing=False)
    first, last = samples[0], samples[-1]
    ended, span = last.ended - first.ended, last.at_s - first.at_s
    grown = last.total - first.total
    rate = ended / span if span > 0 else 0.0
    left = last.total - last.ended
    eta = 0.0 if left <= 0 else (left / rate if rate > 0 else None)
    return Estimate(rate=rate, eta_s=eta, growing=left > 0 and grown > _GROWS * max(ended, 1))

"""The ladder's budget (SEINE_LADDER_BUDGET): how much the fleet may spend on dear steps in an hour.

While it is spent, no domain climbs to a dear step, and a domain that is on one is left alone.
"""

from __future__ import annotations

#: A step of this cost and above is paid from the budget; the plain lane's page costs 1.
EXPENSIVE = 10
_HOUR_S = 3600


def is_spent(cost: int, spent: int, budget: int) -> bool:
    """Whether a step of a *cost* may not be used in this hour; a *budget* of 0 is no limit.

    >>> is_spent(40, 1000, 1000), is_spent(1, 1000, 1000), is_spent(40, 1000, 0)
    (True, False, False)
    """
    return bool(budget) and spent >= budget and cost >= EXPENSIVE


def pause_s(cost: int, spent: int, budget: int, *, now_ms: int, longest_s: float) -> float:
    """Return for how long a domain on a step of a *cost* is left alone; 0 while the budget lasts.

    That is the rest of the hour, and *longest_s* at most.

    >>> pause_s(40, 1000, 1000, now_ms=3_300_000, longest_s=600.0)
    300.0
    """
    if not is_spent(cost, spent, budget):
        return 0.0
    return min(longest_s, _HOUR_S - now_ms / 1000 % _HOUR_S)

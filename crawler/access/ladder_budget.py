"""The ladder's budget (SEINE_LADDER_BUDGET): the fleet's cost of expensive steps in an hour.

Once it is spent, no domain climbs to an expensive step, and domains on one are paused.
"""

from __future__ import annotations

#: Steps of this cost and above use the budget; a page of the plain lane costs 1.
EXPENSIVE = 10
_HOUR_S = 3600


def is_spent(cost: int, spent: int, budget: int) -> bool:
    """Whether a step of this *cost* is out of budget in this hour; a *budget* of 0 is no limit.

    >>> is_spent(40, 1000, 1000), is_spent(1, 1000, 1000), is_spent(40, 1000, 0)
    (True, False, False)
    """
    return bool(budget) and spent >= budget and cost >= EXPENSIVE


def pause_s(cost: int, spent: int, budget: int, *, now_ms: int, longest_s: float) -> float:
    """Return how long a domain on a step of this *cost* pauses, in seconds; 0: not out of budget.

    The pause is the rest of the hour, and *longest_s* at most.

    >>> pause_s(40, 1000, 1000, now_ms=3_300_000, longest_s=600.0)
    300.0
    """
    if not is_spent(cost, spent, budget):
        return 0.0
    return min(longest_s, _HOUR_S - now_ms / 1000 % _HOUR_S)

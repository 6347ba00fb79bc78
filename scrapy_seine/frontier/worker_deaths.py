"""How many workers a request may die with before it is tried alone.

`lua/reap.lua` counts a request's deliveries that ended with its worker, and buries it after
SEINE_MAX_DELIVERIES of them.
"""

from __future__ import annotations


def shared_deaths(max_deliveries: int) -> int:
    """After how many deaths of its workers a request is tried alone.

    A worker that is killed from outside dies with everything it holds, and that is no request's
    fault. So deaths that a request shared with others count for half at most; it has to cause the
    rest alone.

    >>> [shared_deaths(most) for most in (1, 2, 5)]
    [1, 1, 3]
    """
    return (max_deliveries + 1) // 2

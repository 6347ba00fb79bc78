"""Detects the end of a crawl in partitions by two looks at all of them."""

from __future__ import annotations

from collections.abc import Sequence

Look = Sequence[tuple[int, int]]
"""Requests undone and requests ever entered, by partition."""


def is_over(first: Look, second: Look) -> bool:
    """Whether nothing is left to do, by two looks of which the second began after the first.

    >>> is_over([(0, 7), (0, 5)], [(0, 7), (0, 5)])
    True
    >>> is_over([(0, 7), (0, 5)], [(0, 8), (0, 5)])  # a request entered, was done, and moved on
    False
    """
    return list(first) == list(second) and not any(undone for undone, _ in second)

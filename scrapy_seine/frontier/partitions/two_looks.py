"""Whether a crawl in partitions is over, judged by two looks at all of them."""

from __future__ import annotations

from collections.abc import Sequence

Look = Sequence[tuple[int, int]]
"""What was undone and what ever came in, by partition."""


def is_over(first: Look, second: Look) -> bool:
    """Whether nothing is left to do, by two looks of which the second began after the first.

    >>> is_over([(0, 7), (0, 5)], [(0, 7), (0, 5)])
    True
    >>> is_over([(0, 7), (0, 5)], [(0, 8), (0, 5)])  # something came in, was done, and went on
    False
    """
    return list(first) == list(second) and not any(undone for undone, _ in second)

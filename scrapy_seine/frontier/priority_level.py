"""A priority as the level by which a domain's queue is sorted; first in, first out within one."""

from __future__ import annotations

#: Scrapy priorities beyond these count as these: a priority has 13 bits of a sorted set's score.
PRIORITY_LIMIT = 4000


def level_of(priority: int) -> int:
    """Turn a Scrapy priority (larger is sooner) into a level (smaller is sooner).

    >>> level_of(0), level_of(10), level_of(-9999)
    (4000, 3990, 8000)
    """
    return PRIORITY_LIMIT - max(-PRIORITY_LIMIT, min(PRIORITY_LIMIT, priority))

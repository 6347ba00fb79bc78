"""Decides by kind of failure whether a failed request is retried, and how long the retry waits.

The wait is an exponential backoff with full jitter: a wait drawn evenly from zero to the bound
keeps many workers that fail together from returning together (Brooker, "Exponential Backoff And
Jitter", AWS, 2015). A worker's death is no failure of its requests (`worker_deaths`).
"""

from __future__ import annotations

import random

import attrs

from scrapy_seine.attrs_bases import Value


@attrs.frozen(eq=False, repr=False)
class Rule(Value):
    """How one kind of failure is retried."""

    retries: int
    """Tries after the first."""
    base_s: float
    """Bound of the first wait, seconds; it doubles with each retry."""
    cap_s: float
    """Bound of any wait, seconds."""


RULES = {
    "connection": Rule(4, 1, 60),
    "timeout": Rule(3, 2, 120),
    "5xx": Rule(4, 2, 120),
    "429": Rule(8, 5, 600),
    "ban": Rule(5, 5, 600),
    "proxy": Rule(1000, 2, 60),
    # This machine or its network: the page waits, and no try is counted.
    "network": Rule(1000, 2, 60),
    "robots": Rule(6, 5, 600),
    "parse": Rule(1, 1, 10),
    "store": Rule(10, 1, 60),
    "redirects": Rule(0, 1, 1),
    "size": Rule(0, 1, 1),
    # An unexpected exception, or a request whose outcome nobody stated.
    "internal": Rule(3, 1, 60),
    # An item pipeline raised.
    "item": Rule(3, 1, 60),
    # A page lacks what each page of its kind has, or was truncated.
    "broken": Rule(3, 2, 120),
    # Parsing took too long: the page is tried once more, as a rule by another worker.
    "unreadable": Rule(1, 2, 10),
    # Its callback closed the spider (CloseSpider). Each try ends one worker, as the spider wants.
    "closed": Rule(3, 30, 600),
    # Another try would request the same address or need the same lane.
    "address": Rule(0, 1, 1),
    "lane": Rule(0, 1, 1),
}
DEFAULT = Rule(3, 1, 60)
#: Failures of a page's callback or of its items: the links that the page had yielded enter when it
#: is given up (I3), as in Scrapy. Links of what may be no page of the site do not.
KEEPS_LINKS = frozenset({"parse", "item", "store", "internal", "unreadable", "closed"})


def decide(
    kind: str,
    retry_count: int,
    *,
    max_retries: int | None = None,
    wait_s: float | None = None,
    draw: float | None = None,
) -> float | None:
    """Seconds to wait before the next try, or None: the request becomes a dead letter.

    *wait_s* (for instance a Retry-After) overrides the rule; *draw* replaces the random number.

    >>> decide("5xx", 0, draw=1.0), decide("5xx", 3, draw=0.5), decide("5xx", 4)
    (2.0, 8.0, None)
    """
    rule = RULES.get(kind, DEFAULT)
    if retry_count >= (rule.retries if max_retries is None else min(rule.retries, max_retries)):
        return None
    if wait_s is not None:
        return wait_s
    return backoff_s(retry_count, rule.base_s, rule.cap_s, draw)


def backoff_s(retry_count: int, base_s: float, cap_s: float, draw: float | None = None) -> float:
    """Seconds to wait after *retry_count* retries; *draw* replaces the random number.

    *base_s* bounds the first wait, and the bound doubles with each retry up to *cap_s*.

    >>> backoff_s(0, 2, 120, draw=1.0), backoff_s(3, 2, 120, 0.5), backoff_s(9, 2, 120, 1.0)
    (2.0, 8.0, 120.0)
    """
    bound = min(cap_s, base_s * 2.0**retry_count)
    return bound * (random.random() if draw is None else draw)

"""Logs that a worker changes the crawl's pause or concurrency, which all workers share."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from scrapy_seine.lenient_parsing import real

logger = logging.getLogger(__name__)
#: Fields of the crawl's control hash, with what each sets, in the order of the values below.
LIMITS = {
    "delay": "ms at least between two requests to a site",
    "cap": "requests to a site at a time",
}


def log_changed_limits(earlier: Sequence[bytes | None], now: Sequence[float]) -> None:
    """Log each limit that an earlier worker of the crawl had set to another value.

    The last worker to start decides, so that a restart with new settings has an effect. Two
    projects that share a crawl's name by mistake learn from this line whose pace is kept.
    """
    for (name, text), old, new in zip(LIMITS.items(), earlier, now, strict=True):
        if old is not None and real(old, new) != new:
            logger.warning(
                "this worker's settings change the crawl's %s from %g to %g %s, for all workers",
                name,
                real(old, new),
                new,
                text,
            )

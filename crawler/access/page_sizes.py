"""How large a site's pages of a kind usually are: learned page by page, shared by the fleet.

A worker keeps what it saw and asks Redis now and then, for all kinds at once: seconds after it met
a new kind, and later as often as it has something to tell. No page waits for that.
"""

from __future__ import annotations

from typing import Any

import attrs
from redis.asyncio import Redis

from crawler.access.shared_state import prefix, run
from scrapy_seine.records import Record

#: How far one page moves the average.
STEP = 0.1
#: Kinds that a process remembers; one that meets more starts anew.
MOST = 10_000
#: Kinds in one call.
BATCH = 200


@attrs.define(eq=False, repr=False)
class Sizes(Record):
    """What one process knows."""

    known: dict[str, float] = attrs.Factory(dict)
    """Usual size by kind of page, bytes; 0: asked for, and not known."""
    fresh: dict[str, tuple[int, float]] = attrs.Factory(dict)
    """Pages since the last exchange, and the sum of their sizes."""
    asked: set[str] = attrs.Factory(set)
    """Kinds that were met and not asked for yet."""

    def usual(self, kind: str) -> float:
        """Usual size of a kind, bytes; 0: not known."""
        found = self.known.get(kind)
        if found is None:
            if len(self.known) >= MOST:
                self.known.clear()
            self.known[kind] = found = 0.0
            self.asked.add(kind)
        return found

    def learn(self, kind: str, size: int) -> None:
        """Take in a good page."""
        old = self.known.get(kind) or float(size)
        self.known[kind] = old + (size - old) * STEP
        count, total = self.fresh.get(kind, (0, 0.0))
        self.fresh[kind] = count + 1, total + size

    async def round_trip(self, redis: Redis, fleet: str) -> None:
        """Tell the fleet what is fresh, and read what it knows.

        Raises:
            RedisError: Redis does not answer; nothing is forgotten.
        """
        kinds = [*self.fresh, *(kind for kind in self.asked if kind not in self.fresh)][:BATCH]
        told = {kind: self.fresh.get(kind, (0, 0.0)) for kind in kinds}
        args: list[Any] = []
        for kind, (count, total) in told.items():
            args += (kind, count, total / count if count else 0)
        sizes = await run(redis, "page_sizes", prefix(fleet) + "size:", 0, STEP, *args)
        for (kind, (count, total)), size in zip(told.items(), sizes, strict=True):
            self.known[kind] = float(size)
            self.asked.discard(kind)
            more, sum_ = self.fresh.pop(kind, (0, 0.0))
            if more > count:  # pages that came meanwhile
                self.fresh[kind] = more - count, sum_ - total

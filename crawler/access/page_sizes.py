"""The usual size of a site's pages by kind, learned page by page and shared by the fleet.

A worker collects sizes and exchanges them with Redis for all kinds at once: seconds after the first
page of a new kind, and later while it has new sizes. No page waits for an exchange.
"""

from __future__ import annotations

from typing import Any

import attrs
from redis.asyncio import Redis

from crawler.access.shared_state import prefix, run
from scrapy_seine.attrs_bases import Record

#: Weight of one page in the moving average.
STEP = 0.1
#: Most kinds that a process stores; with more it drops all of them.
MOST = 10_000
#: Most kinds in one call.
BATCH = 200


@attrs.define(eq=False, repr=False)
class Sizes(Record):
    """The page sizes of one process."""

    usual_by_kind: dict[str, float] = attrs.Factory(dict)
    """Usual size by kind of page, bytes; 0: unknown."""
    new_by_kind: dict[str, tuple[int, float]] = attrs.Factory(dict)
    """Number and total size of the pages since the last exchange, by kind."""
    new_kinds: set[str] = attrs.Factory(set)
    """New kinds whose size the next exchange asks Redis for."""

    def usual(self, kind: str) -> float:
        """Return the usual size of a kind, bytes; 0: unknown."""
        size = self.usual_by_kind.get(kind)
        if size is None:
            if len(self.usual_by_kind) >= MOST:
                self.usual_by_kind.clear()
            self.usual_by_kind[kind] = size = 0.0
            self.new_kinds.add(kind)
        return size

    def learn(self, kind: str, size: int) -> None:
        """Add the size of a good page."""
        usual_size = self.usual_by_kind.get(kind) or float(size)
        self.usual_by_kind[kind] = usual_size + (size - usual_size) * STEP
        count, total = self.new_by_kind.get(kind, (0, 0.0))
        self.new_by_kind[kind] = count + 1, total + size

    async def round_trip(self, redis: Redis, fleet: str) -> None:
        """Send the new sizes to the fleet, and read the fleet's.

        Raises:
            RedisError: Redis does not answer; the new sizes are kept.
        """
        kinds = [
            *self.new_by_kind,
            *(kind for kind in self.new_kinds if kind not in self.new_by_kind),
        ][:BATCH]
        reported = {kind: self.new_by_kind.get(kind, (0, 0.0)) for kind in kinds}
        args: list[Any] = []
        for kind, (count, total) in reported.items():
            args += (kind, count, total / count if count else 0)
        sizes = await run(redis, "page_sizes", prefix(fleet) + "size:", 0, STEP, *args)
        for (kind, (count, total)), size in zip(reported.items(), sizes, strict=True):
            self.usual_by_kind[kind] = float(size)
            self.new_kinds.discard(kind)
            new_count, new_total = self.new_by_kind.pop(kind, (0, 0.0))
            if new_count > count:  # pages that came during the call
                self.new_by_kind[kind] = new_count - count, new_total - total

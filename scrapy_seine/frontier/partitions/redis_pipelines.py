"""A worker's connections to the partitions of a crawl: one round trip goes to all at once.

Each keeps its own server's clock, is asked for its share of the leases, and fails alone: endings
that it did not get go back to the exchange.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.model import Lease, Leased
from scrapy_seine.frontier.one_partition import Part
from scrapy_seine.frontier.partitions.two_looks import Look, is_over
from scrapy_seine.frontier.round_trips.endings import Call, Endings
from scrapy_seine.frontier.round_trips.redis_pipeline import Answer, LeaseRequest, Lines
from scrapy_seine.frontier.round_trips.server_clock import ServerClock
from scrapy_seine.frontier.which_partition import part_of_id


class PartitionedLines(Lines):
    """The connections to all partitions of one frontier."""

    def __init__(self, keys: Keys, parts: Sequence[Part], lease_request: LeaseRequest) -> None:
        super().__init__(parts, lease_request)
        self._keys = keys
        self._last_look: Look = []

    def clock(self, id_: str) -> ServerClock:
        """Clock of the server that holds a request."""
        return self.lines[part_of_id(id_)].clock

    async def round_trip(
        self,
        outgoing: Endings,
        lease_limit: int,
        slack_ms: int = 0,
        *,
        is_only_worker: bool = False,
    ) -> list[Answer]:
        """Make one round trip to each partition, all at once.

        Leases are requested first, also by an only worker, because a page's links go through the
        outbox.
        """
        shares = shares_of(lease_limit, [line.starved for line in self.lines])
        loads = outgoing.by_partition(self._keys)
        rows = zip(self.lines, loads, shares, strict=True)
        return await asyncio.gather(
            *(
                line.round_trip(load, share, self.lease_request, slack_ms)
                for line, load, share in rows
            )
        )

    def in_order(self, replies: Sequence[Leased]) -> list[Lease]:
        """Return the leases, best priority class first."""
        return sorted(super().in_order(replies), key=lambda lease: lease.level)

    def undone(self, replies: Sequence[Leased]) -> int | None:
        """Return how many requests are undone; 0 only if two successive looks agree, else None."""
        undone = super().undone(replies)
        look = [(reply.undone, reply.entered) for reply in replies]
        last_look, self._last_look = self._last_look, look if undone == 0 else []
        return None if undone == 0 and not is_over(last_look, look) else undone

    def forget(self) -> None:
        """Discard the last look."""
        self._last_look = []

    def leaves_links(self, call: Call) -> bool:
        """Whether links to other partitions are in an outbox now."""
        return call.name == "commit_out" and any(page.children for page in call.about)


def shares_of(lease_limit: int, starved: Sequence[bool]) -> list[int]:
    """Return how many requests to ask each partition for, so that about *lease_limit* come.

    Partitions that had enough last time are asked for all of them; the others for their share if
    all had enough. At most twice as many come as are wanted.

    >>> shares_of(32, [False, False]), shares_of(32, [True, False]), shares_of(0, [True, False])
    ([16, 16], [16, 32], [0, 0])
    """
    full_count = starved.count(False) or len(starved)
    equal = -(-lease_limit // len(starved))
    return [equal if is_starved else -(-lease_limit // full_count) for is_starved in starved]

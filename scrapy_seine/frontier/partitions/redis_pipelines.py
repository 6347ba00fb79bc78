"""A worker's lines to the partitions of a crawl: one round trip to all of them at a time.

Each keeps its own server's clock, is asked for its share of what is wanted, and fails alone: what
it was to be told goes back to the exchange.
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
    """The ways to all partitions of one frontier."""

    def __init__(self, keys: Keys, parts: Sequence[Part], lease_request: LeaseRequest) -> None:
        super().__init__(parts, lease_request)
        self._keys = keys
        self._last: Look = []

    def clock(self, id_: str) -> ServerClock:
        """Clock of the server that has a request."""
        return self.lines[part_of_id(id_)].clock

    async def round_trip(
        self, outgoing: Endings, wanted: int, slack_ms: int = 0, *, alone: bool = False
    ) -> list[Answer]:
        """Make one round trip to each partition, all at once.

        Leases are asked for first, *alone* or not, because a page's links come by the outbox.
        """
        shares = shares_of(wanted, [line.starved for line in self.lines])
        loads = outgoing.split(self._keys)
        rows = zip(self.lines, loads, shares, strict=True)
        return await asyncio.gather(
            *(
                line.round_trip(load, share, self.lease_request, slack_ms)
                for line, load, share in rows
            )
        )

    def in_order(self, replies: Sequence[Leased]) -> list[Lease]:
        """Return what was leased, best priority class first."""
        return sorted(super().in_order(replies), key=lambda lease: lease.level)

    def undone(self, replies: Sequence[Leased]) -> int | None:
        """Say how much is left; nothing only where two looks, one after the other, agree."""
        left = super().undone(replies)
        look = [(reply.undone, reply.entered) for reply in replies]
        last, self._last = self._last, look if left == 0 else []
        return None if left == 0 and not is_over(last, look) else left

    def forget(self) -> None:
        """Begin to look anew."""
        self._last = []

    def leaves_links(self, made: Call) -> bool:
        """Whether links to other partitions are in an outbox now."""
        return made.name == "commit_out" and any(page.children for page in made.about)


def shares_of(wanted: int, starved: Sequence[bool]) -> list[int]:
    """How many requests to ask each partition for, so that about *wanted* come.

    Those that had enough last time are asked for all of it; the others for what would be theirs if
    they had as much again. At most twice as many come as are wanted.

    >>> shares_of(32, [False, False]), shares_of(32, [True, False]), shares_of(0, [True, False])
    ([16, 16], [16, 32], [0, 0])
    """
    full = starved.count(False) or len(starved)
    equal = -(-wanted // len(starved))
    return [equal if empty else -(-wanted // full) for empty in starved]

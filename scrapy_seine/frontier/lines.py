"""A worker's lines to the partitions of its frontier: one round trip to all of them at a time.

A crawl that is not split has one line. With several, each keeps its own server's clock, is asked
for its share of what is wanted, and fails alone: what it was to be told goes back to the exchange.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import monotonic
from typing import Any

import attrs
from redis.exceptions import NoScriptError, RedisError, ResponseError

from scrapy_seine.frontier.endings import Call, Endings
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import part_of
from scrapy_seine.frontier.model import Leased
from scrapy_seine.frontier.server_clock import ServerClock
from scrapy_seine.frontier.state import new_token
from scrapy_seine.frontier.wire import parse_leased, script
from scrapy_seine.scripts import call


@attrs.frozen(kw_only=True)
class LeaseRequest:
    """What a worker asks a partition for."""

    worker: str
    ttl_ms: int
    lead_ms: int
    lanes: str


@attrs.define(kw_only=True)
class Answer:
    """What came of one line's round trip."""

    line: Line
    sent: Endings
    wanted: int
    leased: Leased | None = None
    got_at: float = 0.0
    """When it came, monotonic s."""
    ended: list[tuple[Call, Any]] = attrs.Factory(list)
    failed: list[Call] = attrs.Factory(list)
    """Calls that were not done, as far as is known here."""
    error: Exception | None = None
    """Why the first of them was not."""


@attrs.define(eq=False)
class Line:
    """The way to one partition."""

    part: Frontier
    clock: ServerClock = attrs.Factory(ServerClock)
    starved: bool = False
    """It had less than it was asked for."""

    async def round_trip(
        self, outgoing: Endings, wanted: int, lease_request: LeaseRequest, slack_ms: int = 0
    ) -> Answer:
        """Tell and ask in one pipeline; what fails is in the answer, and fails alone."""
        answer = Answer(line=self, sent=outgoing, wanted=wanted)
        calls = [*outgoing.limits, *outgoing.calls(self.part.commit_call)]
        if wanted:
            # Leases are asked for first: a slot that this worker frees now is anybody's. Only
            # what a site wishes goes ahead of them.
            args = [
                lease_request.worker,
                wanted,
                lease_request.ttl_ms,
                lease_request.lead_ms,
                lease_request.lanes,
                slack_ms,
                new_token(),
            ]
            calls.insert(len(outgoing.limits), Call("lease", args, []))
        if not calls:
            return answer
        watch = self.part.watch
        before, stamp = watch.before, watch.stamp(self.part.now_ms)
        replies = await self._send(calls, stamp)
        answer.got_at = monotonic()
        for made, reply in zip(calls, replies, strict=True):
            if isinstance(reply, Exception):
                answer.error = answer.error or reply
                if made.name != "lease":
                    answer.failed.append(made)
            elif made.name == "lease":
                answer.leased = parse_leased(reply, slack_ms)
                watch.saw(before, answer.leased.state_shown)
                self.starved = len(answer.leased.leases) < wanted
            else:
                answer.ended.append((made, reply))
                if made.name == "push":
                    watch.entered(before, len(made.about))
        return answer

    async def _send(self, calls: Sequence[Call], stamp: str) -> list[Any]:
        """Return the reply of each call, or why there is none."""
        prefix = self.part.keys.prefix
        pipe = self.part.redis.pipeline(transaction=False)
        for made in calls:
            # By its name: a Cluster pipeline refuses the method, though all is in one slot.
            pipe.execute_command("EVALSHA", script(made.name).sha, 1, prefix, stamp, *made.args)
        try:
            replies = list(await pipe.execute(raise_on_error=False))
        except (RedisError, OSError) as error:
            return [error] * len(calls)
        for i, reply in enumerate(replies):
            if isinstance(reply, NoScriptError):  # the server restarted: it knows no script yet
                replies[i] = await self._teach(calls[i], stamp)
            if isinstance(replies[i], ResponseError):
                replies[i] = self.part.watch.judged(replies[i])
        return replies

    async def _teach(self, made: Call, stamp: str) -> Any:
        try:
            return await call(
                self.part.redis, script(made.name), [self.part.keys.prefix], [stamp, *made.args]
            )
        except (RedisError, OSError) as error:
            return error


class Lines:
    """The ways to all partitions of one frontier."""

    def __init__(self, frontier: Frontier, lease_request: LeaseRequest) -> None:
        self.frontier = frontier
        self.lease_request = lease_request
        self._lines = [Line(part) for part in frontier.parts]

    def __len__(self) -> int:
        return len(self._lines)

    def clock(self, id_: str) -> ServerClock:
        """Clock of the server that has a request."""
        lines = self._lines
        return lines[0 if len(lines) == 1 else part_of(id_)].clock

    async def round_trip(self, outgoing: Endings, wanted: int, slack_ms: int = 0) -> list[Answer]:
        """Make one round trip to each partition, all at once.

        The pauses after what is leased have room for *slack_ms* of lateness beyond the usual.
        """
        if len(self._lines) == 1:
            return [await self._lines[0].round_trip(outgoing, wanted, self.lease_request, slack_ms)]
        shares = shares_of(wanted, [line.starved for line in self._lines])
        loads = outgoing.split(self.frontier)
        rows = zip(self._lines, loads, shares, strict=True)
        return await asyncio.gather(
            *(
                line.round_trip(load, share, self.lease_request, slack_ms)
                for line, load, share in rows
            )
        )


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

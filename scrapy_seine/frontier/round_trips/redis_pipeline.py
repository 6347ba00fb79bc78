"""A worker's line to its frontier: what it sends and asks leaves in one pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Any

import attrs
from redis.exceptions import NoScriptError, RedisError, ResponseError

from scrapy_seine.frontier.encoding.wire import parse_leased, script
from scrapy_seine.frontier.lost_state import ASKS, Known, new_token
from scrapy_seine.frontier.model import Lease, Leased
from scrapy_seine.frontier.one_partition import Part
from scrapy_seine.frontier.round_trips.endings import Call, Endings
from scrapy_seine.frontier.round_trips.server_clock import ServerClock
from scrapy_seine.lua_scripts import call
from scrapy_seine.records import Record, Value


@attrs.frozen(kw_only=True, eq=False, repr=False)
class LeaseRequest(Value):
    """What a worker asks a partition for."""

    worker: str
    ttl_ms: int
    lead_ms: int
    lanes: str


@attrs.define(kw_only=True, eq=False, repr=False)
class Answer(Record):
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


@attrs.define(eq=False, repr=False)
class Line:
    """The way to one server."""

    part: Part
    clock: ServerClock = attrs.Factory(ServerClock)
    starved: bool = False
    """It had less than it was asked for."""

    async def round_trip(
        self,
        outgoing: Endings,
        wanted: int,
        lease_request: LeaseRequest,
        slack_ms: int = 0,
        *,
        alone: bool = False,
    ) -> Answer:
        """Tell and ask in one pipeline; what fails is in the answer, and fails alone."""
        answer = Answer(line=self, sent=outgoing, wanted=wanted)
        await self.part.dictionaries.look()
        calls = [*outgoing.limits, *outgoing.calls(self.part.commit_call, self.part.packer)]
        if wanted:
            # Leases are asked for first: a slot that this worker frees now is anybody's. Only
            # what a site wishes goes ahead of them. A worker that is alone asks last: what its
            # pages yield and the slots that they free are its own, and need no second trip.
            args = [
                lease_request.worker,
                wanted,
                lease_request.ttl_ms,
                lease_request.lead_ms,
                lease_request.lanes,
                slack_ms,
                new_token(),
            ]
            at = len(calls) if alone else len(outgoing.limits)
            calls.insert(at, Call("lease", args, []))
        if not calls:
            return answer
        watch = self.part.watch
        before = watch.before
        stamp = watch.stamp(self.part.now_ms, asks=alone and wanted > 0)
        replies = await self._send(calls, stamp, in_full=len(outgoing.limits))
        answer.got_at = monotonic()
        for made, reply in zip(calls, replies, strict=True):
            if isinstance(reply, Exception):
                answer.error = answer.error or reply
                if made.name != "lease":
                    answer.failed.append(made)
            elif made.name == "lease":
                await self._take(answer, parse_leased(reply, slack_ms), before)
            else:
                answer.ended.append((made, reply))
                if made.name == "push":
                    watch.entered(before, len(made.about))
        return answer

    async def _take(self, answer: Answer, leased: Leased, before: Known | None) -> None:
        """Read what was leased; where its dictionary cannot be asked for, it is not taken."""
        self.part.watch.saw(before, leased.state_shown)
        self.starved = len(leased.leases) < answer.wanted
        try:
            answer.leased = await self.part.dictionaries.unpacked(leased)
        except (RedisError, OSError) as error:
            answer.error = answer.error or error

    async def _send(self, calls: Sequence[Call], stamp: str, in_full: int) -> list[Any]:
        """Return the reply of each call, or why there is none.

        The first *in_full* carry their whole script. A server that does not know a script by its
        hash is taught it after the pipeline, and a block would come after the leases that it is to
        hold back (I5).
        """
        prefix = self.part.keys.prefix
        pipe = self.part.redis.pipeline(transaction=False)
        for at, made in enumerate(calls):
            lua = script(made.name)
            said = ("EVAL", lua.source) if at < in_full else ("EVALSHA", lua.sha)
            # By its name: a Cluster pipeline refuses the method, though all is in one slot.
            pipe.execute_command(*said, 1, prefix, stamp, *made.args)
        try:
            replies = list(await pipe.execute(raise_on_error=False))
        except (RedisError, OSError) as error:
            return [error] * len(calls)
        for i, reply in enumerate(replies):
            if isinstance(reply, NoScriptError):  # the server restarted: it knows no script yet
                # It runs after the question for leases, so that a wake-up is needed.
                replies[i] = await self._teach(calls[i], stamp.removesuffix(ASKS))
            if isinstance(replies[i], ResponseError):
                replies[i] = self.part.judged(replies[i])
        return replies

    async def _teach(self, made: Call, stamp: str) -> Any:
        try:
            return await call(
                self.part.redis, script(made.name), [self.part.keys.prefix], [stamp, *made.args]
            )
        except (RedisError, OSError) as error:
            return error


class Lines:
    """A worker's way to its frontier; `partitions.redis_pipelines` has those to partitions."""

    def __init__(self, parts: Sequence[Part], lease_request: LeaseRequest) -> None:
        self.lease_request = lease_request
        self.lines = [Line(part) for part in parts]

    def __len__(self) -> int:
        return len(self.lines)

    def clock(self, id_: str) -> ServerClock:
        """Clock of the server that has a request."""
        return self.lines[0].clock

    async def round_trip(
        self, outgoing: Endings, wanted: int, slack_ms: int = 0, *, alone: bool = False
    ) -> list[Answer]:
        """Make one round trip; *alone*: no other worker of the crawl is known.

        The pauses after what is leased have room for *slack_ms* of lateness beyond the usual.
        """
        line, asked = self.lines[0], self.lease_request
        return [await line.round_trip(outgoing, wanted, asked, slack_ms, alone=alone)]

    def in_order(self, replies: Sequence[Leased]) -> list[Lease]:
        """Return what was leased, in the order in which it is to be sent."""
        return [lease for reply in replies for lease in reply.leases]

    def undone(self, replies: Sequence[Leased]) -> int | None:
        """Say how much is left, by the replies of one round trip; None: it is not certain."""
        return sum(reply.undone for reply in replies)

    def forget(self) -> None:
        """Forget what earlier replies said of the crawl."""

    def leaves_links(self, made: Call) -> bool:
        """Whether an end of pages leaves links to be brought elsewhere."""
        return False

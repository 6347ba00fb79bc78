"""A worker's connection to its frontier: endings and lease requests go in one pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Any

import attrs
from redis.exceptions import NoScriptError, RedisError, ResponseError

from scrapy_seine.attrs_bases import Record, Value
from scrapy_seine.frontier.encoding.wire import parse_leased, script
from scrapy_seine.frontier.lost_state import ASKS, KnownState, new_token
from scrapy_seine.frontier.model import Lease, Leased
from scrapy_seine.frontier.one_partition import Part
from scrapy_seine.frontier.round_trips.endings import Call, Endings
from scrapy_seine.frontier.round_trips.server_clock import ServerClock
from scrapy_seine.lua_scripts import call, keys_below


@attrs.frozen(kw_only=True, eq=False, repr=False)
class LeaseRequest(Value):
    """Arguments with which a worker asks a partition for leases."""

    worker: str
    ttl_ms: int
    lead_ms: int
    lanes: str


@attrs.define(kw_only=True, eq=False, repr=False)
class Answer(Record):
    """Result of one connection's round trip."""

    line: Line
    endings: Endings
    lease_limit: int
    leased: Leased | None = None
    got_at: float = 0.0
    """When the reply arrived, monotonic s."""
    replies: list[tuple[Call, Any]] = attrs.Factory(list)
    failed_calls: list[Call] = attrs.Factory(list)
    """Calls that failed, as far as is known here."""
    error: Exception | None = None
    """Why the first of them failed."""


@attrs.define(eq=False, repr=False)
class Line:
    """The connection to one server."""

    part: Part
    clock: ServerClock = attrs.Factory(ServerClock)
    starved: bool = False
    """It returned fewer leases than were requested."""
    _reported_step_ms: float = 0.0
    """The clock's last step that the server was told of."""

    async def round_trip(
        self,
        outgoing: Endings,
        lease_limit: int,
        lease_request: LeaseRequest,
        slack_ms: int = 0,
        *,
        is_only_worker: bool = False,
    ) -> Answer:
        """Send endings and request leases in one pipeline; a call that fails is in the answer."""
        answer = Answer(line=self, endings=outgoing, lease_limit=lease_limit)
        await self.part.dictionaries.agree_if_due()
        calls = [*outgoing.limits, *outgoing.calls(self.part.commit_call, self.part.packer)]
        if lease_limit:
            # Leases are requested before endings, because any worker may use a slot that this one
            # frees; only limits of sites go first. A worker that is alone requests them last,
            # because its pages' links and the slots it frees are its own: it saves a second trip.
            stepped_ms = self.clock.stepped_ms
            args = [
                lease_request.worker,
                lease_limit,
                lease_request.ttl_ms,
                lease_request.lead_ms,
                lease_request.lanes,
                slack_ms,
                new_token(),
                int(stepped_ms not in {0.0, self._reported_step_ms}),
            ]
            position = len(calls) if is_only_worker else len(outgoing.limits)
            calls.insert(position, Call("lease", args, []))
        if not calls:
            return answer
        watch = self.part.watch
        before = watch.before
        stamp = watch.stamp(self.part.now_ms, asks=is_only_worker and lease_limit > 0)
        replies = await self._send(calls, stamp, in_full=len(outgoing.limits))
        answer.got_at = monotonic()
        for script_call, reply in zip(calls, replies, strict=True):
            if isinstance(reply, Exception):
                answer.error = answer.error or reply
                if script_call.name != "lease":
                    answer.failed_calls.append(script_call)
            elif script_call.name == "lease":
                self._reported_step_ms = stepped_ms
                await self._take(answer, parse_leased(reply, slack_ms), before)
            else:
                answer.replies.append((script_call, reply))
                if script_call.name == "push":
                    watch.learn_push(before, len(script_call.about))
        return answer

    async def _take(self, answer: Answer, leased: Leased, before: KnownState | None) -> None:
        """Unpack the leases; they are not taken if a dictionary cannot be read."""
        self.part.watch.learn_lease_reply(before, leased.state_text)
        self.starved = len(leased.leases) < answer.lease_limit
        try:
            answer.leased = await self.part.dictionaries.unpack_leases(leased)
        except (RedisError, OSError) as error:
            answer.error = answer.error or error

    async def _send(self, calls: Sequence[Call], stamp: str, in_full: int) -> list[Any]:
        """Return the reply of each call, or the error that replaced it.

        The first *in_full* carry their whole script. A script that the server does not know by its
        hash is loaded after the pipeline, and then a block would come after the leases that it has
        to hold back (I5).
        """
        keys = keys_below(self.part.keys.prefix)
        pipe = self.part.redis.pipeline(transaction=False)
        for index, script_call in enumerate(calls):
            lua = script(script_call.name)
            command = ("EVAL", lua.source) if index < in_full else ("EVALSHA", lua.sha)
            # By command name: a Cluster pipeline refuses the method, though all keys are in one
            # slot.
            pipe.execute_command(*command, len(keys), *keys, stamp, *script_call.args)
        try:
            replies = list(await pipe.execute(raise_on_error=False))
        except (RedisError, OSError) as error:
            return [error] * len(calls)
        for i, reply in enumerate(replies):
            if isinstance(reply, NoScriptError):  # the server restarted and has no script yet
                # It runs after the leases were requested, so that a wake-up is needed.
                replies[i] = await self._load_and_run(calls[i], stamp.removesuffix(ASKS))
            if isinstance(replies[i], ResponseError):
                replies[i] = self.part.translate_error(replies[i])
        return replies

    async def _load_and_run(self, script_call: Call, stamp: str) -> Any:
        try:
            return await call(
                self.part.redis,
                script(script_call.name),
                keys_below(self.part.keys.prefix),
                [stamp, *script_call.args],
            )
        except (RedisError, OSError) as error:
            return error


class Lines:
    """A worker's connection to its frontier; see `partitions.redis_pipelines` for several."""

    def __init__(self, parts: Sequence[Part], lease_request: LeaseRequest) -> None:
        self.lease_request = lease_request
        self.lines = [Line(part) for part in parts]

    def __len__(self) -> int:
        return len(self.lines)

    def clock(self, id_: str) -> ServerClock:
        """Clock of the server that holds a request."""
        return self.lines[0].clock

    async def round_trip(
        self,
        outgoing: Endings,
        lease_limit: int,
        slack_ms: int = 0,
        *,
        is_only_worker: bool = False,
    ) -> list[Answer]:
        """Make one round trip; *is_only_worker*: no other worker of the crawl is known.

        The pauses after the leases allow *slack_ms* of lateness beyond the usual margin.
        """
        line, lease_request = self.lines[0], self.lease_request
        return [
            await line.round_trip(
                outgoing, lease_limit, lease_request, slack_ms, is_only_worker=is_only_worker
            )
        ]

    def in_order(self, replies: Sequence[Leased]) -> list[Lease]:
        """Return the leases, in the order in which they are to be sent."""
        return [lease for reply in replies for lease in reply.leases]

    def undone(self, replies: Sequence[Leased]) -> int | None:
        """Return how many requests are undone, by one round trip's replies; None: not certain."""
        return sum(reply.undone for reply in replies)

    def forget(self) -> None:
        """Discard what earlier replies reported of the crawl."""

    def leaves_links(self, call: Call) -> bool:
        """Whether committed pages left links that have to be moved to other partitions."""
        return False

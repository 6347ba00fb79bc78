"""Detects that Redis has another state of the crawl than this process remembers (I12).

A crawl has a random id, a number of times that it fell back (`turn`), and a sequence that only
grows. A process that joins the crawl remembers all three and sends them with each script call.
Redis may have lost the crawl meanwhile (FLUSHALL, a new server), or have fallen back to an older
state (failover to a replica that was behind, restore of a copy). The script then changes nothing
and returns an error: `lua/_state.lua` compares before anything else, so that a reply of another
state is never taken for one of this crawl.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

import attrs
from redis.exceptions import RedisError, ResponseError

from scrapy_seine.attrs_bases import Record
from scrapy_seine.errors import FrontierError

_ROLLED_BACK = re.compile(r"ROLLEDBACK (\d+) (\d+)")


class StateError(FrontierError, RedisError):
    """Redis has another state of the crawl than this process began with.

    Code that waits out an outage treats it as one: nothing was done, and held work is kept.
    """


class StateLost(StateError):
    """Redis has lost the crawl's state; see docs/runbooks/state-lost.md."""


class StateRolledBack(StateError):
    """Redis fell back to an older state of the crawl; what it forgot is done again."""


#: End of a stamp whose caller asks for leases next.
ASKS = " asks"


def new_id() -> str:
    """Make an identity for a crawl."""
    return os.urandom(8).hex()


def new_token() -> str:
    """Make the random part of the tokens of one lease call: digits, as older versions read them."""
    return str(int.from_bytes(os.urandom(7)))


@attrs.define(eq=False, repr=False)
class KnownState(Record):
    """The state of one crawl, or one partition, that the last replies showed."""

    id: str
    turn: int = 0
    seq: int = 0
    """A lower bound of the sequence, which never falls."""
    name: str = attrs.field(factory=new_token)
    calls: int = 0
    """Calls of this process that Redis counts under its name: so it notices a rollback that a
    process which joined later cannot notice."""

    @classmethod
    def parse(cls, text: str) -> KnownState:
        """Read `id turn seq`."""
        id_, turn, seq = text.rsplit(" ", 2)
        return cls(id_, int(turn), int(seq))

    def learn_reply(self, before: KnownState, seq: int) -> bool:
        """Learn from the reply to a counted call; False if the call was made to another state."""
        if (before.id, before.turn) != (self.id, self.turn):
            return False
        self.seq = max(self.seq, seq)
        self.calls = max(self.calls, before.calls + 1)
        return True

    def roll_back(self, turn: int, seq: int) -> bool:
        """Go on from the state that Redis fell back to; False if that is known already."""
        if turn <= self.turn:
            return False
        self.turn, self.seq, self.calls = turn, seq, 0
        return True

    def __str__(self) -> str:
        return f"{self.id} {self.turn} {self.seq} {self.name} {self.calls}"


@attrs.define(eq=False, repr=False)
class Watch:
    """Sends the remembered state with each call, and checks what replies show of it."""

    known: KnownState | None = None
    """None: any state is accepted."""
    changed: Callable[[StateError], None] = lambda error: None
    """Called once for each state that is not the remembered one."""

    def stamp(self, now_ms: int, *, asks: bool = False) -> str:
        """First argument of each script: the time to use, and the remembered state.

        *asks*: this is the only worker, and asks for leases in the same pipeline.
        """
        if self.known is None:
            return str(now_ms)
        return f"{now_ms} {self.known}{ASKS if asks else ''}"

    @property
    def before(self) -> KnownState | None:
        """The state remembered when a call is made; its reply may arrive after others."""
        return None if self.known is None else attrs.evolve(self.known)

    def translate(self, error: Exception) -> Exception:
        """Translate an error reply; a change of the crawl's state is passed to `changed`."""
        change = read_error(error)
        if change is None or self.known is None:
            return error
        if isinstance(change, StateLost):
            self.changed(change)
            return change
        rollback = StateRolledBack()
        if self.known.roll_back(*change):
            self.changed(rollback)
        return rollback

    def learn_lease_reply(self, before: KnownState | None, state_text: str) -> None:
        """Learn from a lease's reply how far the crawl is."""
        if before is not None and self.known is not None and state_text:
            self.known.learn_reply(before, KnownState.parse(state_text).seq)

    def learn_sequence(self, before: KnownState | None, seq: int) -> bool:
        """Learn from a reply that contains the sequence itself.

        Returns False if the remembered state is not the one that the call was made to.
        """
        return before is not None and self.known is not None and self.known.learn_reply(before, seq)

    def learn_push(self, before: KnownState | None, pushed: int) -> None:
        """Learn from a push's reply: it used *pushed* numbers of the sequence."""
        if before is not None and self.known is not None:
            self.known.learn_reply(before, before.seq + pushed)


def read_error(error: Exception) -> StateLost | tuple[int, int] | None:
    """Read the state in an error reply: lost, or the turn and sequence it fell back to.

    >>> read_error(ResponseError("ROLLEDBACK 2 1048999"))
    (2, 1048999)
    >>> read_error(ResponseError("wrong number of arguments")) is None
    True
    """
    if not isinstance(error, ResponseError):
        return None
    text = str(error)
    if "STATELOST " in text:
        return StateLost(f"Redis has lost the crawl's state: {_detail(text)}")
    match = _ROLLED_BACK.search(text)
    return (int(match[1]), int(match[2])) if match else None


def _detail(text: str) -> str:
    words = text.partition("STATELOST ")[2]
    if words.startswith("-"):
        return "it has no crawl of this name"
    return words if " " in words else "another crawl of this name was begun there"

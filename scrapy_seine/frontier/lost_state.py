"""A lost state is noticed: Redis has another one than a process remembers of the crawl (I12).

A crawl has a random id, a number of times that it fell back (`turn`), and a sequence that only
grows. Whoever joins it remembers all three and names them with each script call. Redis may have
lost the crawl meanwhile (FLUSHALL, a new server), or have fallen back to an older state of it
(failover to a replica that was behind, restore of a copy). The script then does nothing and says
so: `lua/_state.lua` compares before anything else, so that no reply of another state is ever taken
for one of this crawl.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

import attrs
from redis.exceptions import RedisError, ResponseError

from scrapy_seine.errors import FrontierError
from scrapy_seine.records import Record

_ROLLED_BACK = re.compile(r"ROLLEDBACK (\d+) (\d+)")


class StateError(FrontierError, RedisError):
    """Redis has another state of the crawl than this process began with.

    To those who wait out an outage it is one: nothing was done, and what they hold is kept.
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
class Known(Record):
    """The last that replies showed of one crawl's, or one partition's, state."""

    id: str
    turn: int = 0
    seq: int = 0
    """A lower bound of the sequence, which never falls."""
    name: str = attrs.field(factory=new_token)
    calls: int = 0
    """Calls of this process that are counted there under its name: so it notices a fall of which a
    process that joined after it knows nothing."""

    @classmethod
    def read(cls, shown: str) -> Known:
        """Read `id turn seq`."""
        id_, turn, seq = shown.rsplit(" ", 2)
        return cls(id_, int(turn), int(seq))

    def see(self, before: Known, seq: int) -> None:
        """Learn from the reply to a counted call; one from before a fall says nothing."""
        if before.turn == self.turn:
            self.seq = max(self.seq, seq)
            self.calls = max(self.calls, before.calls + 1)

    def fall(self, turn: int, seq: int) -> bool:
        """Go on from the state that Redis fell back to; False where that is known already."""
        if turn <= self.turn:
            return False
        self.turn, self.seq, self.calls = turn, seq, 0
        return True

    def __str__(self) -> str:
        return f"{self.id} {self.turn} {self.seq} {self.name} {self.calls}"


@attrs.define(eq=False, repr=False)
class Watch:
    """Names the state that is remembered with each call, and reads what replies say of it."""

    known: Known | None = None
    """None: any state will do."""
    changed: Callable[[StateError], None] = lambda error: None
    """Told once of each state that is not the one that is remembered."""

    def stamp(self, now_ms: int, *, asks: bool = False) -> str:
        """First argument of each script: the time to take, and the state that is remembered.

        *asks*: its caller is the only worker, and asks for leases by the same pipeline.
        """
        if self.known is None:
            return str(now_ms)
        return f"{now_ms} {self.known}{ASKS if asks else ''}"

    @property
    def before(self) -> Known | None:
        """What is remembered when a call is made; its reply may come after others."""
        return None if self.known is None else attrs.evolve(self.known)

    def judged(self, error: Exception) -> Exception:
        """Return what an error reply means; a change of the crawl's state is passed on."""
        found = read_error(error)
        if found is None or self.known is None:
            return error
        if isinstance(found, StateLost):
            self.changed(found)
            return found
        told = StateRolledBack()
        if self.known.fall(*found):
            self.changed(told)
        return told

    def saw(self, before: Known | None, shown: str) -> None:
        """Learn from a lease's reply how far the crawl is."""
        if before is not None and self.known is not None and shown:
            self.known.see(before, Known.read(shown).seq)

    def reached(self, before: Known | None, seq: int) -> bool:
        """Learn from the reply to a call that showed the sequence itself.

        Returns False where the state that is remembered is not the one that the call was made to.
        """
        known = self.known
        if before is None or known is None or (before.id, before.turn) != (known.id, known.turn):
            return False
        known.see(before, seq)
        return True

    def entered(self, before: Known | None, pushed: int) -> None:
        """Learn from a push's reply: as many numbers were given out since the call was made."""
        if before is not None and self.known is not None:
            self.known.see(before, before.seq + pushed)


def read_error(error: Exception) -> StateLost | tuple[int, int] | None:
    """Tell what an error reply says of the state: lost, or the turn and sequence it fell back to.

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

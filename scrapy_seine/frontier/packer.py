"""Which dictionary the requests of one partition are packed with, and which ones are known.

A worker looks at some of the requests that it pushes, by and by at fewer of them. Where a
dictionary made of half of these would take a quarter off the other half, it asks for one: it takes
one of the crawl's own that is nearly as good, and adds its own only where there is none. So a fleet
shares one or two, and a crawl of few requests has none. See docs/decisions/packing.md.

A dictionary is used for packing only after a reply of the crawl's present state has said that it
is there, with a number of the crawl's sequence: no older state has that number, so that a state
that lacks the dictionary is noticed before anything packed with it enters (I12).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from scrapy_seine.errors import DecodeError
from scrapy_seine.frontier.encoding.codec import PACKED
from scrapy_seine.frontier.encoding.packing import (
    MOST_PACKED,
    START,
    Dictionary,
    is_packed,
    made_of,
)

#: Requests that one look is about, and how far apart they are at first and at most.
SAMPLES, NEAR, FAR = 16, 16, 65_536
#: What is to take less than so much of what is used so far, to be worth a change.
BETTER = 0.75
#: Dictionaries that a process knows, at most, for each partition.
KNOWN = 64


class Packer:
    """Packs what one partition is to store, and unpacks what it stored."""

    def __init__(self) -> None:
        self.known: dict[bytes, Dictionary] = {}
        """By id: those whose text this process has seen. They are right in any state."""
        self.unknown: set[bytes] = set()
        """Ids that `unpack` met and this process has not seen."""
        self.own: Dictionary | None = None
        """What requests are packed with; the crawl's present state has it."""
        self._samples: list[bytes] = []
        self._apart = self._left = NEAR
        self._looking = False

    @property
    def wants(self) -> bool:
        """Whether enough requests were seen to look for a dictionary."""
        return len(self._samples) >= SAMPLES and not self._looking

    def pack(self, blob: bytes) -> bytes:
        """Return an encoded request as it is to be stored."""
        self._left -= 1
        if self._left <= 0:
            self._left = self._apart
            if len(self._samples) < SAMPLES and len(blob) <= MOST_PACKED:
                self._samples.append(blob)
        return blob if self.own is None else self.own.pack(blob)

    def pack_stored(self, stored: bytes) -> bytes:
        """The same of a request with its header."""
        head, newline, blob = stored.partition(b"\n")
        return head + newline + self.pack(blob)

    def unpack(self, stored: bytes) -> bytes:
        """Return a stored request as it was pushed; packed where that cannot be told (I8)."""
        at = stored.find(b"\n") + 1
        if stored[at : at + 1] != PACKED:
            return stored
        id_ = stored[at + 1 : at + START]
        used = self.known.get(id_)
        if used is None:
            self.unknown.add(id_)
            return stored
        try:
            return stored[:at] + used.unpack(stored[at:])
        except DecodeError:
            return stored

    def pack_like(self, stored: bytes, old: bytes) -> bytes:
        """Pack a stored request as *old* is, in whose place it comes."""
        id_ = old.partition(b"\n")[2][1:START] if is_packed(old) else b""
        if id_ not in self.known:
            return stored
        head, newline, blob = stored.partition(b"\n")
        return head + newline + self.known[id_].pack(blob)

    def learn(self, found: Iterable[Dictionary | None]) -> None:
        """Keep dictionaries for unpacking; the oldest are forgotten, and can be read again."""
        for one in found:
            if one is not None:
                self.known.pop(one.id, None)
                self.known[one.id] = one
        while len(self.known) > KNOWN:
            del self.known[next(iter(self.known))]

    @contextmanager
    def looking(self) -> Iterator[Dictionary | None]:
        """Make a dictionary of the samples; None where it would be no better than what is used.

        The next look is about other requests, twice as far apart.
        """
        made = made_of(self._samples[::2], self._rest)
        self._apart = min(2 * self._apart, FAR)
        if made is not None and made.size(self._rest) > BETTER * self._cost(self.own):
            made = None
        self._looking = True
        try:
            yield made
        finally:
            self._looking = False
            self._samples.clear()

    def settle(self, offered: Sequence[Dictionary], rival: Dictionary | None = None) -> bool:
        """Use the best of those that the crawl has, where it is worth that; returns whether it is.

        Beside a *rival* it has to be nearly as good; else better than what is used so far.
        """
        best = min(offered, key=self._cost, default=None)
        if best is None:
            return False
        if rival is None:
            fits = self._cost(best) <= BETTER * self._cost(self.own)
        else:
            fits = BETTER * self._cost(best) <= self._cost(rival)
        if fits:
            self.own = best
        return fits

    def reset(self) -> None:
        """Pack with nothing: the crawl's state is another one, which may lack what was used."""
        self.own = None
        self._apart = self._left = NEAR
        self._samples.clear()

    @property
    def _rest(self) -> list[bytes]:
        return self._samples[1::2]

    def _cost(self, used: Dictionary | None) -> int:
        return sum(map(len, self._rest)) if used is None else used.size(self._rest)

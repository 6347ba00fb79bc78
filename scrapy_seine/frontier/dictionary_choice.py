"""Chooses the dictionary that packs the requests of one partition, and keeps those for unpacking.

A worker samples the requests that it pushes, more rarely over time. If a dictionary made of half of
the samples would shrink the other half by a quarter, the worker looks for one: it takes a
dictionary of the crawl that is nearly as good, and adds its own only if there is none. So a fleet
shares one or two, and a crawl of few requests has none. See docs/decisions/packing.md.

A dictionary is used for packing only after a reply of the crawl's present state has confirmed it,
with a number of the crawl's sequence. No older state has that number, so that a state that lacks
the dictionary is noticed before a request packed with it enters (I12).
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

#: Samples of one look, and the distance between samples at first and at most, requests.
SAMPLES, NEAR, FAR = 16, 16, 65_536
#: A change is worth it if the new size is below this share of the old one.
BETTER = 0.75
#: Dictionaries that a process keeps for each partition, at most.
MAX_DICTIONARIES = 64


class Packer:
    """Packs what one partition is to store, and unpacks what it stored."""

    def __init__(self) -> None:
        self.dictionaries: dict[bytes, Dictionary] = {}
        """Dictionaries that this process has read, by id. They are valid in any state."""
        self.unknown_ids: set[bytes] = set()
        """Ids that `unpack` found and this process has not read."""
        self.current: Dictionary | None = None
        """The dictionary that packs requests; the crawl's present state has it."""
        self._samples: list[bytes] = []
        self._distance = self._until_sample = NEAR
        self._looking = False

    @property
    def wants(self) -> bool:
        """Whether enough requests were sampled to look for a dictionary."""
        return len(self._samples) >= SAMPLES and not self._looking

    def pack(self, blob: bytes) -> bytes:
        """Return an encoded request as it is to be stored."""
        self._until_sample -= 1
        if self._until_sample <= 0:
            self._until_sample = self._distance
            if len(self._samples) < SAMPLES and len(blob) <= MOST_PACKED:
                self._samples.append(blob)
        return blob if self.current is None else self.current.pack(blob)

    def pack_stored(self, stored: bytes) -> bytes:
        """Pack a request that has its header."""
        head, newline, blob = stored.partition(b"\n")
        return head + newline + self.pack(blob)

    def unpack(self, stored: bytes) -> bytes:
        """Return a stored request as it was pushed; unchanged if it cannot be unpacked (I8)."""
        start = stored.find(b"\n") + 1
        if stored[start : start + 1] != PACKED:
            return stored
        id_ = stored[start + 1 : start + START]
        dictionary = self.dictionaries.get(id_)
        if dictionary is None:
            self.unknown_ids.add(id_)
            return stored
        try:
            return stored[:start] + dictionary.unpack(stored[start:])
        except DecodeError:
            return stored

    def pack_like(self, stored: bytes, replaced: bytes) -> bytes:
        """Pack a stored request as *replaced* is packed, which it replaces."""
        id_ = replaced.partition(b"\n")[2][1:START] if is_packed(replaced) else b""
        if id_ not in self.dictionaries:
            return stored
        head, newline, blob = stored.partition(b"\n")
        return head + newline + self.dictionaries[id_].pack(blob)

    def learn(self, dictionaries: Iterable[Dictionary | None]) -> None:
        """Keep dictionaries for unpacking; the oldest are dropped, and can be read again."""
        for dictionary in dictionaries:
            if dictionary is not None:
                self.dictionaries.pop(dictionary.id, None)
                self.dictionaries[dictionary.id] = dictionary
        while len(self.dictionaries) > MAX_DICTIONARIES:
            del self.dictionaries[next(iter(self.dictionaries))]

    @contextmanager
    def candidate(self) -> Iterator[Dictionary | None]:
        """Make a dictionary of the samples; None if it is no better than the current one.

        The next look takes other requests, twice as far apart.
        """
        candidate = made_of(self._samples[::2], self._test_samples)
        self._distance = min(2 * self._distance, FAR)
        if candidate is not None and candidate.size(self._test_samples) > BETTER * self._cost(
            self.current
        ):
            candidate = None
        self._looking = True
        try:
            yield candidate
        finally:
            self._looking = False
            self._samples.clear()

    def settle(self, offered: Sequence[Dictionary], rival: Dictionary | None = None) -> bool:
        """Use the best dictionary that the crawl has, if it is good enough; returns whether it is.

        Compared to a *rival* it has to be nearly as good; else better than the current one.
        """
        best_dictionary = min(offered, key=self._cost, default=None)
        if best_dictionary is None:
            return False
        if rival is None:
            fits = self._cost(best_dictionary) <= BETTER * self._cost(self.current)
        else:
            fits = BETTER * self._cost(best_dictionary) <= self._cost(rival)
        if fits:
            self.current = best_dictionary
        return fits

    def reset(self) -> None:
        """Stop packing: the crawl's state is another one, which may lack the dictionary."""
        self.current = None
        self._distance = self._until_sample = NEAR
        self._samples.clear()

    @property
    def _test_samples(self) -> list[bytes]:
        return self._samples[1::2]

    def _cost(self, dictionary: Dictionary | None) -> int:
        return (
            sum(map(len, self._test_samples))
            if dictionary is None
            else dictionary.size(self._test_samples)
        )

"""The browser contexts: which one a request gets, and when one is closed. Pure.

A room is a context of the browser, made for one visitor. It takes pages until it is worn; a new
room of the same visitor may open while the last pages of the old one are still in work.
"""

from __future__ import annotations

import attrs

from scrapy_seine.records import Record


@attrs.define(eq=False, repr=False)
class BrowserContext(Record):
    """One context."""

    name: str
    visitor: str
    taken: int = 0
    """Pages begun, ever."""
    pages: int = 0
    """Pages in work."""
    last: int = 0
    """When it was last entered, in entries of the house."""
    spoiled: bool = False
    """Something went wrong in it; nobody enters any more."""


@attrs.define(eq=False, repr=False)
class ContextPool(Record):
    """The rooms of one browser."""

    most: int
    """Rooms at a time."""
    wears_after: int
    """Pages that a room takes."""
    rooms: dict[str, BrowserContext] = attrs.Factory(dict)
    _entries: int = 0

    def enter(self, visitor: str) -> BrowserContext | None:
        """Give the visitor's room, opening one if there is space; None: wait until one leaves."""
        self._entries += 1
        room = next((r for r in self.rooms.values() if r.visitor == visitor and self.open(r)), None)
        if room is None:
            if len(self.rooms) >= self.most:
                return None
            room = BrowserContext(f"{visitor}#{self._entries}", visitor)
            self.rooms[room.name] = room
        room.taken += 1
        room.pages += 1
        room.last = self._entries
        return room

    def open(self, room: BrowserContext) -> bool:
        """Whether one more page may enter."""
        return not room.spoiled and room.taken < self.wears_after

    def leave(self, room: BrowserContext, *, spoiled: bool = False) -> bool:
        """Note that a page is done; True: the room is empty and worn, and to be closed."""
        room.pages -= 1
        room.spoiled = room.spoiled or spoiled
        return room.pages == 0 and not self.open(room)

    def idle(self) -> BrowserContext | None:
        """Give the room that nobody is in, and was in for longest."""
        empty = [room for room in self.rooms.values() if room.pages == 0]
        return min(empty, key=lambda room: room.last, default=None)

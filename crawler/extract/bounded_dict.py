"""What is kept of each site, of so many sites at most: the one that was met first goes first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Kept = TypeVar("Kept")


class Newest(dict[str, Kept]):
    """What is asked for by `[]` is made if need be; `get` makes nothing.

    >>> kept = Newest(list, most=2)
    >>> for name in "aba": kept[name].append(1)
    >>> kept["c"], dict(kept), kept.get("d")
    ([], {'b': [1], 'c': []}, None)
    """

    def __init__(self, make: Callable[[], Kept], most: int) -> None:
        self._make, self._most = make, most

    def __missing__(self, name: str) -> Kept:
        self[name] = made = self._make()
        if len(self) > self._most:
            del self[next(iter(self))]
        return made

"""A dictionary with a limit, for state by site: beyond the limit, the oldest entry is dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


class Newest(dict[str, Value]):
    """The newest *max_items* entries; `[]` makes a missing value, `get` does not.

    >>> kept = Newest(list, max_items=2)
    >>> for name in "aba": kept[name].append(1)
    >>> kept["c"], dict(kept), kept.get("d")
    ([], {'b': [1], 'c': []}, None)
    >>> kept["e"] = [2]
    >>> list(kept)
    ['c', 'e']
    """

    def __init__(self, make: Callable[[], Value], max_items: int) -> None:
        self._make, self._max_items = make, max_items

    def __missing__(self, name: str) -> Value:
        self[name] = value = self._make()
        return value

    def __setitem__(self, name: str, value: Value) -> None:
        super().__setitem__(name, value)
        if len(self) > self._max_items:
            del self[next(iter(self))]

"""The order of tests that several processes share: long ones begin, short ones fill the end.

xdist gives each process one stretch of the list, and whoever is done first takes from the end of
another's. So each stretch begins with whole crawls and ends with tests of single functions: a crawl
of a minute that begins last would be waited for by all processes but one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, groupby, islice
from typing import TypeVar

import pytest

T = TypeVar("T")
#: Folders of tests that start nothing.
_SHORT = ("tests/unit/", "tests/contract/")


def rank(item: pytest.Item) -> int:
    """Return 0 for a test of whole crawls or a browser, 2 for one that starts nothing, else 1."""
    if item.get_closest_marker("acceptance") or item.get_closest_marker("browser"):
        return 0
    return 2 if item.nodeid.startswith(_SHORT) else 1


def long_first(
    items: Sequence[T],
    processes: int,
    rank: Callable[[T], int],
    module: Callable[[T], str],
) -> list[T]:
    """Order tests for so many processes; tests of a module stay together where stretches allow it.

    Within a rank the order of modules stays as it is (pytest-randomly shuffles it).

    >>> names = ["a1", "b2", "c1", "d2", "e2", "f2"]
    >>> long_first(names, 2, rank=lambda name: int(name[1]), module=str)
    ['a1', 'b2', 'e2', 'c1', 'd2', 'f2']
    """
    stretches: list[list[T]] = [[] for _ in range(processes)]
    together = [(min(map(rank, same)), same) for same in _by_module(items, module)]
    for number, (_, same) in enumerate(sorted(together, key=lambda found: found[0])):
        stretches[number % processes] += same
    return list(chain(*_evened(stretches, len(items))))


def _by_module(items: Iterable[T], module: Callable[[T], str]) -> Iterable[list[T]]:
    return (list(same) for _, same in groupby(items, key=module))


def _evened(stretches: list[list[T]], number: int) -> Iterable[list[T]]:
    """Move what one stretch has too many of, from its end, to those that have too few."""
    sizes = []
    for left in range(len(stretches), 0, -1):  # as xdist counts them
        sizes.append((number - sum(sizes)) // left)
    pairs = list(zip(stretches, sizes, strict=True))
    spare = chain.from_iterable(stretch[size:] for stretch, size in pairs)
    return [
        [*stretch[:size], *islice(spare, max(0, size - len(stretch)))] for stretch, size in pairs
    ]

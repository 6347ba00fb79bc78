"""Long tests are begun first in each process, and every test is run once."""

from __future__ import annotations

import random
from collections import Counter
from itertools import accumulate, chain, pairwise

from tests.ordering import long_first


def ordered(names: list[str], processes: int) -> list[list[str]]:
    """What each process is given; a name is its rank and its module."""
    found = long_first(names, processes, rank=lambda name: int(name[0]), module=str)
    sizes = []
    for left in range(processes, 0, -1):
        sizes.append((len(found) - sum(sizes)) // left)
    ends = list(accumulate(sizes, initial=0))
    return [found[begin:end] for begin, end in pairwise(ends)]


def test_each_test_is_run_once() -> None:
    dice = random.Random(1)
    for processes in (2, 3, 4, 7) * 20:
        modules = [f"{dice.randrange(3)}-{number}" for number in range(dice.randrange(1, 40))]
        names = [name for name in modules for _ in range(dice.randrange(1, 9))]
        assert Counter(chain(*ordered(names, processes))) == Counter(names)


def test_each_process_begins_with_long_tests_and_ends_with_short_ones() -> None:
    names = [f"{rank}-{number}" for number in range(40) for rank in (2, 0, 1)]
    for stretch in ordered(names, 3):
        assert [name[0] for name in stretch] == sorted(name[0] for name in stretch)
        assert {name[0] for name in stretch} == {"0", "1", "2"}


def test_modules_of_a_rank_keep_the_order_that_they_were_shuffled_into() -> None:
    names = [f"1-{number}" for number in random.Random(1).sample(range(100), 100)]
    for stretch in ordered(names, 4):
        places = [names.index(name) for name in stretch]
        assert places == sorted(places)

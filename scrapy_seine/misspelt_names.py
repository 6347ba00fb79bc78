"""Misspelt names: which known name was probably meant ("did you mean …?")."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache


def nearest(name: str, known: Iterable[str], least: float) -> str:
    """Return the known name that is most like another; '' where none is so much alike.

    *least* is difflib's ratio, 0 to 1. difflib is asked about those alone that have nearly as many
    characters and few others, because a start compares each variable with each setting.

    >>> nearest("REDIS_ULR", ["REDIS_URL", "REDIS_PASSWORD"], 0.85), nearest("PATH", ["HOST"], 0.85)
    ('REDIS_URL', '')
    """
    size, has = len(name), _letters(name)
    # No more characters can be the same than the shorter one has, and none that one lacks.
    shortest = int(size * least / (2.0 - least))
    longest = size * (2.0 - least) / least + 1.0
    near = []
    for one in known:
        if not shortest <= len(one) <= longest:
            continue
        other = _letters(one)
        same = min(size - (has & ~other).bit_count(), len(one) - (other & ~has).bit_count())
        if 2.0 * same >= least * (size + len(one)):
            near.append(one)
    return next(iter(get_close_matches(name, near, 1, least) if near else ()), "")


@lru_cache(maxsize=2048)
def _letters(name: str) -> int:
    """The characters of a name as bits, of which some characters share one: a bound, and quick."""
    found = 0
    for char in name:
        found |= 1 << (ord(char) & 63)
    return found


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Name what was probably meant, as the end of a message; '' where nothing is alike.

    >>> did_you_mean("catalgo", ["catalog", "demo"]), did_you_mean("x", ["catalog"])
    ('; did you mean catalog?', '')
    """
    alike = get_close_matches(name, list(known), 1)
    return f"; did you mean {alike[0]}?" if alike else ""

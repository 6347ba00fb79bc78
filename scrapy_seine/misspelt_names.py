"""Misspelt names: finds the known name that was probably meant ("did you mean …?")."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache


def nearest(name: str, names: Iterable[str], min_similarity: float) -> str:
    """Return the known name that is most similar; '' if none is similar enough.

    *min_similarity* is difflib's ratio, 0 to 1. difflib compares only names of a similar length
    with few other characters, because a start compares each variable with each setting.

    >>> nearest("REDIS_ULR", ["REDIS_URL", "REDIS_PASSWORD"], 0.85), nearest("PATH", ["HOST"], 0.85)
    ('REDIS_URL', '')
    """
    size, name_letters = len(name), _letters(name)
    # A name cannot share more characters than the shorter one has, nor any that the other lacks.
    shortest = int(size * min_similarity / (2.0 - min_similarity))
    longest = size * (2.0 - min_similarity) / min_similarity + 1.0
    candidates = []
    for candidate in names:
        if not shortest <= len(candidate) <= longest:
            continue
        letters = _letters(candidate)
        shared = min(
            size - (name_letters & ~letters).bit_count(),
            len(candidate) - (letters & ~name_letters).bit_count(),
        )
        if 2.0 * shared >= min_similarity * (size + len(candidate)):
            candidates.append(candidate)
    return next(
        iter(get_close_matches(name, candidates, 1, min_similarity) if candidates else ()), ""
    )


@lru_cache(maxsize=2048)
def _letters(name: str) -> int:
    """Return a name's characters as bits; some characters share a bit, so that it is a bound."""
    bits = 0
    for char in name:
        bits |= 1 << (ord(char) & 63)
    return bits


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a suggestion as the end of a message; '' if no name is similar.

    >>> did_you_mean("catalgo", ["catalog", "demo"]), did_you_mean("x", ["catalog"])
    ('; did you mean catalog?', '')
    """
    alike = get_close_matches(name, list(names), 1)
    return f"; did you mean {alike[0]}?" if alike else ""

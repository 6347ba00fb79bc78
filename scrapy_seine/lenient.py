"""Reading for people what anyone may have written to Redis: junk reads as nothing, never raises.

The frontier itself reads strictly, in its scripts; a page that shows its state must come up above
all where that state is broken.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import orjson

#: Times that can be shown end with the year 9999, and counters are 64-bit numbers.
_MOST = 2.0**63


def real(raw: Any, default: float = 0.0) -> float:
    """Read a finite number within 64 bits; anything else is *default*.

    >>> real(b"1.5"), real("x"), real(b"\\xff"), real("1e999"), real(None)
    (1.5, 0.0, 0.0, 0.0, 0.0)
    """
    try:
        value = float(raw)
    except (TypeError, ValueError, OverflowError):
        return default
    return value if math.isfinite(value) and abs(value) < _MOST else default


def whole(raw: Any, default: int = 0) -> int:
    """Read a whole number, exactly where it is written as one.

    >>> whole(b"9007199254740993"), whole("7.9"), whole("junk")
    (9007199254740993, 7, 0)
    """
    value = real(raw, math.nan)
    if math.isnan(value):
        return default
    try:
        return int(raw)
    except (TypeError, ValueError):
        return int(value)


def moment_of(at_s: float) -> datetime:
    """Unix time as a moment in UTC; one that no calendar has is the beginning of 1970."""
    try:
        return datetime.fromtimestamp(at_s, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0, UTC)


def word(raw: Any) -> str:
    """Read text; bytes that are no UTF-8 are shown as U+FFFD."""
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)


def items(raw: bytes | None) -> list[Any]:
    """Read a JSON list; empty where it is none."""
    try:
        told = orjson.loads(raw or b"[]")
    except orjson.JSONDecodeError:
        return []
    return told if isinstance(told, list) else []


def record(raw: bytes | str | None) -> dict[str, Any]:
    """Read a JSON object; empty where it is none."""
    try:
        told = orjson.loads(raw or b"{}")
    except orjson.JSONDecodeError:
        return {}
    return told if isinstance(told, dict) else {}


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

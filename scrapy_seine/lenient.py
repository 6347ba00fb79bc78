"""Reads for people what anyone may have written to Redis: junk reads as nothing, and never raises.

The frontier itself reads strictly, in its scripts. A page that shows its state must work above all
where that state is broken.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
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

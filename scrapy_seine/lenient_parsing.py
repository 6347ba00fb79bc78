"""Parses leniently what anyone may have written to Redis, for display: junk never raises.

The frontier itself parses strictly, in its scripts. A page that shows its state must work
especially when that state is broken.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import orjson

#: Displayable times end with the year 9999, and counters are 64-bit numbers.
_MAX = 2.0**63


def real(raw: Any, default: float = 0.0) -> float:
    """Parse a finite number within 64 bits; anything else is *default*.

    >>> real(b"1.5"), real("x"), real(b"\\xff"), real("1e999"), real(None)
    (1.5, 0.0, 0.0, 0.0, 0.0)
    """
    try:
        value = float(raw)
    except (TypeError, ValueError, OverflowError):
        return default
    return value if math.isfinite(value) and abs(value) < _MAX else default


def whole_number(raw: Any, default: int = 0) -> int:
    """Parse a whole number, exactly if it is written as one.

    >>> whole_number(b"9007199254740993"), whole_number("7.9"), whole_number("junk")
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
    """Convert Unix time to a datetime in UTC; one outside the calendar becomes 1970's start."""
    try:
        return datetime.fromtimestamp(at_s, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0, UTC)


def word(raw: Any) -> str:
    """Decode text; bytes that are no UTF-8 become U+FFFD."""
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)


def items(raw: bytes | None) -> list[Any]:
    """Parse a JSON list; [] if it is none."""
    try:
        parsed = orjson.loads(raw or b"[]")
    except orjson.JSONDecodeError:
        return []
    return parsed if isinstance(parsed, list) else []


def record(raw: bytes | str | None) -> dict[str, Any]:
    """Parse a JSON object; {} if it is none."""
    try:
        parsed = orjson.loads(raw or b"{}")
    except orjson.JSONDecodeError:
        return {}
    return parsed if isinstance(parsed, dict) else {}

"""The `Retry-After` header of an answer, as seconds."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after_s(value: str, now: datetime) -> float | None:
    """Parse a Retry-After header into seconds: a number or a date (RFC 9110, 10.2.3).

    None if it is neither; 0 for a date in the past.

    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> retry_after_s(" 120 ", now), retry_after_s("Thu, 01 Jan 2026 00:00:30 GMT", now)
    (120.0, 30.0)
    >>> retry_after_s("soon", now), retry_after_s("", now), retry_after_s("-5", now)
    (None, None, None)
    """
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])  # nine digits are 31 years: enough, and never infinite
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, IndexError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max((date - now).total_seconds(), 0.0)

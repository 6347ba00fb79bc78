"""`Retry-After`, 429 and 503: how long a whole site rests; `block_until.lua` doubles it. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.config import SettingsLike, number

TOO_MANY_REQUESTS = 429
UNAVAILABLE = 503
#: Digits of ASCII; some sites name tenths of a second.
_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")


def limits_s(settings: SettingsLike) -> tuple[float, float]:
    """Read the first pause after a 429 without a time, and the longest pause, s.

    SEINE_BLOCK_SECONDS and SEINE_BLOCK_LIMIT_SECONDS.
    """
    return (
        number(settings, "SEINE_BLOCK_SECONDS", 5),
        number(settings, "SEINE_BLOCK_LIMIT_SECONDS", 3600),
    )


def retry_after_s(value: str, now: datetime) -> float | None:
    """Parse a Retry-After header into seconds: a number or a date (RFC 9110, 10.2.3).

    None if it is neither, and if it asks for no wait: a site that refuses pages and names the past
    has another clock, or names no time.

    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> retry_after_s(" 120 ", now), retry_after_s("Thu, 01 Jan 2026 00:00:30 GMT", now)
    (120.0, 30.0)
    >>> retry_after_s("soon", now), retry_after_s("0", now), retry_after_s("-5", now)
    (None, None, None)
    """
    text = value.strip()
    if _SECONDS.fullmatch(text):
        wait_s = float(text[:9])  # nine digits are 31 years: enough, and never infinite
    else:
        date = date_of(text)
        wait_s = 0.0 if date is None else (date - now).total_seconds()
    return wait_s if wait_s > 0 else None


def date_of(text: str) -> datetime | None:
    """Parse a date of HTTP; None if it is none.

    >>> date_of("Thu, 01 Jan 2026 00:00:30 GMT").isoformat(), date_of("120 s")
    ('2026-01-01T00:00:30+00:00', None)
    """
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, IndexError, OverflowError):
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)


@attrs.frozen(eq=False, repr=False)
class Block(Value):
    """A pause of a whole site."""

    wait_s: float
    grows: bool
    """The site named no time: each block that closely follows the last one is twice as long."""


def block_of(
    status: int, retry_after: float | None, *, usual_s: float, limit_s: float
) -> Block | None:
    """Whether a response asks for a pause of the whole site, and for how long.

    A 429 always does; a 503 only if it names a time: without one it is a failure like others.

    >>> block_of(429, None, usual_s=5, limit_s=60)
    Block(wait_s=5, grows=True)
    >>> block_of(503, 90.0, usual_s=5, limit_s=60)
    Block(wait_s=60, grows=False)
    >>> block_of(503, None, usual_s=5, limit_s=60), block_of(200, 9.0, usual_s=5, limit_s=60)
    (None, None)
    """
    if status not in (TOO_MANY_REQUESTS, UNAVAILABLE):
        return None
    if retry_after is not None:
        return Block(min(retry_after, limit_s), grows=False)
    return Block(min(usual_s, limit_s), grows=True) if status == TOO_MANY_REQUESTS else None

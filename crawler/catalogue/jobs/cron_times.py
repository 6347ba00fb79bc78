"""Compute when a cron expression is due; full crawls start by one. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from croniter import croniter

from scrapy_seine.errors import ConfigError


def check(schedule: str, site_id: str) -> None:
    """Refuse a cron expression that is invalid, random, or never fires, as on a 31st of February.

    Raises:
        ConfigError: the expression is such a one; the message names the site.
    """
    if not schedule:
        return
    # Of an R croniter makes another time at each look, so that each look would start a crawl.
    is_random = any(field[:1] in "rR" for field in schedule.split())
    if is_random or not croniter.is_valid(schedule):
        raise ConfigError(f"site {site_id}: schedule={schedule!r} is no cron expression")
    try:
        last_due(schedule, datetime.now(UTC))
    except (ValueError, ArithmeticError):
        raise ConfigError(
            f"site {site_id}: schedule={schedule!r} never fires, or first in a year to come"
        ) from None


def last_due(schedule: str, now: datetime) -> datetime:
    """Return the latest time, not after *now*, at which the schedule fires (UTC).

    >>> last_due("0 4 * * *", datetime(2026, 11, 21, 12, 30, tzinfo=UTC)).isoformat()
    '2026-11-21T04:00:00+00:00'
    """
    # croniter looks for times before this one, and all of them are whole seconds.
    after = now.replace(microsecond=0) + timedelta(seconds=1)
    latest: datetime = croniter(schedule, after).get_prev(datetime)
    return latest.astimezone(UTC)


def slot(now: datetime, every_s: float) -> datetime:
    """Return the start of the period of *every_s* seconds that contains *now* (UTC)."""
    return datetime.fromtimestamp(now.timestamp() // every_s * every_s, UTC)

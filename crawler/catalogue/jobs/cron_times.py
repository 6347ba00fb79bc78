"""Compute when a cron expression is due; full crawls start by one. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from croniter import croniter

from scrapy_seine.errors import ConfigError


def check(schedule: str, site_id: str) -> None:
    """Refuse an invalid cron expression.

    Raises:
        ConfigError: the expression is invalid; the message names the site.
    """
    if schedule and not croniter.is_valid(schedule):
        raise ConfigError(f"site {site_id}: schedule={schedule!r} is no cron expression")


def last_due(schedule: str, now: datetime) -> datetime:
    """Return the latest time, not after *now*, at which the schedule fires (UTC).

    >>> last_due("0 4 * * *", datetime(2026, 11, 21, 12, 30, tzinfo=UTC)).isoformat()
    '2026-11-21T04:00:00+00:00'
    """
    latest: datetime = croniter(schedule, now).get_prev(datetime)
    following: datetime = croniter(schedule, latest).get_next(datetime)
    return (following if following <= now else latest).astimezone(UTC)


def slot(now: datetime, every_s: float) -> datetime:
    """Return the start of the period of *every_s* seconds that contains *now* (UTC)."""
    return datetime.fromtimestamp(now.timestamp() // every_s * every_s, UTC)

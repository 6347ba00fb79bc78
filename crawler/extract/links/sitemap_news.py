"""Choose the new and changed pages of a sitemap, by their dates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

#: Pages with one date from which on the date is the sitemap's own, and no change of the pages.
_SAME_DATE_PAGES = 20
_DATE_LENGTH = len("2026-11-21")


def dates_of(pages: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return when each page was last changed; "" for all pages if the dates are useless.

    Some shops give every page the time at which the sitemap was written.
    """
    dates = {changed for _, changed in pages}
    are_informative = len(dates) > 1 or len(pages) < _SAME_DATE_PAGES
    return {url: changed if are_informative else "" for url, changed in pages}


def news_scope(changed: str, since: datetime | None, crawled: str) -> str | None:
    """Return the request scope of a listed page for a job that looks for news; None if unchanged.

    Each version of a page is fetched once. For a page without a date, the scope is the job
    *crawled*, whose pages were fetched already.

    >>> news_scope("2026-11-22", None, "shop-full"), news_scope("", None, "shop-full")
    ('news 2026-11-22', 'shop-full')
    >>> news_scope("2026-11-20", datetime(2026, 11, 22, tzinfo=UTC), "shop-full")
    """
    if not changed:
        return crawled or "news "
    return f"news {changed}" if since is None or is_news(changed, since) else None


def is_news(changed: str, since: datetime) -> bool:
    """Whether a page with this date in the sitemap may have changed since a time.

    A date without a time covers that day in all time zones; an unreadable date counts as new.

    >>> is_news("2026-11-20", datetime(2026, 11, 22, tzinfo=UTC))
    False
    >>> is_news("2026-11-22T08:00:00Z", datetime(2026, 11, 22, tzinfo=UTC))
    True
    """
    try:
        return _parse_time(changed) >= since
    except (TypeError, ValueError, IndexError, OverflowError):
        return True


def _parse_time(changed: str) -> datetime:
    try:
        changed_at = datetime.fromisoformat(changed)
    except ValueError:
        changed_at = parsedate_to_datetime(changed)
    if changed_at.tzinfo is None:
        changed_at = changed_at.replace(tzinfo=UTC) + timedelta(hours=12)
    return changed_at + timedelta(days=1) if len(changed) <= _DATE_LENGTH else changed_at

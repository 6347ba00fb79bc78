"""Which pages of a sitemap are news, by the dates that it gives them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

#: So many pages are not changed in one second, unless all of them are.
_SAME = 20
_DATE = len("2026-11-21")


def dates_of(pages: Sequence[tuple[str, str]]) -> dict[str, str]:
    """When each page was last changed; "" for all where the dates say nothing.

    Some shops date every page with the time at which the sitemap was written.
    """
    dates = {changed for _, changed in pages}
    told = len(dates) > 1 or len(pages) < _SAME
    return {url: changed if told else "" for url, changed in pages}


def news_scope(changed: str, since: datetime | None, crawled: str) -> str | None:
    """In which scope a listed page is asked for by a job that is to find news; None: it is none.

    Each state of a page is fetched once. Where the sitemap does not say when it changed, the pages
    of the job *crawled* are known.

    >>> news_scope("2026-11-22", None, "shop-full"), news_scope("", None, "shop-full")
    ('news 2026-11-22', 'shop-full')
    >>> news_scope("2026-11-20", datetime(2026, 11, 22, tzinfo=UTC), "shop-full")
    """
    if not changed:
        return crawled or "news "
    return f"news {changed}" if since is None or is_news(changed, since) else None


def is_news(changed: str, since: datetime) -> bool:
    """Whether a page that was last changed then, as a sitemap has it, may be new since a time.

    A date without a time is any time of that day, anywhere; what cannot be read may be anything.

    >>> is_news("2026-11-20", datetime(2026, 11, 22, tzinfo=UTC))
    False
    >>> is_news("2026-11-22T08:00:00Z", datetime(2026, 11, 22, tzinfo=UTC))
    True
    """
    try:
        return _time_of(changed) >= since
    except (TypeError, ValueError, IndexError, OverflowError):
        return True


def _time_of(changed: str) -> datetime:
    try:
        found = datetime.fromisoformat(changed)
    except ValueError:
        found = parsedate_to_datetime(changed)
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC) + timedelta(hours=12)
    return found + timedelta(days=1) if len(changed) <= _DATE else found

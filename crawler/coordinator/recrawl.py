"""Which known products are fetched again: the older and the more changeable, the sooner.

A product's period is the site's own for one that never changes, and shrinks with the changes seen
per day since it is known: what changes daily comes about daily. (Cho and Garcia-Molina 2003 show
that following the rate of change this way beats a uniform period under a budget.)
"""

from __future__ import annotations

from datetime import datetime

import attrs

from crawler.jobs.model import Plan
from crawler.stores.queries import query
from crawler.stores.writer import transaction

#: No product is fetched more often than this, s.
SHORTEST_S = 3600.0
_DAY_S = 86_400.0


@attrs.frozen
class Known:
    """A product as the coordinator looks at it."""

    url: str
    scraped_at: datetime
    first_seen: datetime
    changes: int


def period_s(known: Known, calm_s: float) -> float:
    """Seconds after which a product is due again; *calm_s* is that of one that never changes."""
    days = max(1.0, (known.scraped_at - known.first_seen).total_seconds() / _DAY_S)
    per_day = known.changes / days
    return max(SHORTEST_S, min(calm_s, calm_s / (1 + per_day * calm_s / _DAY_S)))


def due(known: list[Known], calm_s: float, now: datetime, most: int) -> list[Known]:
    """Those whose period is over, the most overdue (in periods) first, at most *most*."""

    def lateness(k: Known) -> float:
        return (now - k.scraped_at).total_seconds() / period_s(k, calm_s)

    late = sorted(((lateness(k), k) for k in known), key=lambda pair: -pair[0])
    return [k for periods, k in late if periods >= 1][:most]


def candidates(database_url: str, plan: Plan, now: datetime, limit: int = 10_000) -> list[Known]:
    """Read the products that may be due: the oldest, older than the shortest period.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    values = {"site": plan.site_id, "now": now, "shortest": SHORTEST_S, "limit": limit}
    with transaction(database_url) as connection:
        cursor = connection.cursor()
        cursor.execute(query("recrawl_candidates"), values)
        return [Known(*row) for row in cursor.fetchall()]

"""Which known products are fetched again: the older and the more changeable, the sooner.

How often a product changes is estimated from the looks at it, which come at irregular times and
see that it changed since the last one, not how often: the maximum likelihood estimate for Poisson
changes of Cho and Garcia-Molina ("Estimating frequency of change", ACM TOIT 3(3), 2003), with their
correction, so that a product which changed at each look is no infinitely lively one.

Changes that a sitemap announced are left out: what is estimated is what would go unnoticed.

The period then falls with the root of the rate. Under a given number of fetches that minimises how
many changes are yet unseen at a time (age, in Cho and Garcia-Molina's "Effective page refresh
policies", ACM TODS 28(4), 2003). Their optimum for the share of fresh pages is not used: it gives
up what changes fastest, and a shop's liveliest prices are those that one crawls it for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

import attrs

from crawler.catalogue.jobs.model import Plan
from crawler.stores.queries import query
from scrapy_seine.sinks.postgres.database import transaction

#: No product is fetched more often than this, s.
SHORTEST_S = 3600.0
_DAY_S = 86_400.0
#: How much a change rate shortens the period; with 10 and a week's period, a product that changes
#: once a day is looked at some 20 hours later, and one that changes each month after 4 days.
_EAGER = 10.0
_STEPS, _CLOSE = 60, 1e-9
#: Beyond this the exponential of a number has no room in a float.
_LARGEST = 300.0


@attrs.frozen
class Known:
    """A product as the coordinator looks at it."""

    url: str
    scraped_at: datetime
    observed_s: float = 0.0
    """Seconds between the looks at it, added up."""
    changed_after: Sequence[float] = ()
    """Of these, the seconds before each look that found it changed; the newest ones."""
    etag: str | None = None
    last_modified: str | None = None
    parser: str | None = None
    """Version of the parser that read it; None: unknown."""
    external_id: str = ""
    name: str = ""


def change_rate(changed_after: Sequence[float], calm_s: float) -> float:
    """Changes per second, by looks after which there was a change and *calm_s* without any.

    Looks once a day that found a change each second time:

    >>> round(change_rate([86400.0] * 5, 5 * 86400.0) * 86400, 2)
    0.65
    """
    times = [max(1.0, seconds) for seconds in changed_after]
    if not times:
        return 0.0
    # Half a look without a change is the correction for small numbers of looks.
    calm = max(0.0, calm_s) + 0.5 * sum(times) / len(times)
    # Newton's method from below: what is left of the root of a falling convex function stays so.
    rate = len(times) / (calm + sum(times) / 2)
    for _ in range(_STEPS):
        grown = [math.expm1(min(_LARGEST, rate * t)) for t in times]
        excess = sum(t / g for t, g in zip(times, grown, strict=True)) - calm
        slope = sum(t * t * (g + 1) / (g * g) for t, g in zip(times, grown, strict=True))
        step = excess / slope
        rate += step
        if step <= _CLOSE * rate:
            break
    return rate


def period_s(known: Known, calm_s: float, *, watched: bool = False) -> float:
    """Seconds after which a product is due again; *calm_s* is that of one that never changes.

    One that is not known for long is looked at after a day, then after twice as long each time, as
    it might be a lively one: unless a sitemap is *watched*, which would tell.
    """
    changed = [float(seconds) for seconds in known.changed_after]
    rate = change_rate(changed, known.observed_s - sum(changed))
    period = calm_s / math.sqrt(1 + _EAGER * rate * calm_s)
    known_s = math.inf if watched else max(_DAY_S, known.observed_s)
    return max(SHORTEST_S, min(period, known_s))


def due(
    known: Sequence[Known], calm_s: float, now: datetime, most: int, *, watched: bool = False
) -> list[Known]:
    """Those whose period is over, the most overdue (in periods) first, at most *most*."""

    def lateness(k: Known) -> float:
        return (now - k.scraped_at).total_seconds() / period_s(k, calm_s, watched=watched)

    late = sorted(((lateness(k), k) for k in known), key=lambda pair: -pair[0])
    return [k for periods, k in late if periods >= 1][:most]


def candidates(database_url: str, plan: Plan, now: datetime, limit: int = 10_000) -> list[Known]:
    """Read the products that may be due, roughly the most overdue first.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    values = {
        "site": plan.site_id,
        "now": now,
        "shortest": SHORTEST_S,
        "calm": max(SHORTEST_S, plan.recrawl_s),
        "limit": limit,
    }
    with transaction(database_url) as connection:
        cursor = connection.cursor()
        cursor.execute(query("recrawl_candidates"), values)
        return [Known(*row) for row in cursor.fetchall()]

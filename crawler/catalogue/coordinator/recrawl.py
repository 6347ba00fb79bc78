"""Which known products are crawled again: the older, the more changeable and the more important.

Without a budget each product has a period, which falls with the root of its rate of change and of
its importance: under a given number of fetches that minimises how many changes are yet unseen at a
time (age, in Cho and Garcia-Molina's "Effective page refresh policies", ACM TODS 28(4), 2003).

Under a budget, those whose period is over are taken by what a look at each is worth
(`change_rate`), as many as the budget allows by this time of the day. So a price that changes
faster than the budget can follow is left for others, and SWEEP of the looks goes to those that
nobody looked at for longest, whatever they are worth.

Only price and availability count as changes, and only those that no sitemap announced: what is
estimated is what would go unnoticed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

import attrs

from crawler.catalogue.coordinator.change_rate import (
    ANY,
    MOST_GROUPS,
    Belief,
    Looks,
    belief,
    priors,
    worth,
)
from crawler.catalogue.coordinator.importance import importance
from crawler.catalogue.coordinator.known_product import Known
from crawler.catalogue.jobs.model import Plan
from crawler.stores.queries import query
from scrapy_seine.records import Value
from scrapy_seine.sinks.postgres.database import transaction

#: No product is fetched more often than this, s.
SHORTEST_S = 3600.0
_DAY_S = 86_400.0
#: How much a change rate shortens the period; with 10 and a week's period, a product that changes
#: once a day is looked at some 20 hours later, and one that changes each month after 4 days.
_EAGER = 10.0
#: Share of a budget for the products that waited longest.
SWEEP = 0.03


def period_s(
    known: Known,
    calm_s: float,
    *,
    watched: bool = False,
    prior: Belief | None = None,
    weight: float = 1.0,
) -> float:
    """Seconds after which a product is due again; *calm_s* is that of one that never changes.

    One that is not known for long is looked at after a day, then after twice as long each time, as
    it might be a lively one: unless a sitemap is *watched*, which would tell, or its category says
    what to expect (*prior*).
    """
    rate = belief(known.looks, prior or ANY).rate if known.price_changes or prior else 0.0
    period = calm_s / math.sqrt(weight * (1 + _EAGER * rate * calm_s))
    known_s = math.inf if watched or prior else max(_DAY_S, known.observed_s)
    return max(SHORTEST_S, min(period, known_s))


@attrs.frozen(eq=False, repr=False)
class Due(Value):
    """A product whose period is over."""

    known: Known
    waited_s: float
    worth: float


def due(
    known: Sequence[Known],
    plan: Plan,
    now: datetime,
    most: int,
    expected: Mapping[str, Belief] | None = None,
    *,
    spent: int = 0,
) -> list[Known]:
    """Those whose period is over: at most *most*, the worthiest first, and SWEEP of the oldest.

    *expected* is what is thought of new products by category, see `change_rate.priors`; *spent*
    is how many looks of the budget were taken before.
    """
    watched = bool(plan.sitemaps) and plan.watch_s > 0
    found = []
    for each in known:
        weight, prior = importance(each, plan.importance), _expected(each, expected)
        waited_s = (now - each.scraped_at).total_seconds()
        least = period_s(each, plan.recrawl_s, watched=watched, prior=prior, weight=weight)
        if waited_s >= least:
            value = weight * worth(belief(each.looks, prior or ANY), waited_s)
            found.append(Due(each, waited_s, value))
    return [one.known for one in chosen(found, most, spent)]


def chosen(found: Sequence[Due], most: int, spent: int = 0) -> list[Due]:
    """At most *most* of them: the worthiest, and SWEEP of those that waited longest.

    *spent* looks came before: a budget is taken a few looks at a time, and one look has no share.
    """
    if len(found) > most:
        swept = int((spent + most) * SWEEP) - int(spent * SWEEP)
        oldest = sorted(found, key=lambda one: -one.waited_s)[:swept]
        kept = set(map(id, oldest))
        found = [one for one in found if id(one) not in kept]
        found = [*oldest, *sorted(found, key=lambda one: -one.worth)[: most - len(oldest)]]
    return sorted(found, key=lambda one: -one.worth)


def _expected(known: Known, expected: Mapping[str, Belief] | None) -> Belief | None:
    if not expected:
        return None
    return expected.get(known.category) or expected.get("")


def allowance(budget: int, spent: int, elapsed_s: float) -> int:
    """How many looks a day's budget allows now, *elapsed_s* after the day began.

    It is spread over the day, so that what becomes due in the evening finds some of it left.

    >>> [allowance(48, 10, hours * 3600) for hours in (0, 6, 24, 30)]
    [0, 2, 38, 38]
    """
    return max(0, math.ceil(budget * min(1.0, elapsed_s / _DAY_S)) - spent)


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


def expectations(database_url: str, plan: Plan) -> dict[str, Belief]:
    """Read what is to be expected of a site's products, by category; looks through all of them.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection:
        cursor = connection.cursor()
        cursor.execute(query("change_groups"), {"site": plan.site_id, "limit": MOST_GROUPS})
        rows = cursor.fetchall()
    if not any(changes or calm_s for _, changes, _, calm_s in rows):
        return {}
    return priors((name, Looks(int(n), float(s), float(c))) for name, n, s, c in rows)

"""Choose the known products to re-crawl by their age, rate of change and importance.

Without a budget each product has a period, which falls with the root of its rate of change and of
its importance, because for a given number of fetches this minimises the number of unseen changes
(age, in Cho and Garcia-Molina's "Effective page refresh policies", ACM TODS 28(4), 2003).

Under a budget, the products whose period is over are taken by the worth of a look (`change_rate`),
as many as the budget allows by this time of the day. So a price that changes faster than the budget
can follow is skipped in favour of others. The share SWEEP_SHARE of the looks goes to the products
that waited longest, whatever their worth.

After a look of which nothing came, because the page shows an error or cannot be read, the next one
is the next day's, and the pause doubles after each further one (queries.sql).

Only price and availability count as changes, and only those that no sitemap announced, because the
rate of unannounced changes is estimated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

import attrs

from crawler.catalogue.coordinator.change_rate import (
    ANY_SITE,
    MAX_CATEGORIES,
    Belief,
    Looks,
    belief,
    priors,
    worth,
)
from crawler.catalogue.coordinator.importance import importance
from crawler.catalogue.coordinator.known_product import KnownProduct
from crawler.catalogue.jobs.model import Plan
from crawler.stores.queries import query
from scrapy_seine.attrs_bases import Value
from scrapy_seine.sinks.postgres.database import transaction

#: Shortest period of a product, s.
MIN_PERIOD_S = 3600.0
_DAY_S = 86_400.0
#: Products that are read at once.
_MAX_CANDIDATES = 10_000
#: How much a change rate shortens the period. With 10 and a week's period, a product that changes
#: daily is fetched after some 20 hours, and one that changes monthly after 4 days.
_RATE_WEIGHT = 10.0
#: Share of a budget for the products that waited longest.
SWEEP_SHARE = 0.03


def period_s(
    product: KnownProduct,
    calm_s: float,
    *,
    watched: bool = False,
    prior: Belief | None = None,
    weight: float = 1.0,
) -> float:
    """Return the seconds after which a product is due again; *calm_s*: if it never changes.

    A new product is fetched after a day, then after twice as long each time, because its rate is
    unknown: unless a sitemap is *watched*, which announces changes, or its category has a *prior*.
    """
    rate = belief(product.looks, prior or ANY_SITE).rate if product.price_changes or prior else 0.0
    period = calm_s / math.sqrt(weight * (1 + _RATE_WEIGHT * rate * calm_s))
    longest_s = math.inf if watched or prior else max(_DAY_S, product.observed_s)
    return max(MIN_PERIOD_S, min(period, longest_s))


@attrs.frozen(eq=False, repr=False)
class DueProduct(Value):
    """A product whose period is over."""

    product: KnownProduct
    waited_s: float
    worth: float


def due_products_of(
    products: Sequence[KnownProduct],
    plan: Plan,
    now: datetime,
    limit: int,
    prior_by_category: Mapping[str, Belief] | None = None,
    *,
    sent_count: int = 0,
) -> list[KnownProduct]:
    """Return at most *limit* products whose period is over: see `select`.

    *prior_by_category* comes from `change_rate.priors`; *sent_count* is the number of looks that
    the day's budget has already paid for.
    """
    watched = bool(plan.sitemaps) and plan.watch_s > 0
    due_products = []
    for product in products:
        weight, prior = importance(product, plan.importance), _prior_of(product, prior_by_category)
        waited_s = (now - (product.unread_at or product.scraped_at)).total_seconds()
        product_period_s = period_s(
            product, plan.recrawl_s, watched=watched, prior=prior, weight=weight
        )
        # After a look of which nothing came, the query has waited for the next one.
        if product.unread_at is not None or waited_s >= product_period_s:
            value = weight * worth(belief(product.looks, prior or ANY_SITE), waited_s)
            due_products.append(DueProduct(product, waited_s, value))
    return [entry.product for entry in select(due_products, limit, sent_count)]


def select(due_products: Sequence[DueProduct], limit: int, sent_count: int = 0) -> list[DueProduct]:
    """Return at most *limit* products by worth, with SWEEP_SHARE of those that waited longest.

    *sent_count* looks came before; it is needed, because the share of a few looks is below 1.
    """
    if len(due_products) > limit:
        swept = int((sent_count + limit) * SWEEP_SHARE) - int(sent_count * SWEEP_SHARE)
        oldest = sorted(due_products, key=lambda entry: -entry.waited_s)[:swept]
        swept_ids = set(map(id, oldest))
        due_products = [entry for entry in due_products if id(entry) not in swept_ids]
        due_products = [
            *oldest,
            *sorted(due_products, key=lambda entry: -entry.worth)[: limit - len(oldest)],
        ]
    return sorted(due_products, key=lambda entry: -entry.worth)


def _prior_of(
    product: KnownProduct, prior_by_category: Mapping[str, Belief] | None
) -> Belief | None:
    if not prior_by_category:
        return None
    return prior_by_category.get(product.category) or prior_by_category.get("")


def allowance(budget: int, sent_count: int, elapsed_s: float) -> int:
    """Return how many looks a day's budget allows now, *elapsed_s* after the day began.

    The budget is spread over the day, so that some is left for products that fall due late.

    >>> [allowance(48, 10, hours * 3600) for hours in (0, 6, 24, 30)]
    [0, 2, 38, 38]
    """
    return max(0, math.ceil(budget * min(1.0, elapsed_s / _DAY_S)) - sent_count)


def candidates(database_url: str, plan: Plan, now: datetime) -> list[KnownProduct]:
    """Read the products that may be due, roughly the most overdue first.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    values = {
        "site": plan.site_id,
        "now": now,
        "shortest": MIN_PERIOD_S,
        "calm": max(MIN_PERIOD_S, plan.recrawl_s),
        "limit": _MAX_CANDIDATES,
    }
    with transaction(database_url) as connection:
        cursor = connection.cursor()
        cursor.execute(query("recrawl_candidates"), values)
        return [KnownProduct(*row) for row in cursor.fetchall()]


def note_asked(
    database_url: str,
    site_id: str,
    products: Sequence[KnownProduct],
    now: datetime,
    day_start: datetime,
) -> None:
    """Store that the products' pages are asked for, because of some of them nothing may come.

    All requests since *day_start* count as one look, because a new leader may repeat them.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    ids = [each.external_id for each in products]
    values = {"site": site_id, "now": now, "day": day_start, "ids": ids}
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute(query("note_asked"), values)


def expectations(database_url: str, plan: Plan) -> dict[str, Belief]:
    """Read the priors of a site's products by category; the query reads all of its products.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection:
        cursor = connection.cursor()
        cursor.execute(query("change_groups"), {"site": plan.site_id, "limit": MAX_CATEGORIES})
        rows = cursor.fetchall()
    if not any(changes or calm_s for _, changes, _, calm_s in rows):
        return {}
    return priors((name, Looks(int(n), float(s), float(c))) for name, n, s, c in rows)

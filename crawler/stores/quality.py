"""The quality of a site's data as a number, and whether it fell: shops change their pages.

The score, 0 to 1, is

    0.5 · coverage + 0.2 · sane prices + 0.2 · (1 − rejected) + 0.1 · steadiness

* coverage: of each field the share of products that have it, weighted (WEIGHTS);
* sane prices: share of the priced products with a price above 0, a currency, no price before the
  reduction below it, and no jump to ten times or a tenth since the crawl began;
* rejected: rejected pages ÷ (products + rejected pages);
* steadiness: 1 while at most half of the products changed, falling to 0 when all did. Every
  product changing at once is a new layout more often than a new price list.

Fields differ from shop to shop, so a score says little by itself. What counts is the fall against
the crawl before: by a tenth of the score, or by a third of a field's coverage.

Spidermon is not used: its monitors judge the items and stats of one process, and a crawl here is
many processes whose truth is in the database. For a project's own rules on a single item its
schema validation fits, as a pipeline before `pipelines.validate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import attrs
import orjson
from psycopg2 import extensions

from crawler.stores.queries import query
from scrapy_seine.records import Value
from scrapy_seine.sinks.postgres.database import transaction

#: What each field's coverage counts for.
WEIGHTS = {
    "price": 3, "currency": 2, "availability": 2, "image": 1, "brand": 1, "description": 1,
    "identifier": 1, "category": 1,
}  # fmt: skip
#: A value of this confidence and above counts as sure.
SURE = 0.95
SCORE_FALL, FIELD_FALL = 0.1, 1 / 3
_HALF = 0.5


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Quality(Value):
    """The measure of one site."""

    site_id: str
    products: int
    """Products that the crawl saw."""
    rejected: int
    """Pages that were rejected meanwhile."""
    changed: int
    """Products of which a field changed meanwhile."""
    sane: float
    """Share of the priced products whose price makes sense; 1 where none has a price."""
    coverage: dict[str, float]
    """Share of the products that have each field."""
    sure: float | None = None
    """Share of the judged prices of which the crawl is sure (SURE); None where none was judged."""
    doubtful: int = 0
    """Values that contradict what the site did, and are kept out of the products."""
    fall: str | None = None
    """What fell against the measure before; None: nothing did."""

    @property
    def score(self) -> float:
        """0 to 1; see the module's docstring."""
        if not self.products:
            return 0.0
        total = sum(WEIGHTS.values())
        covered = sum(self.coverage[name] * weight for name, weight in WEIGHTS.items()) / total
        refused = self.rejected / (self.products + self.rejected)
        unrest = max(0.0, self.changed / self.products - _HALF) / _HALF
        steady = 1 - min(1.0, unrest)
        return round(0.5 * covered + 0.2 * self.sane + 0.2 * (1 - refused) + 0.1 * steady, 4)


def fall_of(now: Quality, score: float, coverage: Mapping[str, float]) -> str | None:
    """Say what fell since a measure with that score and coverage."""
    if now.score < score * (1 - SCORE_FALL):
        return f"the score fell from {score:.2f} to {now.score:.2f}"
    for name, share in coverage.items():
        if now.coverage.get(name, 0.0) < share * (1 - FIELD_FALL):
            return f"{name} fell from {share:.0%} to {now.coverage.get(name, 0.0):.0%} of products"
    return None


def measure(
    cursor: extensions.cursor, site_id: str, since: datetime | None = None, job: str | None = None
) -> Quality:
    """Measure a site inside the caller's transaction: what was seen since a time, or all of it.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    values = {"site": site_id, "since": since, "job": job, "sure": SURE}
    cursor.execute(query("measure_products"), values)
    names = [column.name for column in cursor.description or ()]
    counts: dict[str, int] = dict(zip(names, cursor.fetchone() or (), strict=True))
    cursor.execute(query("measure_changes"), values)
    changed, jumped = cursor.fetchone() or (0, 0)
    cursor.execute(query("measure_rejected"), values)
    (rejected,) = cursor.fetchone() or (0,)
    cursor.execute(query("measure_doubtful"), values)
    (doubtful,) = cursor.fetchone() or (0,)
    products, priced = counts["products"], counts["price"]
    jumps = jumped if since is not None else 0
    made = Quality(
        site_id=site_id,
        products=products,
        rejected=rejected,
        changed=changed if since is not None else 0,
        sane=round(max(0, counts["sane"] - jumps) / priced, 4) if priced else 1.0,
        sure=round(counts["sure"] / counts["judged"], 4) if counts["judged"] else None,
        doubtful=doubtful,
        coverage={name: round(counts[name] / max(products, 1), 4) for name in WEIGHTS},
    )
    cursor.execute(query("last_quality"), values)
    before = cursor.fetchone()
    return attrs.evolve(made, fall=fall_of(made, *before)) if before else made


def save(
    cursor: extensions.cursor, found: Quality, job: str | None = None, now: datetime | None = None
) -> None:
    """Keep a measure for the next one to be compared with.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    values: dict[str, Any] = {
        "site": found.site_id,
        "now": now or datetime.now(UTC),
        "job": job,
        "products": found.products,
        "rejected": found.rejected,
        "changed": found.changed,
        "sane": found.sane,
        "coverage": orjson.dumps(found.coverage).decode(),
        "score": found.score,
        "fall": found.fall,
    }
    cursor.execute(query("save_quality"), values)


def measure_sites(
    database_url: str,
    site_id: str | None = None,
    *,
    since: datetime | None = None,
    keep: bool = False,
) -> list[Quality]:
    """Measure one site, or each.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection:
        cursor = connection.cursor()
        cursor.execute(query("plan_for_many"))
        cursor.execute(
            "SELECT site_id FROM sites WHERE %(site)s::text IS NULL OR site_id = %(site)s"
            " ORDER BY site_id",
            {"site": site_id},
        )
        found = [measure(cursor, name, since) for (name,) in cursor.fetchall()]
        if keep:
            for one in found:
                save(cursor, one)
        return found

"""Measure the quality of a site's data and detect a fall, because shops change their pages.

The score, 0 to 1, is

    0.5 · coverage + 0.2 · sane prices + 0.2 · (1 − rejected) + 0.1 · steadiness

* coverage: of each field the share of products that have it, weighted (WEIGHTS);
* sane prices: share of the priced products with a price above 0, a currency, no price before the
  reduction below it, and no jump to ten times or a tenth since the crawl began;
* rejected: rejected pages ÷ (products + rejected pages);
* steadiness: 1 while at most half of the products changed, falling to 0 when all did. Every
  product changing at once is a new layout more often than a new price list.

Fields differ from shop to shop, so a score means little alone. A fall against the crawl before is
reported: by a tenth of the score, or by a third of a field's coverage.

Spidermon is not used, because its monitors judge the items and stats of one process, and a crawl
here is many processes with one database. For a project's own rules on a single item its schema
validation fits, as a pipeline before `pipelines.validate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import attrs
import orjson
from psycopg2 import extensions

from crawler.stores.queries import query
from scrapy_seine.attrs_bases import Value
from scrapy_seine.sinks.postgres.database import transaction

#: Weights of the fields' coverage.
WEIGHTS = {
    "price": 3, "currency": 2, "availability": 2, "image": 1, "brand": 1, "description": 1,
    "identifier": 1, "category": 1,
}  # fmt: skip
#: A value of this confidence and above counts as sure.
SURE_CONFIDENCE = 0.95
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
    """Share of the priced products with a sane price; 1 if none has a price."""
    coverage: dict[str, float]
    """Share of the products that have each field."""
    sure: float | None = None
    """Share of the judged prices with SURE_CONFIDENCE or more; None if none was judged."""
    doubtful: int = 0
    """Doubtful values, which are not stored in the products."""
    fall: str | None = None
    """The fall against the measure before, as text; None: nothing fell."""

    @property
    def score(self) -> float:
        """0 to 1; see the module's docstring."""
        if not self.products:
            return 0.0
        total = sum(WEIGHTS.values())
        coverage = sum(self.coverage[name] * weight for name, weight in WEIGHTS.items()) / total
        rejected_share = self.rejected / (self.products + self.rejected)
        excess_changes = max(0.0, self.changed / self.products - _HALF) / _HALF
        steadiness = 1 - min(1.0, excess_changes)
        return round(
            0.5 * coverage + 0.2 * self.sane + 0.2 * (1 - rejected_share) + 0.1 * steadiness, 4
        )


def fall_of(now: Quality, score: float, coverage: Mapping[str, float]) -> str | None:
    """Describe the fall since a measure with that score and coverage; None: nothing fell."""
    if now.score < score * (1 - SCORE_FALL):
        return f"the score fell from {score:.2f} to {now.score:.2f}"
    for name, share in coverage.items():
        if now.coverage.get(name, 0.0) < share * (1 - FIELD_FALL):
            return f"{name} fell from {share:.0%} to {now.coverage.get(name, 0.0):.0%} of products"
    return None


def measure(
    cursor: extensions.cursor, site_id: str, since: datetime | None = None, job: str | None = None
) -> Quality:
    """Measure a site inside the caller's transaction: products seen since a time, or all.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    values = {"site": site_id, "since": since, "job": job, "sure": SURE_CONFIDENCE}
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
    quality = Quality(
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
    last_measure = cursor.fetchone()
    return attrs.evolve(quality, fall=fall_of(quality, *last_measure)) if last_measure else quality


def save(
    cursor: extensions.cursor, quality: Quality, job: str | None = None, now: datetime | None = None
) -> None:
    """Store a measure for comparison with the next one.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    values: dict[str, Any] = {
        "site": quality.site_id,
        "now": now or datetime.now(UTC),
        "job": job,
        "products": quality.products,
        "rejected": quality.rejected,
        "changed": quality.changed,
        "sane": quality.sane,
        "coverage": orjson.dumps(quality.coverage).decode(),
        "score": quality.score,
        "fall": quality.fall,
    }
    cursor.execute(query("save_quality"), values)


def measure_sites(
    database_url: str,
    site_id: str | None = None,
    *,
    since: datetime | None = None,
    keep: bool = False,
) -> list[Quality]:
    """Measure one site, or all.

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
        qualities = [measure(cursor, name, since) for (name,) in cursor.fetchall()]
        if keep:
            for quality in qualities:
                save(cursor, quality)
        return qualities

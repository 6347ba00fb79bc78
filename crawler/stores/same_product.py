"""Twins: one product under several keys, for instance because one of its pages lacks the SKU.

Twins share, in order of trust: the GTIN, the canonical URL, the URL. Different SKUs or GTINs
overrule all of these, because a shop may sell another product at an old URL. A page that has the
name of before has the product of before, whatever its number: the shop writes numbers otherwise
since, shows another variant's, or the number of the visit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import orjson
from psycopg2 import extensions

from crawler.stores.queries import query
from crawler.stores.rows import ProductRow

Key = tuple[str, str]


def twin(row: ProductRow, candidates: Iterable[tuple[str, str | None, str | None]]) -> str | None:
    """Choose the product that a page shows among candidates (external_id, sku, gtin)."""
    matches = [
        (gtin is not None and gtin == row.gtin, external_id)
        for external_id, sku, gtin in candidates
        if not _differ(sku, row.sku) and not _differ(gtin, row.gtin)
    ]
    # An equal GTIN first, then the smallest key, so that every writer chooses the same.
    return min(matches, key=lambda match: (not match[0], match[1]))[1] if matches else None


def _differ(code: str | None, other_code: str | None) -> bool:
    return code is not None and other_code is not None and code != other_code


def _name_of(row: ProductRow) -> str:
    return str(orjson.loads(row.body).get("name") or "")


def find_twins(cursor: extensions.cursor, rows: Sequence[ProductRow]) -> dict[Key, str]:
    """Return the stored key for each of these unknown keys whose product is stored.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    if not rows:
        return {}
    by_gtin: list[dict[str, object]] = []
    by_url: list[dict[str, object]] = []
    by_name: list[dict[str, object]] = []
    for i, row in enumerate(rows):
        if row.gtin is not None:
            by_gtin.append({"i": i, "s": row.site_id, "g": row.gtin})
        if not row.is_of_box and (row.sku is None or row.canonical_url not in {None, row.url}):
            # A page with a SKU and its own canonical URL is no twin by URL; most pages are such.
            by_url += [
                {"i": i, "s": row.site_id, "u": url} for url in {row.url, row.canonical_url} if url
            ]
        if row.sku is not None and row.judged:
            known = {"i": i, "s": row.site_id, "u": row.url}
            by_name.append({**known, "n": _name_of(row), "t": row.scraped_at})
    candidates: dict[int, list[tuple[str, str | None, str | None]]] = {}
    for name, records in (
        ("twins_by_gtin", by_gtin),
        ("twins_by_url", by_url),
        ("twins_by_name", by_name),
    ):
        if records:
            cursor.execute(query(name), {"rows": orjson.dumps(records).decode()})
            for i, *candidate in cursor.fetchall():
                candidates.setdefault(i, []).append(tuple(candidate))
    return {
        (rows[i].site_id, rows[i].external_id): key
        for i, twins in candidates.items()
        if (key := twin(rows[i], twins)) is not None
    }

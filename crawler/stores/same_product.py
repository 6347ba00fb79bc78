"""Twins: the same product under several keys, as a page without a SKU may show one that has it.

The rule, in order of trust: one GTIN, one canonical address, one address. Two SKUs, or two GTINs,
that differ outweigh all of that: a shop may sell another thing under an old address.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import orjson
from psycopg2 import extensions

from crawler.stores.queries import query
from crawler.stores.rows import ProductRow

Key = tuple[str, str]


def twin(row: ProductRow, candidates: Iterable[tuple[str, str | None, str | None]]) -> str | None:
    """Choose the key of the product that a page shows: (external_id, sku, gtin) of each."""
    fitting = [
        (gtin is not None and gtin == row.gtin, external_id)
        for external_id, sku, gtin in candidates
        if not _differ(sku, row.sku) and not _differ(gtin, row.gtin)
    ]
    # By GTIN first; then the smallest key, so that every writer chooses the same.
    return min(fitting, key=lambda found: (not found[0], found[1]))[1] if fitting else None


def _differ(one: str | None, two: str | None) -> bool:
    return one is not None and two is not None and one != two


def find_twins(cursor: extensions.cursor, rows: Sequence[ProductRow]) -> dict[Key, str]:
    """Ask which of these unknown keys stand for known products; returns the known keys.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    if not rows:
        return {}
    by_gtin: list[dict[str, object]] = []
    by_url: list[dict[str, object]] = []
    for i, row in enumerate(rows):
        if row.gtin is not None:
            by_gtin.append({"i": i, "s": row.site_id, "g": row.gtin})
        if row.sku is None or row.canonical_url not in {None, row.url}:
            # What has a SKU and its own address is itself; most pages are not asked about.
            by_url += [
                {"i": i, "s": row.site_id, "u": url} for url in {row.url, row.canonical_url} if url
            ]
    candidates: dict[int, list[tuple[str, str | None, str | None]]] = {}
    for name, asked in (("twins_by_gtin", by_gtin), ("twins_by_url", by_url)):
        if asked:
            cursor.execute(query(name), {"rows": orjson.dumps(asked).decode()})
            for i, *candidate in cursor.fetchall():
                candidates.setdefault(i, []).append(tuple(candidate))
    return {
        (rows[i].site_id, rows[i].external_id): key
        for i, found in candidates.items()
        if (key := twin(rows[i], found)) is not None
    }

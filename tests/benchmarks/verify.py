"""Whether all sides do the same job: each crawls a small shop, and its products are judged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from typing import Any

import attrs
import psycopg2
from psycopg2.extras import RealDictCursor

from crawler.demo.catalogue import catalogue
from crawler.demo.judge import judge
from tests.benchmarks.measure import run
from tests.benchmarks.stage import SIDES, Stage, measure
from tests.benchmarks.target import target

WHOLE = ("review_count",)
DECIMAL = ("price", "regular_price")


def verify(names: Sequence[str], stage: Stage, products: int = 200) -> dict[str, dict[str, Any]]:
    """Pages, products, missing and wrong ones of each side; to be asked on an empty database."""
    found = {}
    for name in names:
        with target(products=products, page_kb=5) as site:
            if name.startswith("plain"):
                pages, rows = _plain(name, stage, site)
            else:
                result = measure(name, stage, site)
                pages, rows = result.answers, _stored(stage, name, result.run)
        by_sku = {row["external_id"]: row for row in rows}
        verdict = judge(catalogue(products), list(by_sku.values()))
        found[name] = {
            "pages": pages,
            "products": len(by_sku),
            "missing": len(verdict.missing),
            "wrong": len(verdict.wrong),
            "first_wrong": next(iter(verdict.wrong), ""),
        }
    return found


def _plain(name: str, stage: Stage, site: Any) -> tuple[int, list[dict[str, Any]]]:
    """A side that stores nothing says what it found in a file."""
    command = SIDES[name](stage, site.url, name, {})
    items = stage.folder / f"{name}.jsonl"
    command = attrs.evolve(command, arguments=[*command.arguments, "--items", str(items)])
    run([command], stage.folder)
    lines = items.read_text("utf-8").splitlines()
    return int(site.stats()["answers"]), rows_of(json.loads(line) for line in lines)


def _stored(stage: Stage, name: str, run_name: str) -> list[dict[str, Any]]:
    with (
        closing(psycopg2.connect(stage.database_url)) as connection,
        connection.cursor(cursor_factory=RealDictCursor) as cursor,
    ):
        if name == "seine":
            cursor.execute("SELECT * FROM products")
            return [dict(row) for row in cursor.fetchall()]
        cursor.execute("SELECT item FROM bench_rows WHERE run = %s", (run_name,))
        return rows_of(row["item"] for row in cursor.fetchall())


def rows_of(items: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Bring what went through JSON back to the types of a row; values stay as they were found."""
    return [_row(item) for item in items]


def _row(item: Mapping[str, Any]) -> dict[str, Any]:
    row = {**item, "external_id": item.get("external_id") or item.get("sku")}
    for field in DECIMAL:
        row[field] = None if row.get(field) is None else Decimal(str(row[field]))
    for field in WHOLE:
        row[field] = None if row.get(field) is None else int(row[field])
    return row

"""Rows a second into PostgreSQL: our writer beside one row per commit and beside COPY and merge.

`python -m tests.benchmarks.upsert --json` prints one JSON object as its last line:
`per_row_ratio` and `copy_ratio` (ours ÷ theirs, the worse of new and unchanged rows, one writer),
and what became of four writers on the same keys. All three write the same table with its indexes
and its trigger, from the same items; with --url to a server of yours, otherwise to an embedded one
with default durability (fsync on).
"""

from __future__ import annotations

import argparse
import io
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from multiprocessing import get_context
from typing import Any

import orjson
import psycopg2

from crawler.items import Product
from crawler.stores import embedded
from crawler.stores.content_hash import digest
from crawler.stores.migrations import migrate
from crawler.stores.products import write_products
from crawler.stores.rows import product_row
from scrapy_seine.sinks.postgres.batches import Limits, Report
from scrapy_seine.sinks.postgres.writer import Writer
from tests.helpers import create_database, drop_database, server_folder

T0 = datetime(2026, 1, 1, tzinfo=UTC)
TEXT = "A lamp of brushed steel with a warm light, made to be looked at and to last. "
COLUMNS = (
    "site_id", "external_id", "url", "name", "price", "currency", "availability", "brand", "sku",
    "gtin", "rating", "review_count", "image", "item", "content_hash", "first_seen", "scraped_at",
    "updated_at",
)  # fmt: skip
MERGE = """
    ON CONFLICT (site_id, external_id) DO UPDATE SET
        url = EXCLUDED.url, name = EXCLUDED.name, price = EXCLUDED.price,
        currency = EXCLUDED.currency, availability = EXCLUDED.availability,
        item = EXCLUDED.item, content_hash = EXCLUDED.content_hash,
        scraped_at = EXCLUDED.scraped_at, updated_at = EXCLUDED.updated_at
    WHERE products.content_hash <> EXCLUDED.content_hash
        AND products.scraped_at < EXCLUDED.scraped_at
"""


def items(numbers: Sequence[int], *, by: int = 0, at: datetime = T0) -> list[Product]:
    """Make products of some 700 bytes of JSON each."""
    return [
        Product(
            url=f"https://shop.example/products/lamp-number-{n}",
            name=f"Lamp number {n} for the töble",
            external_id=f"sku-{n}",
            site_id="bench",
            sku=f"sku-{n}",
            gtin=f"{4000000000000 + n}",
            brand="Acme",
            price=Decimal(n % 1000) + Decimal("0.99") + by,
            currency="EUR",
            availability="InStock",
            description=TEXT * 3,
            images=[f"https://shop.example/images/{n}.jpg"],
            breadcrumbs=["Home", "Light", "Lamps"],
            rating=4.5,
            review_count=12,
            scraped_at=at,
        )
        for n in numbers
    ]


def values(product: Product) -> tuple[Any, ...]:
    """Lay an item out as columns."""
    row = product_row(product, digest(product))
    p, at = product, product.scraped_at
    return (
        p.site_id, p.external_id, p.url, p.name, p.price, p.currency, p.availability, p.brand,
        p.sku, p.gtin, p.rating, p.review_count, p.images[0], row.body.decode(),
        "\\x" + row.content_hash.hex(), at, at, at,
    )  # fmt: skip


def per_row(url: str, made: Sequence[Product]) -> None:
    """One row per commit, as in most tutorials."""
    places = ", ".join(["%s"] * len(COLUMNS))
    statement = f"INSERT INTO products ({', '.join(COLUMNS)}) VALUES ({places}) {MERGE}"
    with closing(psycopg2.connect(url)) as connection:
        for product in made:
            with connection.cursor() as cursor:
                cursor.execute(statement, values(product))
            connection.commit()


def copied(url: str, made: Sequence[Product], size: int = 2000) -> None:
    """COPY into a temporary table, then merge: the fastest way that PostgreSQL documents."""
    names = ", ".join(COLUMNS)
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        # Of the columns alone: a column that the schema gains with NOT NULL is none of theirs.
        cursor.execute(
            f"CREATE TEMP TABLE stage ON COMMIT DELETE ROWS AS"
            f" SELECT {names} FROM products WITH NO DATA"
        )
        for start in range(0, len(made), size):
            lines = ("\t".join(map(_escaped, values(p))) for p in made[start : start + size])
            text = io.StringIO("\n".join(lines) + "\n")
            cursor.copy_expert(f"COPY stage ({names}) FROM STDIN", text)
            cursor.execute(f"INSERT INTO products ({names}) SELECT {names} FROM stage {MERGE}")
            connection.commit()


def _escaped(value: Any) -> str:
    if value is None:
        return r"\N"
    text = str(value)
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def ours(url: str, made: Sequence[Product]) -> None:
    """The writer's thread, from the items to the last ticket."""
    ended = threading.Event()
    left = len(made)

    def done(report: Report) -> None:
        nonlocal left
        left -= len(report.stored)
        if report.failed:
            raise AssertionError("the writer failed")
        if left <= 0:
            ended.set()

    window = timedelta(hours=1)
    writer = Writer(
        url,
        {"products": lambda cursor, rows: write_products(cursor, rows, window)},
        on_report=done,
        on_pause=lambda on: None,
        replacement_of=lambda table, row, reason: None,
        limits=Limits(refuse_bytes=1 << 40),
    )
    writer.start()
    for product in made:
        row = product_row(product, digest(product))
        writer.put("products", row, len(row.body), "ticket")
    ended.wait()
    writer.close(10)


def _worker(way: str, url: str, numbers: Sequence[int], by: int, at: datetime) -> float:
    made = items(numbers, by=by, at=at)
    began = time.perf_counter()
    WAYS[way](url, made)
    return time.perf_counter() - began


WAYS: dict[str, Callable[..., None]] = {"per_row": per_row, "copy": copied, "ours": ours}


@contextmanager
def database(server: str) -> Iterator[str]:
    """Give a migrated database for one measurement."""
    url = create_database(server)
    migrate(url)
    try:
        yield url
    finally:
        drop_database(server, url)


def measure(server: str, way: str, rows: int) -> dict[str, float]:
    """Rows a second of one writer: new rows, and the same rows again."""
    with database(server) as url:
        new = _worker(way, url, range(rows), 0, T0)
        same = _worker(way, url, range(rows), 0, T0 + timedelta(minutes=1))
    return {"new": round(rows / new), "unchanged": round(rows / same)}


def measure_four(server: str, way: str, rows: int) -> dict[str, float]:
    """Rows a second of four processes with keys of their own."""
    with database(server) as url, ProcessPoolExecutor(4, get_context("spawn")) as pool:
        shares = [range(i, rows, 4) for i in range(4)]
        list(pool.map(len, shares))  # processes are up before the clock starts
        found = {}
        for name, minute in (("new", 0), ("unchanged", 1)):
            at = T0 + timedelta(minutes=minute)
            jobs = [pool.submit(_worker, way, url, share, 0, at) for share in shares]
            found[name] = round(rows / max(job.result() for job in jobs))
    return found


def same_keys(server: str, rows: int) -> dict[str, Any]:
    """Four processes write the same keys in different orders; the newest must be left."""
    with database(server) as url, ProcessPoolExecutor(4, get_context("spawn")) as pool:
        jobs = []
        for i in range(4):
            numbers = random.Random(i).sample(range(rows), rows)
            jobs.append(
                pool.submit(_worker, "ours", url, numbers, i + 1, T0 + timedelta(seconds=i))
            )
        seconds = max(job.result() for job in jobs)
        with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*), count(*) FILTER (WHERE scraped_at = %s AND price ="
                " (substr(external_id, 5)::integer %% 1000) + 4.99) FROM products",
                (T0 + timedelta(seconds=3),),
            )
            found, right = cursor.fetchone() or (0, 0)
            cursor.execute(
                "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
            )
            deadlocks = (cursor.fetchone() or [None])[0]
    return {
        "rows_per_second": round(rows * 4 / seconds),
        "deadlocks": deadlocks,
        "right_rows": right,
        "wrong_rows": rows - right + abs(found - rows),
    }


def run(server: str, rows: int) -> dict[str, Any]:
    """Measure everything."""
    few = max(rows // 10, 500)
    result: dict[str, Any] = {"rows": rows}
    # Each turn measures all three one after the other, and the best turn of each counts: what
    # else the machine does then weighs on none of them alone.
    for way, number in (("per_row", few), ("copy", rows), ("ours", rows)) * 2:
        found = measure(server, way, number)
        best = result.setdefault(way, found)
        result[way] = {key: max(best[key], found[key]) for key in found}
    result["ours_4_writers"] = measure_four(server, "ours", rows)
    result["copy_4_writers"] = measure_four(server, "copy", rows)
    result["same_keys"] = same_keys(server, few * 2)
    one = result["ours"]
    for name, way in (("per_row_ratio", "per_row"), ("copy_ratio", "copy")):
        result[name] = round(min(one[k] / result[way][k] for k in one), 2)
    return result


def show(result: dict[str, Any]) -> None:
    """Print a table."""
    print(f"{'rows per second':<18}{'new':>10}{'unchanged':>12}")
    for name in ("per_row", "copy", "ours", "copy_4_writers", "ours_4_writers"):
        print(f"{name:<18}{result[name]['new']:>10,}{result[name]['unchanged']:>12,}")
    same = result["same_keys"]
    print(
        f"four writers, same keys: {same['rows_per_second']:,} rows/s, {same['deadlocks']}"
        f" deadlocks, {same['wrong_rows']} wrong rows"
    )


def main() -> int:
    """Measure, print, and fail where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--json", action="store_true", help="print one JSON object as last line")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--url", default="", help="a server's URL; default: an embedded server")
    options = parser.parse_args()
    if options.url:
        result = run(options.url, options.rows)
    else:
        with server_folder() as folder:
            servers = embedded.start(folder, which=("postgres",))
            result = run(servers.database_url, options.rows)
    show(result)
    if options.json:
        print(orjson.dumps(result).decode())
    same = result["same_keys"]
    good = result["per_row_ratio"] >= 12 and result["copy_ratio"] >= 0.7
    return 0 if good and not same["deadlocks"] and not same["wrong_rows"] else 1


if __name__ == "__main__":
    sys.exit(main())

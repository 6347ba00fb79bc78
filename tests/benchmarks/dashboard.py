"""How long each page of the dashboard takes over a million products.

`python -m tests.benchmarks.dashboard --json` fills an embedded PostgreSQL with products, changes of
prices and a day's attempts, asks each page some times over HTTP, and prints one JSON object as its
last line: milliseconds by page, the best of some, the milliseconds of CPU of the dashboard's own
process among them, and the slowest page. --rows says how many products; a tenth of them are of a
site that was crawled long before the others, and every third has changed its price in the last
week. --at URL measures a database that was filled before.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import psycopg2
from aiohttp.test_utils import TestClient, TestServer

from crawler.dashboard.app import make_app
from crawler.dashboard.config import DashboardConfig
from crawler.stores import embedded
from crawler.stores.migrations import migrate
from crawler.stores.store_endpoints import Endpoints, redis_client
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.runs import KEPT
from tests.benchmarks.server import redis_server
from tests.helpers import create_database, server_folder

#: A page that takes longer is a defect, ms.
LIMIT_MS = 100.0
ROUNDS = 5
CRAWL = "bench"
#: What came of requests, of which a run keeps the numbers at its beginning.
TOTALS = ("pushed", "duplicate", "leased", "done", "ignored", "retried", "buried", "reaped")
SITES = 200
_FILL = (
    "INSERT INTO sites (site_id) SELECT 'shop-' || n FROM generate_series(0, %(sites)s) n",
    """
    INSERT INTO products (site_id, external_id, url, name, price, currency, availability, brand,
        sku, image, item, content_hash, first_seen, scraped_at, updated_at)
    SELECT CASE WHEN n <= %(rows)s / 10 THEN 'shop-0' ELSE 'shop-' || (1 + n * 7 %% %(sites)s) END,
        'SKU-' || n, 'https://shop.example/products/lamp-' || n,
        (ARRAY['Oak', 'Steel', 'Linen', 'Copper', 'Glass'])[1 + n %% 5] || ' '
            || (ARRAY['lamp', 'chair', 'table', 'kettle', 'mirror', 'rug'])[1 + n %% 6]
            || ' model ' || n,
        CASE WHEN n %% 50 > 0 THEN (n::bigint * 7919 %% 99900) / 100.0 END, 'EUR',
        CASE WHEN n %% 1000 = 0 THEN 'Discontinued' WHEN n %% 10 = 0 THEN 'OutOfStock'
             ELSE 'InStock' END,
        'Brand ' || n %% 300, 'AB-' || n, 'https://shop.example/i/' || n || '.jpg',
        jsonb_build_object('name', 'Lamp ' || n, 'price', '9.99', 'description', repeat('x', 300)),
        '', now() - interval '60 days' + n * interval '1 second', now(),
        CASE WHEN n <= %(rows)s / 10 THEN now() - interval '30 days' ELSE now() END
            - n * interval '10 milliseconds'
    FROM generate_series(1, %(rows)s) n
    """,
    """
    INSERT INTO product_versions (site_id, external_id, field, old, new, changed_at)
    SELECT site_id, external_id, 'price', to_jsonb(price * 1.1), to_jsonb(price),
        now() - (row_number() OVER () %% 600000) * interval '1 second'
    FROM products WHERE price IS NOT NULL AND hashtextextended(external_id, 0) %% 3 = 0
    """,
    """
    INSERT INTO attempts (at, url, domain, site_id, worker, lane, status, outcome, bytes,
        duration_ms)
    SELECT now() - n * interval '80 milliseconds', 'https://shop.example/products/lamp-' || n,
        'd' || n %% 50 || '.example', 'shop-' || n %% 50, 'w', 'plain', 200, 'ok', 9000, 80
    FROM generate_series(1, %(rows)s) n
    """,
)
PAGES = (
    *("/", "/?range=24+h", "/?range=7+d", "/domains", "/workers", "/frontier", "/dead", "/jobs"),
    *("/attempts", "/attempts?domain=d7.example", "/attempts?outcome=blocked", "/proxies"),
    *("/quality", "/products", "/products?order=cheapest", "/products?order=dearest"),
    *("/products?order=newest", "/products?site=shop-0", "/products?site=shop-7&order=cheapest"),
    *("/products?site=shop-0&order=newest", "/products?site=nothing", "/products?stock=InStock"),
    *("/products?stock=OutOfStock", "/products?stock=Discontinued", "/products?stock=PreOrder"),
    *("/products?stock=OutOfStock&order=cheapest", "/products?stock=Discontinued&order=newest"),
    *("/products?q=lamp", "/products?q=model+500001", "/products?q=copper+kettle&order=cheapest"),
    *("/products?q=AB-77", "/products?q=nothing+like+it", "/products?q=lamp&site=shop-0"),
    *("/products?move=fell", "/products?move=rose", "/products?move=fell&site=shop-0"),
    *("/products?move=fell&site=shop-7", "/products?move=fell&site=nothing"),
    *("/products?move=fell&stock=Discontinued", "/products?move=fell&q=copper+kettle"),
    *("/products/shop-0/SKU-7", "/runs", "/runs/1000"),
)


def fill(url: str, rows: int) -> None:
    """Write the tables, and have the server learn of their sizes."""
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT seine_attempt_days(1, 30)")
        for statement in _FILL:
            cursor.execute(statement, {"rows": rows, "sites": SITES})
        connection.commit()
        connection.autocommit = True
        cursor.execute("VACUUM ANALYZE")


async def begin_runs(redis_url: str) -> None:
    """Begin as many runs of the crawl as are kept."""
    redis = redis_client(redis_url)
    for number in range(KEPT):
        start = {"name": f"run of day {number}", "totals": dict.fromkeys(TOTALS, 100 * number)}
        await Frontier(redis, CRAWL).run(
            "begin_run", number, str(start["name"]), orjson.dumps(start), KEPT
        )
    await redis.aclose()


async def measure(client: TestClient[Any, Any], path: str) -> tuple[tuple[float, float], str]:
    """Ask for a page some times; gives its least time and CPU in ms, and the page."""
    times, text = [], ""
    for _ in range(ROUNDS):
        began, cpu_s = time.perf_counter(), time.process_time()
        async with client.get(path) as response:
            text = await response.text()
        times.append((time.perf_counter() - began, time.process_time() - cpu_s))
        if response.status != 200:
            sys.exit(f"{path} is {response.status}: {text[-300:]}")
    took, spent = zip(*times, strict=True)
    return (round(1000 * min(took), 1), round(1000 * min(spent), 1)), text


async def measure_all(redis_url: str, database_url: str) -> dict[str, tuple[float, float]]:
    """Time each page, and for a list the page after it as well."""
    await begin_runs(redis_url)
    app = make_app(DashboardConfig(crawl=CRAWL), Endpoints(redis_url, database_url))
    found: dict[str, tuple[float, float]] = {}
    async with TestClient(TestServer(app)) as client:
        for path in PAGES:
            found[path], text = await measure(client, path)
            onward = re.search(r'href="(/products\?[^"]*after=[^"]+)"', text)
            if onward:
                href = onward[1].replace("&amp;", "&")
                found[f"{path} → next"], _ = await measure(client, href)
    return found


def main() -> int:
    """Fill, measure, print; 1 where a page takes longer than LIMIT_MS."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--at", default="", metavar="URL", help="a database that is filled already")
    options = parser.parse_args()
    with server_folder() as folder, redis_server() as redis_url:
        url = options.at or _filled(folder, options.rows)
        found = asyncio.run(measure_all(redis_url, url))
    for path, (ms, cpu_ms) in sorted(found.items(), key=lambda one: -one[1][0]):
        print(f"{ms:8.1f} ms  {cpu_ms:6.1f} ms CPU here  {path}")
    slowest = max(ms for ms, _ in found.values())
    if options.json:
        times = {path: ms for path, (ms, _) in found.items()}
        load = round(os.getloadavg()[0], 1)
        result = {"rows": options.rows, "ms": times, "slowest_ms": slowest, "load": load}
        print(orjson.dumps(result).decode())
    return int(slowest > LIMIT_MS)


def _filled(folder: Path, rows: int) -> str:
    server = embedded.start(folder, which=("postgres",)).database_url or ""
    url = create_database(server)
    began = time.perf_counter()
    migrate(url)
    fill(url, rows)
    print(f"filled with {rows:,} products in {time.perf_counter() - began:.0f} s")
    return url


if __name__ == "__main__":
    sys.exit(main())

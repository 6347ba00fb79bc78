"""A steady crawl of the demo shop, over and over, by workers that stay: nothing may grow.

Each round the whole shop is crawled, its rows are judged and removed, and the crawl is cleared
under the running fleet. Memory is compared between the first samples after the warm-up, a sixth of
the time but 5 minutes at most, and the last ones.

usage: python -m tests.benchmarks.soak [--minutes 30] [--products 500] [--workers 2]
       (or MINUTES in the environment, as `make soak MINUTES=30` does)
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import attrs
import psutil
from redis.asyncio import Redis

from crawler.demo.catalogue import catalogue
from crawler.demo.judge import judge
from crawler.demo.shop_process import served
from crawler.demo.stored_rows import forget, stored_products
from crawler.demo.worker_processes import Fleet, fleet
from crawler.stores import embedded
from crawler.stores.migrations import migrate
from crawler.stores.store_endpoints import redis_client
from scrapy_seine.frontier.frontier import Frontier
from tests.benchmarks.processes import Stores, client_connections, private_mb, tree
from tests.helpers import server_folder, wait_until_async

CRAWL = "soak"
#: What must stay as it is.
GROWING = (
    "worker_mb",
    "files",
    "redis_mb",
    "redis_connections",
    "postgres_mb",
    "postgres_connections",
)
#: A round that takes longer has lost something, in seconds.
ROUND_S = 300


@attrs.frozen(kw_only=True)
class Sample:
    """What the fleet uses at the end of a round."""

    at_s: float
    worker_mb: float
    """Resident memory of the largest worker."""
    files: int
    """Open files of the worker with most."""
    redis_mb: float
    """What Redis' data take."""
    redis_connections: int
    postgres_mb: float
    """Memory of all PostgreSQL processes but its shared buffers, which fill up to their setting."""
    postgres_connections: int
    pages: int
    lost: int
    """Products missing or wrong."""


async def _round(
    redis: Redis, frontier: Frontier, shop: str, database: str, products: int
) -> tuple[int, int]:
    """Crawl the shop once; returns the pages done so far, and the products lost."""
    before = (await frontier.counts()).totals.get("done", 0)
    seed = json.dumps({"url": shop, "meta": {"site_id": CRAWL}})
    await redis.lpush(f"{CRAWL}:start_urls", seed)

    async def complete() -> bool:
        counts = await frontier.counts()
        return counts.undone == 0 and counts.totals.get("done", 0) > before

    await wait_until_async(complete, ROUND_S, "the shop is crawled once more")
    verdict = judge(catalogue(products), stored_products(database, CRAWL))
    done = (await frontier.counts()).totals["done"]
    await frontier.clear()
    forget(database, CRAWL)
    return done, len(verdict.missing) + len(verdict.wrong)


async def _soak(args: argparse.Namespace, redis_url: str, database: str, workers: Fleet) -> None:
    for _ in range(args.workers):
        workers.start()
    stores = Stores.behind(redis_url, database)
    redis = redis_client(redis_url)
    frontier, samples, began = Frontier(redis, CRAWL), [], time.monotonic()
    with served(products=args.products) as shop:
        while time.monotonic() - began < 60 * args.minutes:
            pages, lost = await _round(redis, frontier, shop.url, database, args.products)
            use = await _use(redis, workers, stores, database)
            at_s = round(time.monotonic() - began, 1)
            samples.append(Sample(at_s=at_s, pages=pages, lost=lost, **use))
            print(json.dumps(attrs.asdict(samples[-1])), file=sys.stderr, flush=True)
            if len(workers.alive) < args.workers:
                raise RuntimeError(f"a worker ended; see {workers.folder}")
    await redis.aclose()
    print(json.dumps(report(samples, 60 * args.minutes)))


async def _use(redis: Redis, workers: Fleet, stores: Stores, database: str) -> dict[str, Any]:
    processes = [psutil.Process(worker.pid) for worker in workers.alive]
    found = await redis.info()
    return {
        "worker_mb": round(max(p.memory_info().rss for p in processes) / 1e6, 1),
        "files": max(p.num_fds() for p in processes),
        "redis_mb": round(found["used_memory"] / 1e6, 2),
        "redis_connections": found["connected_clients"],
        "postgres_mb": round(private_mb(tree(stores.postgres)), 1),
        "postgres_connections": client_connections(database),
    }


def report(samples: Sequence[Sample], seconds: float) -> dict[str, float]:
    """Compare the first samples after the warm-up with the last ones."""
    warm_up_s = min(300, seconds / 6)
    warm = [s for s in samples if s.at_s >= warm_up_s] or samples
    tenth = max(1, len(warm) // 10)
    first, last = warm[:tenth], warm[-tenth:]

    def growth(name: str) -> float:
        before, after = (median(getattr(s, name) for s in part) for part in (first, last))
        return round(100 * (after / before - 1), 1)

    return {
        "minutes": round(seconds / 60, 1),
        "warm_up_s": warm_up_s,
        "rounds": len(samples),
        "pages": samples[-1].pages,
        "lost": sum(s.lost for s in samples),
        **{name: getattr(last[-1], name) for name in GROWING},
        **{f"{name}_growth_percent": growth(name) for name in GROWING},
    }


def main() -> None:
    """Run the soak, and print its report as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    minutes = float(os.environ.get("MINUTES") or 30)
    parser.add_argument("--minutes", type=float, default=minutes)
    parser.add_argument("--products", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    logs = Path(tempfile.mkdtemp(prefix="seine-soak-"))
    settings = {
        "SEINE_CRAWL": CRAWL,
        "REDIS_START_URLS_KEY": "%(crawl)s:start_urls",
        "SEINE_KEEP_ALIVE": 1,
        "SEINE_FRESH_SECONDS": 0,  # rows are removed after each round: write all of them anew
    }
    with server_folder() as folder:
        servers = embedded.start(folder)
        migrate(servers.database_url)
        stores = {"REDIS_URL": servers.redis_url, "DATABASE_URL": servers.database_url}
        with fleet(settings, stores, logs) as workers:
            asyncio.run(_soak(args, servers.redis_url, servers.database_url, workers))


if __name__ == "__main__":
    main()

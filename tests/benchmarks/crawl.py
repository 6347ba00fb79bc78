"""The whole job, queue to row: Seine beside plain Scrapy and scrapy-redis on the same site.

Each round runs all sides one after the other, so that they share the machine's moods; medians of
the rounds are compared. CPU is the whole process', start-up included, as the kernel counts it.

usage: python -m tests.benchmarks.crawl [--products 3000] [--rounds 3] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from crawler.demo.served import served
from crawler.stores import embedded
from crawler.stores.migrations import migrate
from tests.benchmarks.measure import Cost, run
from tests.helpers import server_folder

Side = Callable[[], Cost]


def _sides(base: str, servers: embedded.Servers, logs: Path) -> dict[str, Side]:
    redis, database = servers.redis_url, servers.database_url

    def seine() -> Cost:
        environment = {
            "REDIS_URL": redis,
            "DATABASE_URL": database,
            "SEINE_CRAWL": f"bench-{uuid.uuid4().hex[:8]}",
        }
        return run(["-m", "scrapy", "crawl", "catalog", "-a", f"url={base}"], logs, environment)

    def plain() -> Cost:
        return run(["-m", "tests.benchmarks.sides.plain", base], logs)

    def scrapy_redis() -> Cost:
        module = "tests.benchmarks.sides.scrapy_redis"
        name = f"bench-{uuid.uuid4().hex[:8]}"
        return run(["-m", module, base, redis, database, name], logs)

    return {"seine": seine, "plain": plain, "scrapy_redis": scrapy_redis}


def _measured(sides: dict[str, Side], rounds: int) -> dict[str, list[Cost]]:
    costs: dict[str, list[Cost]] = {name: [] for name in sides}
    for number in range(rounds):
        for name, side in sides.items():
            cost = side()
            costs[name].append(cost)
            print(
                f"round {number + 1}  {name:12}  {cost.pages:6} pages  "
                f"{1000 * cost.cpu_s / cost.pages:5.2f} ms CPU a page  "
                f"{cost.pages / cost.wall_s:5.0f} pages/s  {cost.rss_mb:4.0f} MB",
                flush=True,
            )
    return costs


def _cpu_ms(costs: Sequence[Cost]) -> float:
    return median(1000 * cost.cpu_s / cost.pages for cost in costs)


def report(costs: dict[str, list[Cost]]) -> dict[str, Any]:
    """The figures of the last line."""
    ours = costs["seine"]
    trips = sum(cost.stat("seine/redis_round_trips") for cost in ours)
    pages = sum(cost.pages for cost in ours)
    figures = {
        "cpu_ratio_plain": _cpu_ms(ours) / _cpu_ms(costs["plain"]),
        "cpu_ratio_scrapy_redis": _cpu_ms(ours) / _cpu_ms(costs["scrapy_redis"]),
        "cpu_ms_per_page": _cpu_ms(ours),
        "cpu_ms_per_page_plain": _cpu_ms(costs["plain"]),
        "cpu_ms_per_page_scrapy_redis": _cpu_ms(costs["scrapy_redis"]),
        "pages_per_s": median(cost.pages / cost.wall_s for cost in ours),
        "redis_round_trips_per_page": trips / pages,
        "rss_mb": max(cost.rss_mb for cost in ours),
        "items": ours[-1].stat("item_scraped_count"),
        "items_plain": costs["plain"][-1].stat("item_scraped_count"),
    }
    return {name: round(value, 3) for name, value in figures.items()}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print a line a run, and the figures as the last line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.crawl", description=__doc__)
    parser.add_argument("--products", type=int, default=3000)
    parser.add_argument("--page-kb", type=float, default=20)
    parser.add_argument("--latency-ms", type=float, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="only the last line, as JSON")
    args = parser.parse_args(argv)
    shop = served(products=args.products, page_kb=args.page_kb, latency_ms=args.latency_ms)
    with shop as site, server_folder() as folder:
        servers = embedded.start(folder)
        migrate(servers.database_url)
        sides = _sides(site.url, servers, folder.parent / "log")
        figures = report(_measured(sides, args.rounds))
    print(json.dumps(figures))
    sys.stdout.flush()


if __name__ == "__main__":
    main()

"""What ten days of a shop cost, and how right its stored prices are, by the way of crawling again.

`python -m tests.benchmarks.recrawl --json` prints one JSON object as its last line. The demo shop
changes from day to day: of ten products one has another price each day, two after five days, the
others never; one of fifteen changes its stock, some go, some come. Each day it is crawled once by a
real worker on a simulated day (tests.benchmarks.sides.later), in four ways:

* `full`: everything again, as on the first day;
* `daily`: known products each day, on condition (304);
* `rate`: known products by how often they change, on condition;
* `watch`: the same, and the sitemap is watched for news.

`fresh` is the share of the shop's products whose price is in the database at the day's end,
`rows_fresh` the share of the rows, gone ones left out, that have the shop's price; both are means
over the days after the first. `share` is the bytes of these days ÷ those of `full`: bodies, and
HEADERS bytes for each answer.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import orjson
import psycopg2
import time_machine

from crawler.catalogue.coordinator.leader import Coordinator
from crawler.catalogue.jobs.model import Plan
from crawler.demo.catalogue import catalogue
from crawler.demo.shop_process import ServedShop, served
from crawler.stores import embedded
from crawler.stores.migrations import migrate
from crawler.stores.store_endpoints import redis_client
from tests.benchmarks.measure import Command, run
from tests.benchmarks.server import free_port, redis_server
from tests.helpers import create_database, drop_database, server_folder

OPENED = date(2026, 12, 1)
DAY_S = 86_400.0
#: What an answer costs beside its body: status line and headers of the demo shop, rounded up.
HEADERS = 250
#: Share of the bytes that the second and later days may cost.
MOST = 0.4
WAYS = ("full", "daily", "rate", "watch")


@attrs.frozen(kw_only=True)
class Day:
    """One simulated day's crawl."""

    requests: int
    unchanged: int
    size: int
    fresh: float
    rows_fresh: float


@attrs.define
class Shop:
    """One way of crawling, day by day."""

    way: str
    products: int
    page_kb: float
    port: int
    redis_url: str
    database_url: str
    folder: Path

    @property
    def url(self) -> str:
        """The shop's front page, the same each day."""
        return f"http://127.0.0.1:{self.port}/"

    def plan(self) -> Plan:
        """What the coordinator does in this way."""
        return Plan(
            site_id="shop",
            seeds=(self.url,),
            sitemaps=(f"{self.url}sitemap.xml",) if self.way == "watch" else (),
            watch_s=DAY_S,
            recrawl_s=0 if self.way == "full" else DAY_S if self.way == "daily" else 7 * DAY_S,
        )

    def live(self, day: int) -> Day:
        """Crawl on one day, and compare."""
        first = datetime(OPENED.year, OPENED.month, OPENED.day, 8, tzinfo=UTC)
        # An hour later each day: what has a day's period is due by then.
        now = first + timedelta(days=day - 1, hours=day - 1)
        log = self.folder / f"{self.way}-{day}.log"
        with served(
            log=log,
            products=self.products,
            page_kb=self.page_kb,
            port=self.port,
            day=day,
            opened=OPENED,
        ) as shop:
            with time_machine.travel(now, tick=True):
                left = asyncio.run(self._plan(day))
            if left:
                self._crawl(now + timedelta(minutes=1), day)
            with time_machine.travel(now + timedelta(hours=1), tick=True):
                asyncio.run(self._plan(day, only_close=True))
            return self._judge(shop, day)

    async def _plan(self, day: int, *, only_close: bool = False) -> int:
        """Let the coordinator do what is due; returns what is left to fetch."""
        redis = redis_client(self.redis_url)
        coordinator = Coordinator(redis, self.way, self.database_url, [self.plan()])
        jobs = coordinator.jobs
        try:
            if (day == 1 or self.way == "full") and not only_close:
                await jobs.begin(f"shop-full-{day}", site_id="shop", kind="full", urls=(self.url,))
            elif only_close:
                await coordinator._close(datetime.now(UTC))
            else:
                await coordinator.step(datetime.now(UTC))
            return (await coordinator.frontier.counts()).undone
        finally:
            await redis.aclose()

    def _crawl(self, now: datetime, day: int) -> None:
        settings = {
            "SEINE_CRAWL": self.way,
            "SEINE_KEEP_ALIVE": 0,
            "REDIS_START_URLS_KEY": f"{self.way}:start_urls",
        }
        options = [part for pair in settings.items() for part in ("-s", "{}={}".format(*pair))]
        stores = {"REDIS_URL": self.redis_url, "DATABASE_URL": self.database_url}
        command = ["-m", "tests.benchmarks.sides.later", now.isoformat(), "crawl", "catalog"]
        folder = self.folder / f"{self.way}-{day}"
        folder.mkdir()
        environment = {**stores, "SCRAPY_PROJECT": "test"}
        run([Command(arguments=[*command, *options], environment=environment)], folder)

    def _judge(self, shop: ServedShop, day: int) -> Day:
        visits = shop.visits()
        prices = {p.sku: p.price for p in catalogue(self.products, day=day)}
        with closing(psycopg2.connect(self.database_url)) as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT external_id, price FROM products WHERE gone_at IS NULL")
            rows = dict(cursor.fetchall())
        right = sum(prices.get(sku) == price for sku, price in rows.items())
        return Day(
            requests=len(visits),
            unchanged=sum(visit["status"] == 304 for visit in visits),
            size=sum(visit["bytes"] + HEADERS for visit in visits),
            fresh=right / len(prices),
            rows_fresh=right / len(rows),
        )


@contextmanager
def stores() -> Iterator[tuple[str, str]]:
    """A Redis and a PostgreSQL server of the benchmark's own."""
    with server_folder() as folder, redis_server() as redis_url:
        yield redis_url, embedded.start(folder, which=("postgres",)).database_url


def lived(way: str, args: argparse.Namespace, urls: tuple[str, str], folder: Path) -> list[Day]:
    """Live all days in one way."""
    database = create_database(urls[1])
    migrate(database)
    shop = Shop(way, args.products, args.page_kb, free_port(), urls[0], database, folder)
    try:
        days = []
        for day in range(1, args.days + 1):
            days.append(shop.live(day))
            print(way, day, attrs.asdict(days[-1]), file=sys.stderr, flush=True)
        return days
    finally:
        drop_database(urls[1], database)


def summary(days: list[Day]) -> dict[str, Any]:
    """What one way cost and gave, the first day aside."""
    later = days[1:]
    return {
        "bytes": sum(day.size for day in later),
        "requests": sum(day.requests for day in later),
        "unchanged": sum(day.unchanged for day in later),
        "fresh": round(statistics.mean(day.fresh for day in later), 4),
        "rows_fresh": round(statistics.mean(day.rows_fresh for day in later), 4),
        "least_fresh": round(min(day.fresh for day in later), 4),
    }


def measure(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Live all ways and compare."""
    began = time.monotonic()
    with stores() as urls:
        found = {way: summary(lived(way, args, urls, folder)) for way in args.ways.split(",")}
    base = found.get("full", {}).get("bytes")
    for way in found.values():
        way["share"] = round(way["bytes"] / base, 4) if base else None
    return {
        "products": args.products,
        "page_kb": args.page_kb,
        "days": args.days,
        "ways": found,
        "seconds": round(time.monotonic() - began, 1),
    }


def show(result: dict[str, Any]) -> None:
    """Print a table."""
    print(f"{'way':8}{'share of bytes':>16}{'requests':>10}{'304':>8}{'fresh':>9}{'least':>9}")
    for way, found in result["ways"].items():
        share = f"{found['share']:.1%}" if found["share"] is not None else "–"
        print(
            f"{way:8}{share:>16}{found['requests']:>10}{found['unchanged']:>8}"
            f"{found['fresh']:>9.2%}{found['least_fresh']:>9.2%}"
        )


def is_good(result: dict[str, Any]) -> bool:
    """Whether a watched site costs at most MOST of the bytes for prices that are as fresh."""
    full, watched = (result["ways"].get(way) for way in ("full", "watch"))
    if not full or not watched:
        return True
    return bool(watched["share"] <= MOST and watched["fresh"] >= full["fresh"])


def main() -> int:
    """Measure and print; fail where the bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--products", type=int, default=300)
    parser.add_argument("--page-kb", type=float, default=20)
    parser.add_argument("--days", type=int, default=10)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="seine-recrawl-") as folder:
        result = measure(args, Path(folder))
    show(result)
    if args.json:
        print(orjson.dumps(result).decode())
    return 0 if is_good(result) else 1


if __name__ == "__main__":
    sys.exit(main())

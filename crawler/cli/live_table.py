"""The work of `scrapy watch URL`: a worker on one shop, its products as they come, then a CSV."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from crawler.demo.worker_processes import Fleet, fleet
from crawler.reads.crawl_report import plural, time_left
from crawler.reads.database import Database
from crawler.stores.export import Condition, Selection, stream
from crawler.stores.export_formats import FORMATS, opened
from crawler.stores.migrations import migrate
from crawler.stores.postgres_endpoint import Endpoints, redis_client
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Counts
from scrapy_seine.printable import printable
from scrapy_seine.reads import lazy_rich
from scrapy_seine.records import Value

#: Seconds between two looks, and between two lines away from a terminal.
_LOOK_S, _PLAIN_S = 0.5, 5.0
#: Products that the table shows: the newest.
_ROWS = 12
_COUNT = "SELECT count(*) FROM products WHERE site_id = %(site)s AND scraped_at >= %(since)s"
_DOUBTFUL = """
    SELECT count(*) FROM doubtful WHERE site_id = %(site)s AND seen_at >= %(since)s
"""
_NEWEST = """
    SELECT name, price, currency, availability, url, item -> 'confidence' AS confidence
    FROM products
    WHERE site_id = %(site)s AND scraped_at >= %(since)s
    ORDER BY scraped_at DESC, external_id LIMIT %(rows)s
"""


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Wish(Value):
    """What is to be watched."""

    url: str
    site: str
    """The items' site id."""
    output: Path
    kind: str
    """Format of the file."""
    folder: Path
    """Where the worker's log goes."""


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Seen(Value):
    """What was found so far."""

    products: int
    doubtful: int
    """Values that were kept out of them."""
    newest: Sequence[Mapping[str, Any]]
    counts: Counts
    seconds: float

    @property
    def pages(self) -> int:
        """Pages that ended."""
        return self.counts.totals.get("done", 0) + self.counts.dead


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Outcome(Value):
    """How a watch ended."""

    products: int
    pages: int
    seconds: float
    first_s: float | None
    """Seconds until the first product was shown; None: there was none."""
    doubtful: int
    """Values that contradict what the site did, and were kept out."""
    stopped: bool
    """By Ctrl-C."""
    log: Path


def headline(seen: Seen, site: str) -> str:
    """How far it is, in one line."""
    waiting = seen.counts.undone
    rate = seen.pages / seen.seconds if seen.seconds else 0.0
    parts = [plural(seen.products, "product"), plural(seen.pages, "page"), f"{rate:.0f} pages/s"]
    parts += [f"{seen.doubtful:,} doubtful"] if seen.doubtful else []
    if failed := seen.counts.totals.get("retried", 0) + seen.counts.dead:
        parts.append(plural(failed, "failed request"))
    parts += [time_left(waiting / rate, growing=True)] if waiting and rate else []
    return f"{site}: {' | '.join(parts)}"


def table(seen: Seen, site: str) -> lazy_rich.RenderableType:
    """The newest products below the line that says how far it is."""
    made = lazy_rich.Table(box=None, pad_edge=False, header_style="bold", expand=True)
    made.add_column("product", no_wrap=True, overflow="ellipsis", ratio=1)
    made.add_column("price", justify="right", no_wrap=True)
    made.add_column("stock", no_wrap=True)
    made.add_column("sure", justify="right", no_wrap=True)
    for row in seen.newest:
        price = f"{row['price']} {row['currency'] or ''}" if row["price"] is not None else "–"
        name, stock = str(row["name"] or row["url"]), str(row["availability"] or "–")
        sure = least_sure(row["confidence"])
        cells = name, price.strip(), stock, "–" if sure is None else f"{sure:.0%}"
        made.add_row(*map(lazy_rich.Text, cells))
    return lazy_rich.Group(lazy_rich.Text(headline(seen, site), style="bold"), made)


def least_sure(confidence: Mapping[str, float] | None) -> float | None:
    """The confidence of the value of a product that is the least sure; None: none was judged."""
    return min(confidence.values()) if confidence else None


async def watch(
    stores: Callable[[], Endpoints],
    wish: Wish,
    console: lazy_rich.Console,
    environment: Mapping[str, str],
) -> Outcome:
    """Crawl the shop in a crawl of its own until it is complete, or until Ctrl-C.

    *stores* starts or finds the servers. A worker that finds the embedded ones by *environment*
    begins at once: what it imports takes as long as a first start of PostgreSQL.

    Raises:
        StoreError: a store does not answer.
    """
    began, stop, crawl = time.monotonic(), asyncio.Event(), f"watch-{wish.site}-{os.getpid()}"
    for sign in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(sign, stop.set)
    with fleet(_settings(crawl), environment, wish.folder, ("-a", f"url={wish.url}")) as workers:
        if environment:
            workers.start()
        where = stores()
        migrate(where.database_url)
        if not environment:  # a worker makes no schema in servers that are not its own
            workers.environment = _addresses(where)
            workers.start()
        redis, database = redis_client(where.redis_url), Database(where.database_url)
        frontier = Frontier(redis, crawl)
        watcher = Watcher(frontier, database, wish, console, stop, began)
        try:
            return await watcher.watch(workers, where)
        finally:
            await asyncio.to_thread(workers.stop)
            await database.aclose()
            await frontier.erase()
            await redis.aclose()


def _addresses(where: Endpoints) -> Mapping[str, str]:
    return {"REDIS_URL": where.redis_url, "DATABASE_URL": where.database_url}


def _settings(crawl: str) -> Mapping[str, object]:
    """Settings of the worker, for a crawl of its own."""
    return {
        "SEINE_CRAWL": crawl,
        "FRONTIER_PARTITIONS": 1,
        "REDIS_START_URLS_KEY": f"{crawl}:start_urls",
        "SEINE_KEEP_ALIVE": 0,
        "SEINE_FRESH_SECONDS": 0,  # a product that is known is shown as well
    }


@attrs.define(eq=False)
class Watcher:
    """Looks on while one worker crawls."""

    frontier: Frontier
    database: Database
    wish: Wish
    console: lazy_rich.Console
    stop: asyncio.Event
    """Set by Ctrl-C."""
    began: float
    """Before the worker was started; monotonic, s."""
    first_s: float | None = None

    async def watch(self, workers: Fleet, where: Endpoints) -> Outcome:
        """Look on, and write the file."""
        # By the database's clock, as of before the worker: what it stores is younger.
        passed = {"passed": time.monotonic() - self.began}
        since = await self.database.value("SELECT now() - %(passed)s * interval '1 second'", passed)
        seen = await self._look_on(workers, since)
        if seen.products:
            export(where.database_url, self.wish, since)
        return Outcome(
            products=seen.products,
            pages=seen.pages,
            seconds=time.monotonic() - self.began,
            first_s=self.first_s,
            doubtful=seen.doubtful,
            stopped=self.stop.is_set(),
            log=workers.workers[-1].log,
        )

    async def _look_on(self, workers: Fleet, since: Any) -> Seen:
        """Draw what was found until the worker has left."""
        told, console, site = 0.0, self.console, self.wish.site
        with lazy_rich.Live(console=console, auto_refresh=False) as live:
            while True:
                if self.stop.is_set():
                    await asyncio.to_thread(workers.stop)
                alive = bool(workers.alive)
                seen = await self._read(since)
                if console.is_terminal:
                    live.update(table(seen, site), refresh=True)
                elif not alive or seen.seconds - told >= _PLAIN_S:
                    told = seen.seconds
                    console.print(printable(headline(seen, site)), soft_wrap=True)
                if not alive:
                    return seen
                await asyncio.sleep(_LOOK_S)

    async def _read(self, since: Any) -> Seen:
        known = {"site": self.wish.site, "since": since, "rows": _ROWS}
        seen = Seen(
            products=int(await self.database.value(_COUNT, known)),
            doubtful=int(await self.database.value(_DOUBTFUL, known)),
            newest=await self.database.rows(_NEWEST, known),
            counts=await self.frontier.counts(),
            seconds=time.monotonic() - self.began,
        )
        if self.first_s is None and seen.products:
            self.first_s = seen.seconds
        return seen


def export(database_url: str, wish: Wish, since: Any) -> int:
    """Write what was found as CSV; returns its rows.

    Raises:
        ConfigError: the file cannot be written.
    """
    found = Selection.parse("products")
    conditions = (Condition("site_id", "=", wish.site), Condition("scraped_at", ">=", str(since)))
    selection = attrs.evolve(found, conditions=conditions)
    with stream(database_url, selection) as (columns, chunks), opened(str(wish.output)) as out:
        return FORMATS[wish.kind](columns, chunks, out, raw=False)

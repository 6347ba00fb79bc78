"""The work of `scrapy watch URL`: crawl one shop, show its products live, then write a CSV."""

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
from crawler.stores.export_formats import FORMATS, open_output
from crawler.stores.migrations import migrate
from crawler.stores.store_endpoints import Endpoints, redis_client
from scrapy_seine.attrs_bases import Value
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import SeedKeys
from scrapy_seine.frontier.model import Counts
from scrapy_seine.printable import printable
from scrapy_seine.reads import lazy_rich

#: Seconds between two updates of the table, and between two plain lines without a terminal.
_REFRESH_S, _PLAIN_S = 0.5, 5.0
#: Number of products in the table: the newest ones.
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
class Target(Value):
    """The shop to watch, and where its output goes."""

    url: str
    site: str
    """The items' site id."""
    output: Path
    kind: str
    """Format of the file."""
    folder: Path
    """Folder of the worker's log."""


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Progress(Value):
    """Products and pages so far."""

    products: int
    doubtful: int
    """Values that were not stored in the products."""
    newest: Sequence[Mapping[str, Any]]
    counts: Counts
    seconds: float

    @property
    def pages(self) -> int:
        """Pages that were done or given up."""
        return self.counts.totals.get("done", 0) + self.counts.dead


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Outcome(Value):
    """The result of a watch."""

    products: int
    pages: int
    seconds: float
    first_s: float | None
    """Seconds until the first product was shown; None: no product."""
    doubtful: int
    """Values that were not stored, because they contradict the site's other pages."""
    stopped: bool
    """Whether Ctrl-C ended the watch."""
    status: int
    """Exit status of the worker; other than 0: the crawl is not complete."""
    log: Path


def headline(progress: Progress, site: str) -> str:
    """Render the watch's progress in one line."""
    waiting = progress.counts.undone
    rate = progress.pages / progress.seconds if progress.seconds else 0.0
    parts = [
        plural(progress.products, "product"),
        plural(progress.pages, "page"),
        f"{rate:.0f} pages/s",
    ]
    parts += [f"{progress.doubtful:,} doubtful"] if progress.doubtful else []
    if failed_requests := progress.counts.totals.get("retried", 0) + progress.counts.dead:
        parts.append(plural(failed_requests, "failed request"))
    parts += [time_left(waiting / rate, growing=True)] if waiting and rate else []
    return f"{site}: {' | '.join(parts)}"


def table(progress: Progress, site: str) -> lazy_rich.RenderableType:
    """Render the newest products below the headline."""
    products = lazy_rich.Table(box=None, pad_edge=False, header_style="bold", expand=True)
    products.add_column("product", no_wrap=True, overflow="ellipsis", ratio=1)
    products.add_column("price", justify="right", no_wrap=True)
    products.add_column("stock", no_wrap=True)
    products.add_column("sure", justify="right", no_wrap=True)
    for row in progress.newest:
        price = f"{row['price']} {row['currency'] or ''}" if row["price"] is not None else "–"
        name, stock = str(row["name"] or row["url"]), str(row["availability"] or "–")
        confidence = least_sure(row["confidence"])
        cells = name, price.strip(), stock, "–" if confidence is None else f"{confidence:.0%}"
        products.add_row(*map(lazy_rich.Text, cells))
    return lazy_rich.Group(lazy_rich.Text(headline(progress, site), style="bold"), products)


def least_sure(confidence: Mapping[str, float] | None) -> float | None:
    """Return the lowest confidence of a product's values; None: no value was judged."""
    return min(confidence.values()) if confidence else None


async def watch(
    stores: Callable[[], Endpoints],
    target: Target,
    console: lazy_rich.Console,
    environment: Mapping[str, str],
) -> Outcome:
    """Crawl the shop in a crawl of its own until it is complete, or until Ctrl-C.

    *stores* starts or finds the servers. A worker that starts embedded ones by *environment* starts
    at once, because its imports take as long as PostgreSQL's first start.

    Raises:
        StoreError: a store does not answer.
    """
    began, stop, crawl = time.monotonic(), asyncio.Event(), f"watch-{target.site}-{os.getpid()}"
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signal_number, stop.set)
    with fleet(
        _settings(crawl), environment, target.folder, ("-a", f"url={target.url}")
    ) as workers:
        if environment:
            workers.start()
        stores_found = stores()
        migrate(stores_found.database_url)
        if not environment:  # a worker creates the schema in embedded servers only
            workers.environment = _addresses(stores_found)
            workers.start()
        redis, database = redis_client(stores_found.redis_url), Database(stores_found.database_url)
        frontier = Frontier(redis, crawl)
        watcher = Watcher(frontier, database, target, console, stop, began)
        try:
            return await watcher.watch(workers, stores_found)
        finally:
            await asyncio.to_thread(workers.stop)
            await database.aclose()
            await frontier.erase()
            await redis.unlink(SeedKeys(f"{crawl}:start_urls").crawls)
            await redis.aclose()


def _addresses(stores: Endpoints) -> Mapping[str, str]:
    return {"REDIS_URL": stores.redis_url, "DATABASE_URL": stores.database_url}


def _settings(crawl: str) -> Mapping[str, object]:
    """Settings of the worker, for a crawl of its own."""
    return {
        "SEINE_CRAWL": crawl,
        "FRONTIER_PARTITIONS": 1,
        "REDIS_START_URLS_KEY": f"{crawl}:start_urls",
        "SEINE_KEEP_ALIVE": 0,
        "SEINE_FRESH_SECONDS": 0,  # products stored before are fetched and shown as well
    }


@attrs.define(eq=False)
class Watcher:
    """Shows the progress of one worker."""

    frontier: Frontier
    database: Database
    target: Target
    console: lazy_rich.Console
    stop: asyncio.Event
    """Set by Ctrl-C."""
    began: float
    """Before the worker was started; monotonic, s."""
    first_s: float | None = None

    async def watch(self, workers: Fleet, stores: Endpoints) -> Outcome:
        """Show progress until the worker has ended, then write the file."""
        # The worker's start by the database's clock: every row that the worker stores is newer.
        params = {"passed": time.monotonic() - self.began}
        since = await self.database.value("SELECT now() - %(passed)s * interval '1 second'", params)
        progress = await self._draw_until_end(workers, since)
        if progress.products:
            export(stores.database_url, self.target, since)
        return Outcome(
            products=progress.products,
            pages=progress.pages,
            seconds=time.monotonic() - self.began,
            first_s=self.first_s,
            doubtful=progress.doubtful,
            stopped=self.stop.is_set(),
            status=workers.workers[-1].process.returncode,
            log=workers.workers[-1].log,
        )

    async def _draw_until_end(self, workers: Fleet, since: Any) -> Progress:
        """Draw the progress until the worker has ended."""
        printed_s, console, site = 0.0, self.console, self.target.site
        with lazy_rich.Live(console=console, auto_refresh=False) as live:
            while True:
                if self.stop.is_set():
                    await asyncio.to_thread(workers.stop)
                alive = bool(workers.alive)
                progress = await self._read_progress(since)
                if console.is_terminal:
                    live.update(table(progress, site), refresh=True)
                elif not alive or progress.seconds - printed_s >= _PLAIN_S:
                    printed_s = progress.seconds
                    console.print(printable(headline(progress, site)), soft_wrap=True)
                if not alive:
                    return progress
                await asyncio.sleep(_REFRESH_S)

    async def _read_progress(self, since: Any) -> Progress:
        params = {"site": self.target.site, "since": since, "rows": _ROWS}
        progress = Progress(
            products=int(await self.database.value(_COUNT, params)),
            doubtful=int(await self.database.value(_DOUBTFUL, params)),
            newest=await self.database.rows(_NEWEST, params),
            counts=await self.frontier.counts(),
            seconds=time.monotonic() - self.began,
        )
        if self.first_s is None and progress.products:
            self.first_s = progress.seconds
        return progress


def export(database_url: str, target: Target, since: Any) -> int:
    """Write the products to the file; returns the number of rows.

    Raises:
        ConfigError: the file cannot be written.
    """
    products = Selection.parse("products")
    conditions = (Condition("site_id", "=", target.site), Condition("scraped_at", ">=", str(since)))
    selection = attrs.evolve(products, conditions=conditions)
    with (
        stream(database_url, selection) as (columns, chunks),
        open_output(str(target.output)) as file,
    ):
        return FORMATS[target.kind](columns, chunks, file, raw=False)

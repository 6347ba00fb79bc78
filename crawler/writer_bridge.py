"""The bridge between pipelines, the writer's thread and the in-flight table: one a crawler.

Pipelines hand items over and return at once. The writer's thread reports each committed batch;
one call on the reactor thread then releases the batch's holds, so that the scheduler may ack.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from threading import Thread
from typing import Any

import attrs
from scrapy.crawler import Crawler

from crawler.extract.parser_version import parser_version
from crawler.items import Missing, Product
from crawler.stores.archive.batches import PageTable
from crawler.stores.archive.object_storage import open_store
from crawler.stores.archive.warc import Page
from crawler.stores.attempts import write_attempts
from crawler.stores.dead_ends import write_dead_ends
from crawler.stores.migrations import prepare
from crawler.stores.postgres_endpoint import endpoints
from crawler.stores.products import confirm_products, mark_vanished, write_products, write_rejected
from crawler.stores.refused_rows import refused
from crawler.stores.rows import Confirmed, Seen, Vanished, product_row, rejected_row
from crawler.stores.tables import (
    ATTEMPT,
    CONFIRMED,
    DEAD_END,
    OVERHEAD,
    PAGE,
    PRODUCT,
    REJECTED,
    TEMPLATE,
    VANISHED,
)
from crawler.stores.template_rows import write_templates
from crawler.upkeep import Upkeep
from scrapy_seine import meta as m
from scrapy_seine.config import StoreConfig, flag, number
from scrapy_seine.engine.lease.entry import current
from scrapy_seine.engine.lease.page_end import Hold
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.printable import printable
from scrapy_seine.retry_until import RetryUntil
from scrapy_seine.sinks.postgres.batches import Limits, Report
from scrapy_seine.sinks.postgres.writer import Table, Writer, on_loop
from scrapy_seine.urls import tidy

logger = logging.getLogger(__name__)

#: So many items of a site, rejected in succession, are told of.
_SUSPICIOUS = 20


class Storage:
    """Takes what pipelines want stored."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.config = StoreConfig.from_settings(crawler.settings)
        self.drain_s = number(crawler.settings, "SEINE_DRAIN_SECONDS", 20)
        self.outage_s = number(crawler.settings, "SEINE_OUTAGE_LIMIT", 600)
        self.inflight = worker_of(crawler).inflight
        self.writer: Writer | None = None
        self.archive: Writer | None = None
        self.upkeep: Upkeep | None = None
        #: The last digest that was made, beside its item: the next pipeline needs it again.
        self.digests: tuple[object, bytes] = (None, b"")
        #: By site: items that were rejected since one of it was taken.
        self._rejections: dict[str, int] = {}
        #: Grows whenever something given to the writer was not stored: its page comes again.
        self.failures = 0
        self._closed: asyncio.Future[None] | None = None

    async def open(self) -> None:
        """Check the schema and start the writer.

        Raises:
            StoreUnreachable: the database does not answer.
            MigrationError: the schema is not up to date.
        """
        if self.writer is not None:
            return
        loop, config = asyncio.get_running_loop(), self.config
        url = endpoints(self.crawler.settings, need=("postgres",)).database_url
        # A laptop's own database is brought up to date unasked; a fleet's is not.
        own = flag(self.crawler.settings, "SEINE_EMBEDDED")
        patience = RetryUntil(self.outage_s, logger.warning)
        await patience.try_until_async(lambda: loop.run_in_executor(None, prepare, url, own))
        window = timedelta(seconds=config.fresh_s)
        tables: dict[str, Table] = {
            PRODUCT: lambda cursor, rows: write_products(cursor, rows, window),
            CONFIRMED: confirm_products,
            VANISHED: mark_vanished,
            REJECTED: write_rejected,
            ATTEMPT: write_attempts,
            TEMPLATE: write_templates,
            DEAD_END: write_dead_ends,
        }
        limits = Limits(
            rows=config.batch_rows,
            size=config.batch_bytes,
            age_s=config.batch_s,
            high=config.buffer_bytes,
            full=config.buffer_bytes * 8,
        )
        self.writer = writer = self._start(url, "postgres", tables, limits)
        self.inflight.waiting = lambda: writer.waiting
        if config.archive:
            pages = PageTable(open_store(config.archive), lambda: self.worker)
            size, high = config.archive_bytes, max(limits.high, config.archive_bytes * 2)
            limits = Limits(
                rows=100_000, size=size, age_s=config.archive_s, high=high, full=high * 4
            )
            kinds: dict[str, Table] = {PAGE: pages, REJECTED: write_rejected}
            self.archive = self._start(url, "archive", kinds, limits)
        self.upkeep = Upkeep(self.crawler, config, writer, url)
        await self.upkeep.start()

    def _start(self, url: str, name: str, tables: Mapping[str, Table], limits: Limits) -> Writer:
        loop = asyncio.get_running_loop()
        writer = Writer(
            url,
            tables,
            done=partial(on_loop, loop, self._report),
            pressed=partial(on_loop, loop, partial(self.inflight.press, name)),
            refused=refused,
            limits=limits,
        )
        writer.start()
        return writer

    async def close(self) -> None:
        """Write what is left; afterwards each hold is released or failed. May be called twice."""
        if self.writer is None:
            return
        if self.upkeep is not None:
            if self._closed is None:
                self.upkeep.save_templates(1)
            await self.upkeep.stop()
        if self._closed is None:
            self._closed = asyncio.get_running_loop().run_in_executor(None, self._close)
        await self._closed

    def _close(self) -> None:
        writers = [writer for writer in (self.archive, self.writer) if writer is not None]
        closing = [Thread(target=writer.close, args=(self.drain_s,)) for writer in writers]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join()

    def store(self, product: Product, content_hash: bytes) -> None:
        """Take a valid product. Never waits, never raises.

        A product that cannot be written as a row is refused like any invalid one.
        """
        try:
            row = product_row(product, content_hash, self._seen(product), told=_told())
        except (TypeError, ValueError) as error:
            self.reject(product, f"cannot be stored: {error}")
            return
        self._rejections.pop(row.site_id, None)
        self._put(PRODUCT, row, len(row.body), self.inflight.hold(product))

    def confirm(self, row: Confirmed, hold: Hold) -> None:
        """Take note that a page is unchanged. Never waits, never raises."""
        self._put(CONFIRMED, row, len(row.url), hold)

    def vanished(self, row: Vanished, hold: Hold) -> None:
        """Take note that a known page is not there. Never waits, never raises."""
        self._put(VANISHED, row, len(row.url), hold)

    def missing(self, item: Missing) -> None:
        """Take note that a known product's page shows none. Never waits, never raises."""
        entry = current.get()
        at = (entry.answered_at if entry is not None else None) or self.inflight.now(entry)
        row = Vanished(item.site_id, item.url, at, final=False)
        self.vanished(row, self.inflight.hold(item))

    def parser(self, url: str) -> str:
        """Version of the parser that reads a URL's page here."""
        site_of = getattr(self.spider, "site_of", None)
        return parser_version(self.spider if site_of is None else site_of(url))

    def _seen(self, product: Product) -> Seen | None:
        """The state of the page at the product's address; None where its answer names none."""
        entry = current.get()
        if entry is None or entry.seen is None or not _same(entry.request.url, product.url):
            return None
        seen, parser = entry.seen, self.parser(product.url)
        return Seen(etag=seen.etag, last_modified=seen.last_modified, parser=parser)

    def reject(self, item: object, reason: str, **known: str | None) -> None:
        """Keep an item of any kind that is refused, with the reason. Never waits, never raises."""
        now = self.inflight.now(current.get())
        row = attrs.evolve(rejected_row(item, reason, **known), rejected_at=now)
        self._tell_of(row.site_id or "", reason)
        self._put(REJECTED, row, len(row.body), self.inflight.hold(item))

    def _tell_of(self, site_id: str, reason: str) -> None:
        """Say where each item of a site is rejected: a rule of its file may ask for too much."""
        self._rejections[site_id] = n = self._rejections.get(site_id, 0) + 1
        if n == _SUSPICIOUS:
            logger.warning(
                "site %s: each of the last %d items was rejected, the last one because: %s",
                *(printable(site_id), n, printable(reason)),
            )

    def keep(self, page: Page, hold: Hold) -> None:
        """Take a raw page for the archive. Never waits, never raises."""
        size = len(page.body) + OVERHEAD * 4
        if self.archive is None or not self.archive.put(PAGE, page, size, hold):
            self._fail(hold, "too much waits for the archive")

    def attempted(self, row: bytes) -> None:
        """Take a row for the log of attempts. It is left out when much waits: products go first."""
        writer = self.writer
        if writer is None or writer.waiting[1] > self.config.buffer_bytes:
            self._count("attempts_dropped", 1)
        else:
            writer.put(ATTEMPT, row, len(row) + OVERHEAD // 4)

    @property
    def spider(self) -> Any:
        """The crawler's spider; None before it is made."""
        return getattr(self.crawler, "spider", None)

    @property
    def worker(self) -> str:
        """Name of this worker, as its leases have it."""
        return worker_of(self.crawler).name

    def _put(self, table: str, row: Any, size: int, hold: Hold) -> None:
        if self.writer is None or not self.writer.put(table, row, size + OVERHEAD, hold):
            self._fail(hold, "too much waits for PostgreSQL")

    def _fail(self, hold: Hold, reason: str) -> None:
        self._count("refused", 1)
        self.failures += 1
        hold.fail(reason)

    def _report(self, report: Report) -> None:
        for hold in report.stored:
            hold.release()
        self.failures += len(report.failed)
        for hold in report.failed:
            hold.fail(report.reason)
        for name, number_ in report.counts.items():
            self._count(name, number_)

    def _count(self, name: str, by: int) -> None:
        stats: Any = self.crawler.stats
        stats.inc_value(f"seine/store/{name}", by)


def _told() -> bool:
    """Whether the page at hand was fetched because a sitemap announced it."""
    entry = current.get()
    return entry is not None and entry.request.meta.get(m.JOB_TYPE) == "news"


def _same(asked: str, url: str) -> bool:
    try:
        return asked == url or tidy(asked) == url
    except ValueError:
        return False


def storage_of(crawler: Crawler) -> Storage:
    """Return the storage of a crawler's worker; whoever asks first makes it.

    Raises:
        ConfigError: a setting is wrong.
    """
    return worker_of(crawler).part(Storage)

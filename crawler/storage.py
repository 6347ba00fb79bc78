"""Connects pipelines, the writer's thread and the in-flight table; one instance a crawler.

Pipelines queue items and return at once. The writer's thread reports each committed batch; one call
on the reactor thread then releases the batch's holds, so that the scheduler may ack.
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
from scrapy import signals
from scrapy.crawler import Crawler

from crawler.extract.parser_version import parser_version
from crawler.items import Missing, Product
from crawler.periodic_tasks import Upkeep
from crawler.stores.archive.batches import MAX_CHECKED, PageTable, limits_of
from crawler.stores.archive.object_storage import open_store
from crawler.stores.archive.warc import Page
from crawler.stores.attempts import Attempt, write_attempts
from crawler.stores.dead_ends import write_dead_ends
from crawler.stores.migrations import prepare
from crawler.stores.products import confirm_products, mark_vanished, write_products, write_rejected
from crawler.stores.refused_to_rejected import refused
from crawler.stores.rows import Confirmed, PageValidators, Vanished, product_row, rejected_row
from crawler.stores.store_endpoints import endpoints
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
from scrapy_seine import meta as m
from scrapy_seine.config import StoreConfig, flag, number
from scrapy_seine.engine.ending.exit_status import fail_after
from scrapy_seine.engine.lease.entry import current
from scrapy_seine.engine.lease.page_end import Hold
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import StoreUnreachable
from scrapy_seine.printable import printable
from scrapy_seine.sinks.postgres.batches import Limits, Report
from scrapy_seine.sinks.postgres.closed_tables import exit_for_table
from scrapy_seine.sinks.postgres.writer import Table, Writer, on_loop
from scrapy_seine.store_wait import RetryUntil
from scrapy_seine.urls import tidy

logger = logging.getLogger(__name__)

#: So many rejected items of a site in succession are a warning.
_SUSPICIOUS = 20


class Storage:
    """Queues rows for the writers, and settles the holds of their pages."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.config = StoreConfig.from_settings(crawler.settings)
        self.drain_s = number(crawler.settings, "SEINE_DRAIN_SECONDS", 20)
        self.outage_s = number(crawler.settings, "SEINE_OUTAGE_LIMIT", 600)
        self.inflight = worker_of(crawler).inflight
        self.writer: Writer | None = None
        self.archive: Writer | None = None
        self.pages: PageTable | None = None
        self.upkeep: Upkeep | None = None
        #: The last item and its digest, because the next pipeline needs the digest again.
        self.digests: tuple[object, bytes] = (None, b"")
        #: By site: items rejected in succession.
        self._rejections: dict[str, int] = {}
        #: Counts rows that were not stored, whose pages are retried.
        self.failures = 0
        self.lacks_pages = False
        """Whether stored pages are gone from the archive: the worker then ends with status 1."""
        crawler.signals.connect(self._on_engine_stopped, signals.engine_stopped)
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
        # Only an embedded database is migrated automatically.
        embedded = flag(self.crawler.settings, "SEINE_EMBEDDED")
        retries = RetryUntil(self.outage_s, logger.warning)
        await retries.try_until_async(lambda: loop.run_in_executor(None, prepare, url, embedded))
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
            pause_bytes=config.buffer_bytes,
            refuse_bytes=config.buffer_bytes * 8,
        )
        self.writer = writer = self._start(url, "postgres", tables, limits)
        self.inflight.waiting = lambda: writer.waiting
        if config.archive:
            self.pages = pages = PageTable(open_store(config.archive), lambda: self.worker)
            limits = limits_of(config.archive_bytes, config.archive_s, limits.pause_bytes)
            kinds: dict[str, Table] = {PAGE: pages, REJECTED: write_rejected}
            self.archive = self._start(url, "archive", kinds, limits)
        self.upkeep = Upkeep(self.crawler, config, writer, url)
        await self.upkeep.start()

    def _start(self, url: str, name: str, tables: Mapping[str, Table], limits: Limits) -> Writer:
        loop = asyncio.get_running_loop()
        writer = Writer(
            url,
            tables,
            on_report=partial(on_loop, loop, self._report),
            on_pause=partial(on_loop, loop, partial(self.inflight.request_pause, name)),
            replacement_of=refused,
            on_table_closed=partial(on_loop, loop, partial(exit_for_table, self.crawler)),
            closed_limit_s=self.outage_s,
            limits=limits,
        )
        writer.start()
        return writer

    async def close(self) -> None:
        """Write the queued rows, then release or fail each hold. May be called twice."""
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
        if self.pages is not None:
            self._check_archive(self.pages)

    def _check_archive(self, pages: PageTable) -> None:
        """Report what somebody deleted during the crawl (I12); the status is then 1."""
        try:
            missing = pages.missing()
        except StoreUnreachable as error:
            logger.warning("the archive was not checked at the end: %s", error)
            return
        if missing:
            self.lacks_pages = True
            logger.error(
                "the archive has lost %d of the %d objects of this worker that were looked for, "
                "for instance %s: a replay lacks their pages; crawl again to store them",
                *(len(missing), min(pages.objects, MAX_CHECKED), missing[0]),
            )

    def _on_engine_stopped(self) -> None:
        if self.lacks_pages:
            fail_after("error", self.crawler)

    def store(self, product: Product, content_hash: bytes) -> None:
        """Queue a valid product. Never waits, never raises.

        A product that cannot be converted to a row is rejected like an invalid one.
        """
        try:
            row = product_row(
                product, content_hash, self._validators(product), is_announced=_from_sitemap_news()
            )
        except (TypeError, ValueError) as error:
            self.reject(product, f"cannot be stored: {error}")
            return
        self._rejections.pop(row.site_id, None)
        self._queue(PRODUCT, row, len(row.body), self.inflight.hold(product))

    def confirm(self, row: Confirmed, hold: Hold) -> None:
        """Queue that a page is unchanged. Never waits, never raises."""
        self._queue(CONFIRMED, row, len(row.url), hold)

    def store_vanished(self, row: Vanished, hold: Hold) -> None:
        """Queue that a known page is gone. Never waits, never raises."""
        self._queue(VANISHED, row, len(row.url), hold)

    def store_missing(self, item: Missing) -> None:
        """Queue that a known product's page shows no product. Never waits, never raises."""
        entry = current.get()
        answered_at = (entry.answered_at if entry is not None else None) or self.inflight.now(entry)
        row = Vanished(
            item.site_id,
            item.url,
            answered_at,
            final=False,
            may_pass=item.may_pass,
            is_blank=item.is_blank,
        )
        self.store_vanished(row, self.inflight.hold(item))

    def parser(self, url: str) -> str:
        """Version of the parser that reads a URL's page in this worker."""
        site_of = getattr(self.spider, "site_of", None)
        return parser_version(self.spider if site_of is None else site_of(url))

    def _validators(self, product: Product) -> PageValidators | None:
        """The validators of the product's page; None where the response has none."""
        entry = current.get()
        if entry is None or entry.seen is None or not _is_same_page(entry.request.url, product.url):
            return None
        validators, parser = entry.seen, self.parser(product.url)
        return PageValidators(
            etag=validators.etag, last_modified=validators.last_modified, parser=parser
        )

    def reject(self, item: object, reason: str, **fields: str | None) -> None:
        """Queue a rejected item of any kind, with the reason. Never waits, never raises."""
        now = self.inflight.now(current.get())
        row = attrs.evolve(rejected_row(item, reason, **fields), rejected_at=now)
        self._warn_of_rejections(row.site_id or "", reason)
        self._queue(REJECTED, row, len(row.body), self.inflight.hold(item))

    def _warn_of_rejections(self, site_id: str, reason: str) -> None:
        """Warn where each item of a site is rejected: a rule of its file may be too strict."""
        self._rejections[site_id] = n = self._rejections.get(site_id, 0) + 1
        if n == _SUSPICIOUS:
            logger.warning(
                "site %s: each of the last %d items was rejected, the last one because: %s",
                *(printable(site_id), n, printable(reason)),
            )

    def archive_page(self, page: Page, hold: Hold) -> None:
        """Queue a raw page for the archive. Never waits, never raises."""
        size = len(page.body) + OVERHEAD * 4
        if self.archive is None or not self.archive.put(PAGE, page, size, hold):
            self._fail(hold, "too much waits for the archive")

    def store_attempt(self, attempt: Attempt) -> None:
        """Queue a row for the log of attempts, or count it as dropped. Never raises.

        It is dropped if the queue is long, because products go first, or if it has no JSON form.
        """
        writer = self.writer
        if writer is None or writer.waiting[1] > self.config.buffer_bytes:
            self._count("attempts_dropped", 1)
            return
        try:
            row = attempt.row()
        except TypeError:  # half a surrogate pair in an id
            self._count("attempts_dropped", 1)
            return
        writer.put(ATTEMPT, row, len(row) + OVERHEAD // 4)

    @property
    def spider(self) -> Any:
        """The crawler's spider; None before it is made."""
        return getattr(self.crawler, "spider", None)

    @property
    def worker(self) -> str:
        """Name of this worker, as in its leases."""
        return worker_of(self.crawler).name

    def _queue(self, table: str, row: Any, size: int, hold: Hold) -> None:
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


def _from_sitemap_news() -> bool:
    """Whether the current page was fetched because a sitemap announced it."""
    entry = current.get()
    return entry is not None and entry.request.meta.get(m.JOB_TYPE) == "news"


def _is_same_page(requested: str, url: str) -> bool:
    try:
        return requested == url or tidy(requested) == url
    except ValueError:
        return False


def storage_of(crawler: Crawler) -> Storage:
    """Return the storage of a crawler's worker; the first call makes it.

    Raises:
        ConfigError: a setting is wrong.
    """
    return worker_of(crawler).part(Storage)

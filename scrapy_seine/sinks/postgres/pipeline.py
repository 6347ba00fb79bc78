"""A pipeline that stores items of any kind in PostgreSQL, and holds their pages until the commit.

ITEM_PIPELINES = {"scrapy_seine.sinks.postgres.pipeline.PostgresPipeline": 900}
DATABASE_URL = "postgresql://…"
SEINE_ITEMS_KEY = "url"        # or `item_key` of the spider
"""

from __future__ import annotations

import asyncio
import logging
import os
from functools import partial
from typing import Any, Self

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, DropItem

from scrapy_seine.config import number
from scrapy_seine.engine.ending.shutdown import unless_stopped
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import BadItem, ConfigError, StoreUnreachable
from scrapy_seine.printable import printable, redact
from scrapy_seine.sinks.holds import ItemHold, hold
from scrapy_seine.store_wait import RetryUntil

try:
    import psycopg2

    from scrapy_seine.sinks.postgres import item_rows
    from scrapy_seine.sinks.postgres.batches import Report
    from scrapy_seine.sinks.postgres.closed_tables import exit_for_table
    from scrapy_seine.sinks.postgres.database import transaction
    from scrapy_seine.sinks.postgres.writer import Writer, on_loop
except ImportError:
    raise ImportError("it needs psycopg2: pip install scrapy-seine[postgres]") from None

logger = logging.getLogger(__name__)
_TABLE = "items"
#: Bytes of a row beside its JSON.
_OVERHEAD = 400


class PostgresPipeline:
    """Hands items to a thread that writes them in batches; never waits for the database."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self.crawler = crawler
        self.url = str(settings.get("DATABASE_URL") or os.environ.get("DATABASE_URL") or "")
        if not self.url:
            raise ConfigError("DATABASE_URL names no database for PostgresPipeline")
        self.table = item_rows.table_name(str(settings.get("SEINE_ITEMS_TABLE") or "seine_items"))
        self.outage_s = number(settings, "SEINE_OUTAGE_LIMIT", 600)
        self.drain_s = number(settings, "SEINE_DRAIN_SECONDS", 20)
        self.writer: Writer | None = None
        self._key: item_rows.KeyOf = lambda item: None
        self._has_key = False
        self._keyless = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings.

        Raises:
            ConfigError: a setting is wrong.
        """
        return cls(crawler)

    async def open_spider(self) -> None:
        """Create the table, and start the writer.

        Raises:
            CloseSpider: the database does not answer or refuses, or the spider's key is invalid.
        """
        try:
            key_setting = getattr(self.crawler.spider, "item_key", None)
            if key_setting is None:
                key_setting = self.crawler.settings.get("SEINE_ITEMS_KEY")
            self._key, self._has_key = item_rows.key_reader(key_setting or ""), bool(key_setting)
            await unless_stopped(self.crawler, self._prepare())
        except (ConfigError, StoreUnreachable, psycopg2.Error) as error:
            logger.error("worker exits: PostgresPipeline: %s", _line(error))
            reason = "outage" if isinstance(error, StoreUnreachable) else "error"
            raise CloseSpider(reason) from None
        loop = asyncio.get_running_loop()
        self.writer = Writer(
            self.url,
            {_TABLE: partial(item_rows.write_items, self.table)},
            on_report=partial(on_loop, loop, self._report),
            on_pause=partial(on_loop, loop, self._press),
            replacement_of=lambda table, row, found: None,
            on_table_closed=partial(on_loop, loop, partial(exit_for_table, self.crawler)),
            closed_limit_s=self.outage_s,
        )
        self.writer.start()

    async def _prepare(self) -> None:
        def create() -> None:
            with transaction(self.url) as connection, connection.cursor() as cursor:
                item_rows.create(cursor, self.table)

        patience = RetryUntil(self.outage_s, logger.warning)
        await patience.try_until_async(lambda: asyncio.to_thread(create))

    async def close_spider(self) -> None:
        """Write the remaining rows; afterwards each hold is released or failed."""
        if self.writer is not None:
            await asyncio.to_thread(self.writer.close, self.drain_s)

    def process_item(self, item: Any) -> Any:
        """Queue an item for writing.

        Raises:
            DropItem: it contains a value that JSON or PostgreSQL cannot store.
        """
        try:
            body = item_rows.json_of(item)
            key = self._key(item)
        except BadItem as error:
            raise DropItem(f"PostgresPipeline: {error}") from None
        if key is None or "\x00" in key:
            self._note_keyless()
            key = item_rows.key_of_content(body)
        name = ItemAdapter(item).item.__class__.__name__
        row = item_rows.ItemRow(str(getattr(self.crawler.spider, "name", "")), key, name, body)
        item_hold = hold(self.crawler)
        assert self.writer is not None  # Scrapy opens a pipeline before it uses it
        if not self.writer.put(_TABLE, row, len(body) + _OVERHEAD, item_hold):
            item_hold.fail("too much waits for PostgreSQL")
        return item

    def _note_keyless(self) -> None:
        self._keyless += 1
        self._count("keyless", 1)
        if self._has_key and self._keyless == 1:
            logger.warning("an item lacks its key: it is stored under a hash of its content")

    def _report(self, report: Report) -> None:
        item_hold: ItemHold
        for item_hold in report.stored:
            item_hold.release()
        for item_hold in report.failed:
            item_hold.fail(report.reason)
        for name, number_ in report.counts.items():
            self._count(name, number_)

    def _press(self, on: bool) -> None:
        worker_of(self.crawler).inflight.request_pause("items", on)

    def _count(self, name: str, by: int) -> None:
        stats: Any = self.crawler.stats
        stats.inc_value(f"seine/items/{name}", by)


def _line(error: Exception) -> str:
    return printable(redact(" ".join(str(error).split())))

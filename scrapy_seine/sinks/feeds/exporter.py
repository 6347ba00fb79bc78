"""Scrapy's feed exporter, with parts whose pages are held, and a join at the end of the run."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlparse

import attrs
from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, NotConfigured
from scrapy.exporters import BaseItemExporter, CsvItemExporter
from scrapy.extensions import feedexport
from scrapy.extensions.postprocessing import PostProcessingManager
from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_seine.config import number
from scrapy_seine.engine.ending.exit_status import fail_after
from scrapy_seine.engine.fastpath import scrapy_internals
from scrapy_seine.engine.lease.entry import InFlight, current
from scrapy_seine.engine.lease.error_text import describe
from scrapy_seine.engine.scheduler import Scheduler
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import ConfigError
from scrapy_seine.printable import redact
from scrapy_seine.sinks.feeds.feed import Feed
from scrapy_seine.sinks.feeds.local_file import local_path
from scrapy_seine.sinks.feeds.part import Part
from scrapy_seine.sinks.feeds.part_names import PARTS, PartNames
from scrapy_seine.sinks.feeds.part_storage import Folder, Store, other_feeds

if TYPE_CHECKING:  # where it is used: a worker without a local feed joins nothing
    from scrapy_seine.sinks.feeds.join import Joined

logger = logging.getLogger(__name__)
#: Scrapy's logger, for Scrapy's own line, which users' tools search.
_scrapys = logging.getLogger(feedexport.__name__)


@attrs.define(eq=False, repr=False)
class _ConfiguredFeed:
    """A feed of this worker, with its settings."""

    uri: str
    options: dict[str, Any]
    feed: Feed
    place: Folder | Store


class FeedExporter(feedexport.FeedExporter):
    """Writes each feed in parts; only standard output is left to Scrapy."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the exporter; Scrapy's own if no page can be held.

        Raises:
            NotConfigured: there are no feeds.
            ConfigError: one of them cannot be used. Scrapy would go on without any of them, and the
            items of all pages would be gone.
        """
        shared = issubclass(load_object(crawler.settings["SCHEDULER"]), Scheduler)
        if not shared or not scrapy_internals.available("feeds"):
            plain: Any = feedexport.FeedExporter.from_crawler(crawler)
            return plain  # type: ignore[no-any-return]
        try:
            return super().from_crawler(crawler)
        except NotConfigured:
            if crawler.settings.getdict("FEEDS"):
                raise ConfigError("FEEDS: a feed cannot be used, as the line above says") from None
            raise

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.worker = worker_of(crawler)
        self.inflight = self.worker.inflight
        self.kept: list[_ConfiguredFeed] = []
        self._began = datetime.now(UTC)
        self._outage_s = number(crawler.settings, "SEINE_OUTAGE_LIMIT", 600)
        self._names = PartNames(self.worker, self._outage_s)
        self._lacks_items = False
        """Whether a feed lacks items at the end: its worker then ends with status 1."""
        crawler.signals.connect(self._on_engine_stopped, signals.engine_stopped)

    def _on_engine_stopped(self) -> None:
        if self._lacks_items:
            fail_after("error", self.crawler)

    def open_spider(self, spider: Spider) -> None:
        """Begin each feed.

        Raises:
            CloseSpider: a feed's folder cannot be written.
        """
        own_feeds = {uri: o for uri, o in self.feeds.items() if urlparse(uri).scheme != "stdout"}
        everything, self.feeds = (
            self.feeds,
            {u: o for u, o in self.feeds.items() if u not in own_feeds},
        )
        super().open_spider(spider)
        self.feeds = everything
        for uri, options in own_feeds.items():
            self.kept.append(self._begin(uri, options, spider))
        self.inflight.finishing.append(self._page_finished)
        self.inflight.flushers.append(self._flush)

    def _begin(self, uri: str, options: dict[str, Any], spider: Spider) -> _ConfiguredFeed:
        # A folder must be the same for all workers, unlike a batch's number and time.
        shared = {"time": "time", "batch_time": "batch_time", "batch_id": 0}
        try:
            filled_uri = self._fill_uri(uri, options, spider, shared)
        except Exception as error:  # an unknown placeholder, or a function of the project
            logger.error("worker exits: feed %s cannot be named: %s", redact(uri), describe(error))
            raise CloseSpider("error") from None
        storage = partial(scrapy_internals.storage_of, self, options=options)
        place: Folder | Store
        try:
            local = self._is_local(uri)
            place = Folder(local_path(filled_uri)) if local else Store(storage, filled_uri, spider)
            place.prepare()
        except OSError as error:
            logger.error("worker exits: feed %s cannot be written: %s", redact(filled_uri), error)
            raise CloseSpider("error") from None
        feed = Feed(
            place,
            partial(self._exporter, options),
            self.inflight,
            self._names.of(options["format"]),
            outage_s=self._outage_s,
            on_failure=self._on_failure,
            appends=not options.get("overwrite", False),
        )
        return _ConfiguredFeed(uri, options, feed, place)

    def _is_local(self, uri: str) -> bool:
        storage = self.storages.get(urlparse(uri).scheme, self.storages["file"])
        return storage is feedexport.FileFeedStorage

    def _fill_uri(
        self, uri: str, options: dict[str, Any], spider: Spider, overrides: dict[str, Any]
    ) -> str:
        """Fill a URI's placeholders, as Scrapy does; *overrides* replace some of them."""
        params = {name: getattr(spider, name) for name in dir(spider)} | overrides
        function = options["uri_params"]
        new_params = load_object(function)(params, spider) if function else None
        return feedexport.apply_uri_params(uri, params if new_params is None else new_params)

    def _exporter(
        self, options: dict[str, Any], buffer: BytesIO, columns: Sequence[str] | None
    ) -> BaseItemExporter:
        exporter = self.exporters[options["format"]]
        fields = options["fields"]
        if not fields and exporter is CsvItemExporter:
            fields = list(columns or ())
        exporter_made: BaseItemExporter = build_from_crawler(
            exporter,
            self.crawler,
            buffer,
            fields_to_export=fields,
            encoding=options["encoding"],
            indent=options["indent"],
            **options["item_export_kwargs"],
        )
        return exporter_made

    def _empty_content(self, options: dict[str, Any]) -> bytes:
        """Return the content of a feed without items."""
        part = Part(self._exporter(options, buffer := BytesIO(), None), buffer)
        return part.seal().data

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Give an item to each feed that accepts it."""
        if self.slots:
            super().item_scraped(item, spider)
        for feed in self.kept:
            self._take(feed, item)

    def _take(self, feed: _ConfiguredFeed, item: Any) -> None:
        try:
            if self.filters[feed.uri].accepts(item):
                feed.feed.take(item)
        except Exception as error:
            entry = current.get()
            prefix = f"feed {feed.place.name} cannot take an item: "
            logger.error("%s%s", prefix, describe(error))
            self.worker.count("feeds/refused")
            if entry is not None:
                self.inflight.state_item_exception(entry, error, prefix)

    def _page_finished(self, entry: InFlight) -> None:
        for feed in self.kept:
            feed.feed.page_finished(entry)

    async def _flush(self) -> None:
        # Here, because Redis is not reachable any more when the file is written.
        await self._names.learn_run()
        for feed in self.kept:
            await feed.feed.flush()

    def _on_failure(self, reason: str) -> None:
        """Handle a feed that takes no more items: the worker hands its pages back, and ends."""
        logger.error("worker exits: %s", reason)
        if not self.worker.closing:
            self.worker.stop("outage")

    async def close_spider(self, spider: Spider, reason: str = "") -> None:
        """Join the parts of each feed whose run is over."""
        is_over = reason in {"finished", "start_error"}  # the crawl is complete in both
        for feed in self.kept:
            self.worker.count("feeds/items", feed.feed.items)
            if isinstance(feed.place, Folder):
                await self._join(feed, feed.place, spider, is_over)
            else:
                self._log_parts(feed, f"{feed.place.name}{PARTS}/")
        if is_over:
            await self._log_other_feeds()
        await super().close_spider(spider)

    async def _log_other_feeds(self) -> None:
        """Say which feeds have items of this crawl that no worker's last settings name."""
        finals = [feed.place.final for feed in self.kept if isinstance(feed.place, Folder)]
        for final in await asyncio.to_thread(other_feeds, finals, self._names.prefix):
            text = (
                "items of this crawl are not in this worker's feeds, because a worker with another "
                "feed found them; `scrapy seine join-feeds %s` makes a file of them"
            )
            logger.warning(text, final)

    async def _join(
        self, feed: _ConfiguredFeed, place: Folder, spider: Spider, is_over: bool
    ) -> None:
        from scrapy_seine.sinks.feeds.join import Order, join, may_join_early

        place.close()
        await self._check_for_lost_parts(place)
        options = feed.options
        batch = int(options["batch_item_count"] or 0)
        if not is_over and (batch or not may_join_early(place.path, self._names.prefix)):
            self._log_parts(feed, str(place.path))
            return
        order = Order(
            place.path,
            self._names.prefix,
            partial(self._batch_path, feed, spider),
            batch=batch,
            append=not options.get("overwrite", False),
            over=is_over,
            store_empty=bool(options["store_empty"]),
            empty=partial(self._empty_content, options),
            processed=partial(post_process, options) if options.get("postprocessing") else None,
        )
        name = feedexport.FileFeedStorage.__name__
        try:
            joined = await asyncio.to_thread(join, order)
        except Exception as error:  # also of a post-processing plugin, or of a format's library
            reason = redact(describe(error))
            logger.error(
                "feed %s is not joined, its parts stay in %s: %s",
                feed.place.name,
                place.path,
                reason,
            )
            self.crawler.stats.inc_value(f"feedexport/failed_count/{name}")
            self._lacks_items = True
            return
        if joined is not None:
            await self._report(feed, place, spider, joined, is_over)

    async def _check_for_lost_parts(self, place: Folder) -> None:
        """Log if parts were removed: their pages are done, and will not be fetched again."""
        from scrapy_seine.sinks.feeds.join import was_joined

        lost_rows = await asyncio.to_thread(place.lost_rows)
        if lost_rows is None:
            return
        try:
            if await asyncio.to_thread(was_joined, place.path, self._names.prefix):
                return
        except OSError:
            place.path.mkdir(parents=True, exist_ok=True)  # for parts that are still to be joined
        self.worker.count("feeds/lost", lost_rows)
        logger.error(
            "feed %s lacks items: somebody removed %s while it was written, with %d items of this "
            "worker and what others had there; crawl their pages again",
            *(place.name, place.path, lost_rows),
        )
        self._lacks_items = True

    async def _report(
        self, feed: _ConfiguredFeed, place: Folder, spider: Spider, joined: Joined, is_over: bool
    ) -> None:
        if joined.cut_off:
            logger.warning("feed %s: %d pages may lack items", place.name, joined.cut_off)
        if not is_over and joined.files:
            line = "feed %s has %d items so far; the crawl is not over, its parts stay in %s"
            logger.info(line, place.name, joined.items, place.path)
        elif not is_over:
            logger.info("feed %s stays as it was: the crawl has no items so far", place.name)
        for path, items in joined.files:
            _scrapys.info("Stored %s feed (%d items) in: %s", feed.options["format"], items, path)
            self.crawler.stats.inc_value("feedexport/success_count/FileFeedStorage")
            slot = scrapy_internals.first_batch_of(self, str(path), feed.options, spider, feed.uri)
            slot.itemcount = items
            await self.crawler.signals.send_catch_log_async(signals.feed_slot_closed, slot=slot)

    def _log_parts(self, feed: _ConfiguredFeed, folder: str) -> None:
        line = "feed %s: its parts are in %s; `scrapy seine join-feeds` makes one file of them"
        logger.info(line, feed.place.name, folder)

    def _batch_path(self, feed: _ConfiguredFeed, spider: Spider, number_: int) -> Path:
        now = datetime.now(UTC).isoformat().replace(":", "-")
        began = self._began.replace(microsecond=0).isoformat().replace(":", "-")
        overrides = {"time": began, "batch_time": now, "batch_id": number_}
        return local_path(self._fill_uri(feed.uri, feed.options, spider, overrides))


def post_process(options: dict[str, Any], path: Path) -> None:
    """Pass a file through the feed's post-processing plugins."""
    aside = path.with_name(f"{path.name}.processed")
    try:
        with path.open("rb") as file, aside.open("wb") as output:
            manager = PostProcessingManager(options["postprocessing"], output, options)
            shutil.copyfileobj(file, manager)
            manager.close()
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)

"""`scrapy crawl`: Scrapy's own, once both stores answer; missing stores are started embedded."""

from __future__ import annotations

import argparse
import ctypes
import gc
import linecache
import logging
import os
import sys
import time
from typing import Any

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.signals import engine_started
from scrapy.spiders import Spider

from crawler.cli.live_line import Watch, quiet
from crawler.cli.output_checks import check_files
from crawler.cli.start_warnings import check_names, log_warnings
from crawler.reads.catalogue_settings import TABLE
from crawler.stores.archive.object_storage import check_archive, check_replay
from crawler.stores.migrations import prepare
from crawler.stores.store_endpoints import Endpoints, blocking_client, endpoints
from scrapy_seine.commands.one_line_errors import FAILED, complain, guarded
from scrapy_seine.commands.which_spider import reader_of, spider_class
from scrapy_seine.config import FrontierConfig, flag, number
from scrapy_seine.engine.settings_check import check
from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.engine.starting.arguments import refuse_undeclared
from scrapy_seine.engine.starting.cache_folder import check_cache_folder
from scrapy_seine.engine.starting.download_handlers import check_handlers
from scrapy_seine.engine.starting.event_loop import check_loop
from scrapy_seine.engine.starting.unusable_settings import blame
from scrapy_seine.errors import BadSeed, ConfigError, SeineError
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.opening import check_partitions
from scrapy_seine.lenient_parsing import whole_number
from scrapy_seine.printable import redact
from scrapy_seine.store_wait import RetryUntil

logger = logging.getLogger(__name__)
#: glibc's names, from malloc.h: the greatest number of arenas, and the bytes of the largest chunk
#: that is not joined with its neighbours when it is freed.
_M_ARENA_MAX, _M_MXFAST = -8, 1


class Command(ScrapyCrawl):
    """Runs a worker; exit status 0 at a clean end, 1 after an error or an outage."""

    skew_s = 0.0
    """This machine's clock minus Redis'."""
    spider: type[Spider] | None = None
    """The spider's class, once it is loaded."""
    watch: Watch | None = None
    """Shows the worker's progress; set when its crawler is made."""
    site = ""
    """Name of the site file, from -a site=."""

    def short_desc(self) -> str:
        """Describe the command in one line."""
        return "Run a worker of a spider, which shares the crawl with all others"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Show an example below Scrapy's own options."""
        super().add_options(parser)
        parser.epilog = "example: scrapy crawl catalog -a url=https://shop.example/sale"

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Prepare the stores before Scrapy logs its first line, so that an error is one line."""
        gc.disable()  # until all is loaded, because loaded objects stay
        set_malloc_options()
        super().process_options(args, opts)
        if status := guarded(lambda: self._prepare(_one_spider(args), opts)):
            sys.exit(status)

    def _prepare(self, spider: str, opts: argparse.Namespace) -> None:
        settings = self.settings
        assert settings is not None  # Scrapy sets them before it reads options
        check_names(settings)
        check(settings, TABLE)
        check_loop(settings)
        quiet(settings)
        check_files(settings)
        self.spider = spider_cls = spider_class(settings, spider)
        refuse_undeclared(spider_cls, opts.spargs)
        self.site = str(opts.spargs.get("site") or "")
        if "site" in opts.spargs and not self.site.strip():  # the worker would wait for seeds
            raise ConfigError("-a site= is empty; name a site's file, as -a site=books")
        if issubclass(spider_cls, FrontierSpider):
            _check_seeds(settings, spider_cls, opts.spargs.get("url"))
        limit_s = number(settings, "SEINE_OUTAGE_LIMIT", 600)
        stores = RetryUntil(limit_s, complain).try_until(lambda: self._stores(spider))
        # Every part of the worker reads these settings, so that all use the same servers.
        settings.set("REDIS_URL", stores.redis_url, priority="cmdline")
        settings.set("DATABASE_URL", stores.database_url, priority="cmdline")

    def _stores(self, spider: str) -> Endpoints:
        settings = self.settings
        assert settings is not None
        stores = endpoints(settings)
        embedded = flag(settings, "SEINE_EMBEDDED")
        if embedded or settings.getwithbase("ITEM_PIPELINES"):  # a crawl without needs no schema
            prepare(stores.database_url, is_embedded=embedded)
        frontier = FrontierConfig.from_settings(settings, spider)
        with blocking_client(stores.redis_url) as redis:
            stored_partitions = redis.hget(Keys(frontier.crawl).control, "partitions")
            seconds, micros = redis.time()
        self.skew_s = time.time() - seconds - micros / 1e6
        partitions = (
            whole_number(stored_partitions, -1) if stored_partitions else frontier.partitions
        )
        check_partitions(frontier.crawl, frontier.partitions, partitions)
        return stores

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        crawler = super()._create_crawler(spidercls)
        crawl = crawler.crawl_async

        async def crawl_in_one_line(*args: Any, **kwargs: Any) -> None:
            """Crawl, and report an error in one line, also if a store fails during the start."""
            try:
                check(crawler.settings, TABLE)  # now with the spider's own settings
                check_cache_folder(crawler.settings)
                check_handlers(crawler.settings)
                check_archive(crawler.settings)
                check_replay(crawler.settings)
                self.watch = Watch(crawler, site=self.site)
                crawler.signals.connect(freeze_loaded_objects, engine_started)
                await crawl(*args, **kwargs)
            except SeineError as error:
                complain(str(error))
                self.exitcode = FAILED
            except Exception as error:
                if (fault := blame(crawler.settings, error)) is None:
                    raise
                complain(fault)
                self.exitcode = FAILED

        crawler.crawl_async = crawl_in_one_line  # type: ignore[method-assign]
        return crawler

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the worker until its crawl is complete or it is stopped."""
        assert self.settings is not None
        for name in ("REDIS_URL", "DATABASE_URL"):
            logger.info("%s %s", name, redact(str(self.settings.get(name))))
        if self.spider is not None:
            log_warnings(self.settings, self.spider, self.skew_s)
        super().run(args, opts)
        if self.watch is not None:
            self.watch.print_end()


def set_malloc_options() -> None:
    """Let all threads allocate from one arena, and join each freed chunk with its neighbours.

    Each further arena keeps freed memory: one saves a worker 3 MB, and threads wait for each other
    no more than before, because Python runs one at a time. Chunks of a page's tree were joined
    later, when they are in no cache any more, and took 3 % of a page of 240 KB. Call it before the
    first thread starts. Only glibc has the options (mallopt(3)).
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, 1)
        mallopt(_M_MXFAST, 0)


def freeze_loaded_objects() -> None:
    """Exclude permanent objects from garbage collection, once all parts of a worker are open.

    Scanning them after every page took a seventh of a worker's CPU. Garbage of the imports is
    collected first, because frozen garbage would stay: 2,600 objects, 1 MB, collected in 15 ms.
    """
    linecache.clearcache()  # attrs caches the source of generated methods there, 1 MB
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)
    gc.enable()


def _one_spider(args: list[str]) -> str:
    if not args:
        raise ConfigError("name the spider: scrapy crawl catalog -a url=https://shop.example/")
    if options := [arg for arg in args if arg.startswith("-")]:
        raise ConfigError(f"there is no option {options[0]}; scrapy crawl --help lists them")
    if len(args) > 1:
        raise ConfigError(
            f"scrapy crawl takes one spider, and {args[1]!r} is a second argument; "
            f"a page is -a url={args[1]}, a site's file -a site={args[1]}"
        )
    return args[0]


def _check_seeds(settings: Settings, spider: type[Spider], urls: str | None) -> None:
    if urls is None:
        return
    if not urls.strip():  # an unset variable of a script: the worker would wait for seeds
        raise BadSeed("-a url= is empty; name a page, as -a url=https://shop.example/")
    read_seed = reader_of(spider, settings)
    for url in urls.split():
        try:
            read_seed(url.encode())
        except BadSeed as error:
            raise BadSeed(f"-a url={url[:200]}: {error}") from None

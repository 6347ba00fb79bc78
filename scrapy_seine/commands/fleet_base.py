"""The base of the commands that show the fleet: --crawl, --watch, and one read at a time."""

from __future__ import annotations

import argparse
import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import ClassVar, TypeVar

import orjson
from redis.asyncio import Redis
from redis.exceptions import RedisError

from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.one_line_errors import complain
from scrapy_seine.commands.which_crawl import crawl_of, declare_crawl, make_sure
from scrapy_seine.config import SettingsLike, number
from scrapy_seine.endpoints import Endpoints, endpoints, missing_stores, redis_client, set_urls
from scrapy_seine.errors import ConfigError, StoreUnreachable
from scrapy_seine.printable import OUTPUT_ERRORS, escaped
from scrapy_seine.reads import lazy_rich
from scrapy_seine.reads.overview import Overview, read_overview

Result = TypeVar("Result")

#: Seconds between two reads.
INTERVAL_S = 2.0


class FleetCommand(SeineCommand):
    """Base of the commands that read the overview and draw a part of it."""

    arguments = "[--watch] [--json]"
    minutes: ClassVar[int] = 60
    domains: ClassVar[int] = 10

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare options for the crawl, and --watch."""
        super().add_options(parser)
        declare_crawl(self, parser)
        parser.add_argument(
            "--watch",
            nargs="?",
            const=str(INTERVAL_S),
            metavar="SECONDS",
            help="redraw every 2 seconds, or every SECONDS; Ctrl-C ends",
        )

    @abstractmethod
    def draw(self, overview: Overview) -> lazy_rich.RenderableType:
        """Lay out the overview, or a part of it, for a terminal."""

    def plain(self, overview: Overview) -> object:
        """Return what --json prints."""
        return overview.plain()

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Draw once, or until Ctrl-C.

        Raises:
            ConfigError: the named crawl does not exist.
            StoreUnreachable: Redis does not answer.
        """
        crawl = crawl_of(self, opts)
        every_s = number({"--watch": opts.watch}, "--watch", 0, low=0.2) if opts.watch else None
        url = endpoints(self.project, need=("redis",)).redis_url
        with_fleet(url, lambda redis: self._show(redis, crawl, every_s, is_named=bool(opts.crawl)))
        return 0

    async def _show(
        self, redis: Redis, crawl: str, every_s: float | None, *, is_named: bool
    ) -> None:
        if is_named:
            try:
                await make_sure(redis, crawl)
            except ConfigError as error:
                if every_s is None:
                    raise
                complain(f"{error}; waiting for it to begin")

        async def read() -> Overview:
            return await read_overview(redis, crawl, minutes=self.minutes, domains=self.domains)

        if every_s is None:
            self._print(await read())
        elif self.as_json:
            while True:
                self._print(await read())
                await asyncio.sleep(every_s)
        else:
            await self._watch(read, every_s)

    def _print(self, overview: Overview) -> None:
        if self.as_json:
            print(escaped(orjson.dumps(self.plain(overview), default=str).decode()), flush=True)
        else:
            lazy_rich.Console(highlight=False).print(self.draw(overview))

    async def _watch(
        self, read_overview_once: Callable[[], Awaitable[Overview]], every_s: float
    ) -> None:
        console = lazy_rich.Console(highlight=False)
        with lazy_rich.Live(console=console, auto_refresh=False, screen=self.full_screen) as live:
            while True:
                overview = await read_overview_once()
                live.update(self.draw(overview), refresh=True)
                if self.should_stop(overview):
                    break
                await asyncio.sleep(every_s)
        if not console.is_terminal:
            console.print()

    full_screen: ClassVar[bool] = True

    def should_stop(self, overview: Overview) -> bool:
        """Whether to stop watching."""
        return False


def addresses(settings: SettingsLike) -> Endpoints:
    """Return the stores' addresses, whether they answer or not: a watcher starts without them.

    Raises:
        ConfigError: an address is missing, and no embedded server may be started instead.
        EmbeddedError: an embedded server cannot be started.
    """
    if missing_stores(settings):
        return endpoints(settings)
    urls = set_urls(settings)
    return Endpoints(urls["redis"], urls.get("postgres", ""))


def with_fleet(redis_url: str, work: Callable[[Redis], Awaitable[Result]]) -> Result:
    """Run *work* with a client, and return its result.

    Raises:
        StoreUnreachable: Redis became unreachable.
    """

    async def run() -> Result:
        redis = redis_client(redis_url)
        try:
            return await work(redis)
        except (RedisError, OSError) as error:
            if getattr(error, "errno", None) in OUTPUT_ERRORS:
                raise
            raise StoreUnreachable(f"REDIS_URL: {error}") from None
        finally:
            await redis.aclose()

    return asyncio.run(run())

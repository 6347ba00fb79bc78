"""`scrapy logs`: the last lines of a worker's log, from wherever Redis is reachable."""

from __future__ import annotations

import argparse

from redis.asyncio import Redis
from scrapy.exceptions import UsageError

from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.fleet_base import with_fleet
from scrapy_seine.commands.which_crawl import declare_crawl, frontier_of
from scrapy_seine.endpoints import endpoints
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.printable import printable
from scrapy_seine.reads.kept_log_lines import KEEP, log_names, read_log

#: Workers that an error names, the latest.
_NAMED = 10


class Command(SeineCommand):
    """Shows what a worker logged, also one that ended within the last day."""

    summary = "Show the last lines of a worker's log, by default of the last active one"
    arguments = "[WORKER] [--lines N]"
    example = "scrapy logs --lines 20"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare options for the crawl, and the number of lines."""
        super().add_options(parser)
        declare_crawl(self, parser)
        parser.add_argument("--lines", type=int, default=100, help="lines shown, at most (100)")

    def perform(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the lines.

        Raises:
            UsageError: several workers are named, or too many lines are asked for.
            ConfigError: there is no log of such a worker, or of any.
        """
        if len(args) > 1 or not 1 <= opts.lines <= KEEP:
            text = f"one worker at most (`scrapy seine workers` lists them), 1 to {KEEP} lines"
            raise UsageError(text)
        crawl = frontier_of(self, opts).crawl
        worker_log: tuple[str, list[str]] = ("", [])

        async def work(redis: Redis) -> None:
            nonlocal worker_log
            worker_log = await find_log(redis, Keys(crawl), args[0] if args else "", opts.lines)

        with_fleet(endpoints(self.project, need=("redis",)).redis_url, work)
        worker, lines = worker_log
        if not args and not self.as_json:
            print(f"worker {printable(worker)}:")
        self.show("\n".join(map(printable, lines)), worker=worker, lines=lines)


async def find_log(redis: Redis, keys: Keys, name: str, limit: int) -> tuple[str, list[str]]:
    """Return a worker's name and lines; *name* may be the beginning of one worker's name.

    An empty *name* means the worker that was last active.

    Raises:
        ConfigError: no worker, or several workers, match.
        RedisError: Redis does not answer.
    """
    names = await log_names(redis, keys)
    if not name and not names:
        raise ConfigError("no worker of this crawl was there within the last day")
    name = name or names[0]
    if lines := await read_log(redis, keys, name, limit):
        return name, lines
    matches = [worker_name for worker_name in names if worker_name.startswith(name)]
    if len(matches) == 1:
        return matches[0], await read_log(redis, keys, matches[0], limit)
    shown = ", ".join((matches or names)[:_NAMED]) or "none"
    raise ConfigError(f"{name!r} is not the beginning of one worker's name; there is {shown}")

"""`scrapy attempts`: show the newest attempts, or their sums by provider and hour."""

from __future__ import annotations

import argparse
import asyncio

from crawler.reads.database import Database, Row
from crawler.reads.records import attempts_by_provider, newest_attempts
from crawler.stores.store_endpoints import endpoints
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.which_domain import declare_domain, domain_of
from scrapy_seine.errors import ConfigError
from scrapy_seine.reads import lazy_rich
from scrapy_seine.reads.formatting import count, share, size

_COLUMNS = ("outcome", "status", "domain", "lane", "proxy_id", "duration_ms", "url")
_MAX_HOURS = 24 * 90
#: Options that each form of the command reads, beside those that both read.
ACTIONS = {"the list": ("outcome", "limit"), "--by-hour": ("hours",)}


class Command(SeineCommand):
    """Shows the log of attempts."""

    summary = "Show the newest attempts, or sum them up by provider and hour"
    arguments = "[--by-hour] [--domain D] [--outcome O]"
    example = "scrapy attempts --by-hour --hours 24"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the filters of attempts."""
        super().add_options(parser)
        declare_domain(parser, "attempts on this domain")
        parser.add_argument(
            "--outcome", default="", help="attempts with this outcome: ok, timeout …"
        )
        parser.add_argument("--limit", type=int, default=30, help="attempts listed, at most (30)")
        parser.add_argument("--by-hour", action="store_true", help="sum up by provider and hour")
        parser.add_argument(
            "--hours", type=int, default=24, help="hours to sum up, the last ones (24)"
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Print the attempts.

        Raises:
            ConfigError: --limit or --hours is out of range, or --domain names no domain.
            StoreUnreachable: PostgreSQL does not answer.
        """
        if opts.limit < 1 or not 1 <= opts.hours <= _MAX_HOURS:
            raise ConfigError(f"--limit starts at 1, --hours goes from 1 to {_MAX_HOURS}")
        self.check_action("--by-hour" if opts.by_hour else "the list", opts, ACTIONS)
        opts.domain = domain_of(opts)
        url = endpoints(self.project, need=("postgres",)).database_url
        rows = asyncio.run(_rows(url, opts))
        if self.as_json:
            self.show("", attempts=rows)
            return 0
        table = _hours(rows) if opts.by_hour else _newest(rows)
        is_filtered = opts.domain or opts.outcome or opts.by_hour
        nothing = "no attempt matches" if is_filtered else "no attempt is recorded"
        lazy_rich.Console(highlight=False).print(table if rows else nothing)
        return 0


async def _rows(url: str, opts: argparse.Namespace) -> list[Row]:
    database = Database(url)
    try:
        if opts.by_hour:
            return await attempts_by_provider(database, hours=opts.hours, domain=opts.domain)
        return await newest_attempts(
            database, outcome=opts.outcome, domain=opts.domain, limit=opts.limit
        )
    finally:
        await database.aclose()


def _newest(rows: list[Row]) -> lazy_rich.Table:
    table = lazy_rich.Table("time (UTC)", *_COLUMNS, box=None)
    for row in rows:
        cells = ("" if row[name] is None else str(row[name]) for name in _COLUMNS)
        table.add_row(f"{row['at']:%m-%d %H:%M:%S}", *(lazy_rich.Text(cell) for cell in cells))
    return table


def _hours(rows: list[Row]) -> lazy_rich.Table:
    table = lazy_rich.Table("hour (UTC)", "provider", box=None)
    for name in ("attempts", "ok", "bytes", "mean ms"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            f"{row['hour']:%Y-%m-%d %H:00}",
            lazy_rich.Text(row["provider"]),
            count(row["attempts"]),
            share(row["ok"] / row["attempts"]),
            size(float(row["bytes"])),
            count(row["mean_ms"]),
        )
    return table

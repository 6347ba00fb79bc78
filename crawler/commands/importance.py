"""`scrapy importance`: set the importance of stored products by a watch list."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from scrapy.exceptions import UsageError

from crawler.stores.products import set_importance
from crawler.stores.store_endpoints import endpoints
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.errors import ConfigError

#: As in the table's CHECK constraint.
MAX_IMPORTANCE = 1000.0
BATCH = 5000
#: Unknown URLs that are printed, at most.
_MAX_PRINTED = 10


class Command(SeineCommand):
    """Sets the importance of stored products; exit status 1 where a URL has no product."""

    summary = "Say that known products matter more than others when they are crawled again"
    arguments = "[URL …] [--list FILE] [--importance 10|--forget]"
    example = "echo https://shop.example/lamp | scrapy importance --list - --importance 10"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the list, and the importance to set or remove."""
        super().add_options(parser)
        parser.add_argument("--list", default="", help="a file with a URL a line; - reads stdin")
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument(
            "--importance", default="10", help="weight beside other products: 10 (default)"
        )
        choice.add_argument("--forget", action="store_true", help="let the site file decide again")

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Set or remove the importance.

        Raises:
            ConfigError: the importance or the list cannot be read.
            StoreUnreachable: PostgreSQL does not answer.
        """
        urls = list(dict.fromkeys([*args, *_lines(opts.list)]))
        if not urls:
            raise UsageError("name a URL, or a --list of them")
        value = None if opts.forget else _importance(opts.importance)
        database_url = endpoints(self.project, need=("postgres",)).database_url
        products: set[str] = set()
        for start in range(0, len(urls), BATCH):
            products |= set_importance(database_url, urls[start : start + BATCH], value)
        unknown_urls = [url for url in urls if url not in products]
        self._report(len(products), unknown_urls, value)
        return 1 if unknown_urls else 0

    def _report(self, products: int, unknown_urls: Sequence[str], value: float | None) -> None:
        source = "as the site file says" if value is None else f"{value:g}"
        lines = [f"importance of {products} products: {source}"]
        lines += [f"no product is stored at {url}" for url in unknown_urls[:_MAX_PRINTED]]
        if len(unknown_urls) > _MAX_PRINTED:
            lines.append(f"… nor at {len(unknown_urls) - _MAX_PRINTED} more")
        self.show("\n".join(lines), products=products, importance=value, missing=list(unknown_urls))


def _importance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= MAX_IMPORTANCE:
        raise ConfigError(
            f"--importance {text[:40]!r}: a number above 0, at most {MAX_IMPORTANCE:g}"
        )
    return value


def _lines(name: str) -> list[str]:
    if not name:
        return []
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--list {name}: {error}") from None
    return [line.strip() for line in text.splitlines() if line.strip() and line[0] != "#"]

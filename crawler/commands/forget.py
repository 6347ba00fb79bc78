"""`scrapy forget`: remove URLs from the seen set, so that they are crawled again."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice

import psycopg2
from redis.asyncio import Redis
from scrapy.exceptions import UsageError

from crawler.stores.store_endpoints import endpoints
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.fleet_base import with_fleet
from scrapy_seine.commands.which_crawl import crawl_of, declare_crawl
from scrapy_seine.errors import ConfigError, StoreUnreachable
from scrapy_seine.frontier import find as find_frontier
from scrapy_seine.frontier.runs import forget_pages
from scrapy_seine.reads.audit import record_command
from scrapy_seine.store_errors import refusal_line
from scrapy_seine.urls import normalise

STEP = 500
#: Every stored URL of a page. The seen set holds hashes, so that it cannot list URLs.
STORED_URLS = """
    SELECT url FROM products WHERE url LIKE %(like)s
    UNION SELECT url FROM product_urls WHERE url LIKE %(like)s
    UNION SELECT url FROM attempts WHERE url LIKE %(like)s
"""


class Command(SeineCommand):
    """Removes URLs from the seen set; they are crawled at the next link to them."""

    summary = "Let URLs, or all stored URLs that match a pattern with *, be crawled again"
    arguments = "URL|PATTERN …"
    example = "scrapy forget 'https://shop.example/sale/*'"
    usual_spider = "catalog"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the crawl."""
        super().add_options(parser)
        declare_crawl(self, parser)

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Forget the URLs.

        Raises:
            ConfigError: a URL is none.
            FrontierError: the seen set is a Bloom filter.
            StoreUnreachable: a store does not answer.
        """
        if not args:
            raise UsageError("name a URL, or a pattern with *")
        patterns = [arg for arg in args if "*" in arg]
        for url in set(args) - set(patterns):
            _check(url)
        crawl = crawl_of(self, opts)
        need = ("redis", "postgres") if patterns else ("redis",)
        stores = endpoints(self.project, need=need)
        counts = [0, 0]

        async def work(redis: Redis) -> None:
            frontier = await find_frontier(redis, crawl)
            urls = _urls_to_forget(
                stores.database_url, [a for a in args if a not in patterns], patterns
            )
            while batch := list(islice(urls, STEP)):
                counts[0] += len(batch)
                counts[1] += await forget_pages(frontier, batch)
            await record_command(redis, frontier.keys, "forget", " ".join(args[:20]), counts[1])

        with_fleet(stores.redis_url, work)
        self.show(f"{counts[1]} of {counts[0]} URLs forgotten", urls=counts[0], forgotten=counts[1])
        return 0


def like(pattern: str) -> str:
    """Turn a pattern with * into a pattern of SQL's LIKE.

    >>> like("https://a.example/50%_off/*")
    'https://a.example/50\\\\%\\\\_off/%'
    """
    escaped = "".join(f"\\{c}" if c in "\\%_" else c for c in pattern)
    return escaped.replace("*", "%")


def _check(url: str) -> None:
    try:
        normalise(url)
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _urls_to_forget(
    database_url: str, urls: Sequence[str], patterns: Sequence[str]
) -> Iterator[str]:
    yield from urls
    for pattern in patterns:
        try:
            yield from _stored_urls(database_url, pattern)
        except psycopg2.Error as error:
            raise StoreUnreachable(refusal_line(error) or str(error)) from None


def _stored_urls(database_url: str, pattern: str) -> Iterator[str]:
    with closing(psycopg2.connect(database_url, connect_timeout=3)) as connection:
        cursor = connection.cursor("forget")  # a cursor of the server: rows are fetched in parts
        cursor.execute(STORED_URLS, {"like": like(pattern)})
        for (url,) in cursor:
            yield url

"""`scrapy demo`: crawl the demo shop with several workers, and judge what they stored."""

from __future__ import annotations

import argparse

from scrapy_seine.commands.base import SeineCommand


class Command(SeineCommand):
    """Crawls the demo shop and compares every stored product with the shop's."""

    summary = "Crawl the demo shop with two workers, and compare each row with the shop"
    example = "scrapy demo --products 300 --kill"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options; the environment gives their defaults."""
        super().add_options(parser)
        parser.add_argument("--products", help="products of the shop (PRODUCTS, 1000)")
        parser.add_argument("--workers", help="worker processes (WORKERS, 2)")
        parser.add_argument("--kill", action="store_true", help="kill one worker half way (KILL=1)")
        parser.add_argument(
            "--hostile", action="store_true", help="crawl a shop that defends itself (HOSTILE=1)"
        )

        parser.add_argument(
            "--clean", action="store_true", help="remove the rows of demos, crawl nothing"
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Run the demo; exit status 1 where a product is missing or wrong."""
        # Imported here, because Scrapy imports every command, and a worker needs no shop.
        from crawler.cli.demo import clean_up, show

        return clean_up(self) if opts.clean else show(self, opts)

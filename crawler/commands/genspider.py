"""`scrapy genspider`: Scrapy's own, with one line for a domain that cannot be read."""

from __future__ import annotations

import argparse

from scrapy.commands.genspider import Command as ScrapyGenspider

from crawler.cli.scrapys_commands import Checked


class Command(Checked, ScrapyGenspider):
    """Scrapy's command, with a one-line error instead of a ValueError for such a domain."""

    def spiders(self, args: list[str], opts: argparse.Namespace) -> list[str]:
        """Return no names, because the command makes a new spider."""
        return []

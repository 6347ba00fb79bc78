"""`scrapy check`: Scrapy's own, with one line for an unknown spider."""

from __future__ import annotations

import argparse

from scrapy.commands.check import Command as ScrapyCheck

from crawler.cli.scrapys_commands import Checked


class Command(Checked, ScrapyCheck):
    """Scrapy's command, with a one-line error instead of a KeyError for an unknown spider."""

    def spiders(self, args: list[str], opts: argparse.Namespace) -> list[str]:
        """Return the arguments, which are names of spiders."""
        return args

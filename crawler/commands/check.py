"""`scrapy check`: Scrapy's own, with one line for a spider that there is not."""

from __future__ import annotations

import argparse

from scrapy.commands.check import Command as ScrapyCheck

from crawler.cli.stock_commands import Checked


class Command(Checked, ScrapyCheck):
    """Scrapy's own ends in a KeyError there."""

    def spiders(self, args: list[str], opts: argparse.Namespace) -> list[str]:
        """Its arguments are names."""
        return args

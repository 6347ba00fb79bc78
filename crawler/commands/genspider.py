"""`scrapy genspider`: Scrapy's own, with one line for a domain that cannot be read."""

from __future__ import annotations

import argparse

from scrapy.commands.genspider import Command as ScrapyGenspider

from crawler.cli.scrapys_commands import Checked
from scrapy_seine.commands.one_line_errors import guarded


class Command(Checked, ScrapyGenspider):
    """Scrapy's command, with a one-line error for such a domain or a folder it cannot write."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Write the spider's file."""
        status = guarded(lambda: super(Command, self).run(args, opts))
        self.exitcode = self.exitcode or status

    def spiders(self, args: list[str], opts: argparse.Namespace) -> list[str]:
        """Return no names, because the command makes a new spider."""
        return []

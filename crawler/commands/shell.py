"""`scrapy shell`: Scrapy's own, with one line for an unknown spider or a bad address."""

from __future__ import annotations

from scrapy.commands.shell import Command as ScrapyShell

from crawler.cli.scrapys_commands import Checked


class Command(Checked, ScrapyShell):
    """Scrapy's own ends in a traceback at either."""

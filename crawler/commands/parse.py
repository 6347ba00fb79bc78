"""`scrapy parse`: Scrapy's own, with one line for an unknown spider or a bad address."""

from __future__ import annotations

from scrapy.commands.parse import Command as ScrapyParse

from crawler.cli.stock_commands import Checked


class Command(Checked, ScrapyParse):
    """Scrapy's own ends in a traceback at either."""

"""`scrapy view`: Scrapy's own, with one line for an unknown spider or a bad address."""

from __future__ import annotations

from scrapy.commands.view import Command as ScrapyView

from crawler.cli.stock_commands import Checked


class Command(Checked, ScrapyView):
    """Scrapy's own ends in a traceback at either."""

"""`scrapy fetch`: Scrapy's own, with one line for a spider that there is not, or a bad address."""

from __future__ import annotations

from scrapy.commands.fetch import Command as ScrapyFetch

from crawler.cli.stock_commands import OfAPage


class Command(OfAPage, ScrapyFetch):
    """Scrapy's own ends in a traceback there, and with 0 where no page came."""

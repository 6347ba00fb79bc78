"""`scrapy fetch`: Scrapy's own, with one line for an unknown spider or a bad address."""

from __future__ import annotations

from scrapy.commands.fetch import Command as ScrapyFetch

from crawler.cli.scrapys_commands import PageCommand


class Command(PageCommand, ScrapyFetch):
    """Scrapy's own ends in a traceback there, and with 0 where no page came."""

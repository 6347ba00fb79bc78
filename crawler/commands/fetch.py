"""`scrapy fetch`: Scrapy's own, with one line for an unknown spider or a bad address."""

from __future__ import annotations

from scrapy.commands.fetch import Command as ScrapyFetch

from crawler.cli.scrapys_commands import PageCommand


class Command(PageCommand, ScrapyFetch):
    """Scrapy's command; one-line errors instead of a traceback, and status 1 without a page."""

"""`scrapy view`: Scrapy's own, with one line for an unknown spider or a bad address."""

from __future__ import annotations

from scrapy.commands.view import Command as ScrapyView

from crawler.cli.scrapys_commands import PageCommand


class Command(PageCommand, ScrapyView):
    """Scrapy's own ends in a traceback there, and with 0 where no page came."""

"""`scrapy migrate`: bring the database's schema up to date."""

from __future__ import annotations

import argparse

from crawler.stores.connect import endpoints
from crawler.stores.migrations import migrate, pending
from scrapy_seine.commands.base import SeineCommand


class Command(SeineCommand):
    """Applies the migrations that are missing, one process at a time."""

    summary = "Bring the database's schema up to date"
    arguments = "[--check]"
    example = "scrapy migrate --check"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare --check."""
        super().add_options(parser)
        parser.add_argument(
            "--check", action="store_true", help="only say what is missing; exit status 1 if any"
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Apply, or only look."""
        url = endpoints(self.project, need=("postgres",)).database_url
        names = pending(url) if opts.check else migrate(url)
        word = "missing" if opts.check else "applied"
        text = "\n".join(f"{word} {name}" for name in names) or "the schema is up to date"
        self.show(text, **{word: names})
        return 1 if opts.check and names else 0

"""`scrapy down`: stop this project's private servers; their data stays."""

from __future__ import annotations

import argparse

from crawler.stores import connect, embedded
from scrapy_seine.commands.base import SeineCommand


class Command(SeineCommand):
    """Stops what `scrapy up` or a crawl started."""

    summary = "Stop the private Redis and PostgreSQL; their data stays"
    example = "scrapy down"

    def perform(self, args: list[str], opts: argparse.Namespace) -> None:
        """Stop both; that none runs is no error."""
        folder = connect.data_folder(self.project)
        stopped = embedded.stop(folder)
        names = {"redis": "Redis", "postgres": "PostgreSQL"}
        what = " and ".join(names[name] for name in stopped)
        folders = list(map(str, embedded.folders(folder))) if stopped else [str(folder)]
        where = " and ".join(folders)
        text = f"stopped {what}; data stays in {where}" if what else f"nothing runs in {where}"
        self.show(text, stopped=list(stopped), data=folders)

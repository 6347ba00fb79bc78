"""`scrapy down`: stop this project's embedded servers; their data stays."""

from __future__ import annotations

import argparse

from crawler.stores import embedded
from crawler.stores.embedded.in_use import refuse_if_used
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.embedded.data_folder import data_folder


class Command(SeineCommand):
    """Stops the servers that `scrapy up` or a crawl started."""

    summary = "Stop the embedded Redis and PostgreSQL; their data stays"
    example = "scrapy down"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare --force."""
        super().add_options(parser)
        parser.add_argument(
            "--force", action="store_true", help="stop the servers even if something uses them"
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> None:
        """Stop both servers; it is no error if none runs.

        Raises:
            ConfigError: workers, a demo or a dashboard use the servers.
        """
        folder = data_folder(self.project)
        if not opts.force:
            refuse_if_used(folder)
        stopped = embedded.stop(folder)
        names = {"redis": "Redis", "postgres": "PostgreSQL"}
        servers = " and ".join(names[name] for name in stopped)
        folders = list(map(str, embedded.folders(folder))) if stopped else [str(folder)]
        places = " and ".join(folders)
        text = (
            f"stopped {servers}; data stays in {places}" if servers else f"nothing runs in {places}"
        )
        self.show(text, stopped=list(stopped), data=folders)

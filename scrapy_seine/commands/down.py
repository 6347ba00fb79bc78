"""`scrapy seine down`: stop a project's embedded servers; their data stays."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

from scrapy_seine import embedded
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.embedded import valkey
from scrapy_seine.embedded.data_folder import data_folder, layout
from scrapy_seine.endpoints import blocking_client
from scrapy_seine.errors import ConfigError

_NAMES = {"redis": "Redis", "postgres": "PostgreSQL"}


class Command(SeineCommand):
    """Stops the servers that a crawl started, unless something uses them."""

    summary = "Stop the embedded Redis; its data stays"
    example = "scrapy seine down"
    used: ClassVar[str] = "a worker or a command uses the server"
    """What is said if the embedded Redis has clients."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare --force."""
        super().add_options(parser)
        parser.add_argument(
            "--force", action="store_true", help="stop the servers even if something uses them"
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> None:
        """Stop the servers; it is no error if none runs.

        Raises:
            ConfigError: something uses the servers.
        """
        folder = data_folder(self.project)
        users = 0 if opts.force else _users(folder)
        if users:
            plural = "" if users == 1 else "s"
            text = f"{self.used} ({users} connection{plural}); end it first, or say --force"
            raise ConfigError(text)
        stopped = embedded.stop(folder)
        servers = " and ".join(_NAMES[name] for name in stopped)
        folders = list(map(str, embedded.folders(folder))) if stopped else [str(folder)]
        places = " and ".join(folders)
        text = (
            f"stopped {servers}; data stays in {places}" if servers else f"nothing runs in {places}"
        )
        self.show(text, stopped=list(stopped), data=folders)


def _users(data: Path) -> int:
    """Count the connections of other processes to the embedded Redis; 0 where it does not run.

    Each running worker, demo and dashboard has some; a killed process has none.
    """
    if not data.exists():
        return 0
    place = layout(data)
    if not valkey.running(place):
        return 0
    with blocking_client(valkey.url(place)) as redis:
        own_id = str(redis.client_id())
        return sum(client["id"] != own_id for client in redis.client_list())

"""Count the clients of the embedded servers, so that `scrapy down` does not stop used ones."""

from __future__ import annotations

from pathlib import Path

from scrapy_seine.embedded import valkey
from scrapy_seine.embedded.data_folder import layout
from scrapy_seine.endpoints import blocking_client
from scrapy_seine.errors import ConfigError


def refuse_if_used(data: Path) -> None:
    """Refuse to stop the servers of a data folder while clients are connected.

    Raises:
        ConfigError: workers, a demo or a dashboard use the servers.
    """
    if users := _users(data):
        plural = "" if users == 1 else "s"
        text = f"a worker, a demo or a dashboard uses the servers ({users} connection{plural})"
        raise ConfigError(f"{text}; end it first, or say --force")


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

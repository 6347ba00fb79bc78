"""The embedded servers of the catalogue crawler: Redis and PostgreSQL.

PostgreSQL joins the servers that `scrapy_seine.embedded` starts when this module is imported.
"""

from __future__ import annotations

from pathlib import Path

from crawler.stores import postgres_server as postgres
from scrapy_seine.connect import blocking_client
from scrapy_seine.embedded import (
    SERVERS,
    Servers,
    default_data_folder,
    folders,
    socket_path,
    start,
    stop,
    valkey,
)
from scrapy_seine.embedded.places import layout

__all__ = [
    "Servers",
    "default_data_folder",
    "folders",
    "layout",
    "postgres",
    "socket_path",
    "start",
    "stop",
    "users",
    "valkey",
]

SERVERS["postgres"] = postgres


def users(data: Path) -> int:
    """Count the connections of other processes to the embedded Redis; 0 where it does not run.

    Each worker, demo and dashboard holds some; a process that was killed holds none.
    """
    if not data.exists():
        return 0
    place = layout(data)
    if not valkey.running(place):
        return 0
    with blocking_client(valkey.url(place)) as redis:
        own = str(redis.client_id())
        return sum(client["id"] != own for client in redis.client_list())

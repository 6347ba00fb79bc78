"""The embedded servers of the catalogue crawler: Redis and PostgreSQL.

PostgreSQL joins the servers that `scrapy_seine.embedded` starts when this module is imported.
"""

from __future__ import annotations

from crawler.stores.embedded import postgres
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
from scrapy_seine.embedded.data_folder import layout

__all__ = [
    "Servers",
    "default_data_folder",
    "folders",
    "layout",
    "postgres",
    "socket_path",
    "start",
    "stop",
    "valkey",
]

SERVERS["postgres"] = postgres

"""Embedded servers for one project on one machine: Redis, and what an application adds."""

from scrapy_seine.embedded.data_folder import default_data_folder
from scrapy_seine.embedded.start_or_join import (
    SERVERS,
    Servers,
    folders,
    socket_path,
    start,
    stop,
)

__all__ = ["SERVERS", "Servers", "default_data_folder", "folders", "socket_path", "start", "stop"]

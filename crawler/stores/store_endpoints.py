"""The addresses of Redis and PostgreSQL, whether they answer, and a client for Redis.

Importing this module adds PostgreSQL to the stores of `scrapy_seine.endpoints`.
"""

from __future__ import annotations

import psycopg2

from crawler.stores import embedded  # its import adds the embedded PostgreSQL
from scrapy_seine.config import SettingsLike, flag
from scrapy_seine.embedded.data_folder import data_folder
from scrapy_seine.endpoints import (
    STORES,
    Endpoints,
    Store,
    blocking_client,
    endpoints,
    missing_stores,
    redis_client,
)
from scrapy_seine.errors import ConfigError
from scrapy_seine.sinks.postgres.database import connect

__all__ = [
    "STORES",
    "Endpoints",
    "blocking_client",
    "embedded",
    "endpoints",
    "missing_stores",
    "redis_client",
    "running_database",
]


#: Encodings of a database that can store any text; None: a proxy in between hides it.
_ENCODINGS = frozenset({"UTF8", "SQL_ASCII", None})


def running_database(settings: SettingsLike) -> str:
    """Return the URL of PostgreSQL: the one that is set, or the embedded one's if it runs, or "".

    No server is started, because this is for commands that also work without a database.
    """
    url = str(settings.get("DATABASE_URL") or "")
    if url or not flag(settings, "SEINE_EMBEDDED"):
        return url
    folder = data_folder(settings)
    if not folder.exists():
        return ""
    place = embedded.layout(folder)
    return embedded.postgres.url(place) if embedded.postgres.running(place) else ""


def _check(url: str) -> None:
    connection = connect(url)
    encoding = connection.get_parameter_status("server_encoding")
    connection.close()
    if encoding not in _ENCODINGS:
        raise ConfigError(
            f"its encoding is {encoding}, which lacks letters and signs that pages have, so that"
            " their rows would be refused; make a database with ENCODING 'UTF8'"
        )


STORES["postgres"] = Store("DATABASE_URL", ("postgresql", "postgres"), _check, (psycopg2.Error,))

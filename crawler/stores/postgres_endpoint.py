"""Where Redis and PostgreSQL are, whether they answer, and a client for Redis.

PostgreSQL joins the stores that `scrapy_seine.endpoints` knows when this module is imported.
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
    missing,
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
    "missing",
    "redis_client",
    "running_database",
]


#: Encodings of a database that can hold any text; None: what stands between does not say.
_ENCODINGS = frozenset({"UTF8", "SQL_ASCII", None})


def running_database(settings: SettingsLike) -> str:
    """Address of PostgreSQL: the one that is set, or the embedded one while it runs; else empty.

    Nothing is started: for commands that do without a database where there is none.
    """
    url = str(settings.get("DATABASE_URL") or "")
    if url or not flag(settings, "SEINE_EMBEDDED"):
        return url
    folder = data_folder(settings)
    if not folder.exists():
        return ""
    place = embedded.layout(folder)
    return embedded.postgres.url(place) if embedded.postgres.running(place) else ""


def _ask(url: str) -> None:
    connection = connect(url)
    encoding = connection.get_parameter_status("server_encoding")
    connection.close()
    if encoding not in _ENCODINGS:
        raise ConfigError(
            f"its encoding is {encoding}, which lacks letters and signs that pages have, so that"
            " their rows would be refused; make a database with ENCODING 'UTF8'"
        )


STORES["postgres"] = Store("DATABASE_URL", ("postgresql", "postgres"), _ask, (psycopg2.Error,))

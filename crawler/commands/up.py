"""`scrapy up`: start or join this project's embedded servers, and show their addresses."""

from __future__ import annotations

import argparse
import shlex

from crawler.stores import embedded, store_endpoints
from crawler.stores.embedded import postgres
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.embedded.binaries import wanted_source
from scrapy_seine.embedded.data_folder import data_folder
from scrapy_seine.printable import redact


class Command(SeineCommand):
    """Prints both addresses, and a command that opens a client on each."""

    summary = "Start or join the embedded Redis and PostgreSQL; show where both stores are"
    example = "scrapy up"

    def perform(self, args: list[str], opts: argparse.Namespace) -> None:
        """Start the servers that are missing."""
        settings = self.project
        missing_names = store_endpoints.missing_stores(settings)
        stores = store_endpoints.endpoints(settings)
        urls = _display_urls(stores, missing_names)
        redis, psql = _redis_cli(stores, missing_names), self._psql(stores, missing_names)
        folders = list(map(str, embedded.folders(data_folder(settings)) if missing_names else ()))
        lines = [
            f"Redis       {urls['redis_url']}",
            f"PostgreSQL  {urls['database_url']}",
            "",
            *(
                [f"data in {' and '.join(folders)}; `scrapy down` ends them"]
                if missing_names
                else []
            ),
            redis,
            psql,
        ]
        private = {
            "private": list(missing_names),
            "data": folders,
            "redis_cli": redis,
            "psql": psql,
        }
        self.show("\n".join(lines), **urls, **private)

    def _psql(self, stores: store_endpoints.Endpoints, missing_names: tuple[str, ...]) -> str:
        if "postgres" not in missing_names:
            return 'psql "$DATABASE_URL"'
        program = postgres.psql(wanted_source(self.project))
        return f"{shlex.quote(program)} {shlex.quote(stores.database_url)}"


def _display_urls(
    stores: store_endpoints.Endpoints, missing_names: tuple[str, ...]
) -> dict[str, str]:
    """Return both URLs; an embedded server's URL is not redacted, because it holds no secret."""
    redis_url, database_url = stores.redis_url, stores.database_url
    return {
        "redis_url": redis_url if "redis" in missing_names else redact(redis_url),
        "database_url": database_url if "postgres" in missing_names else redact(database_url),
    }


def _redis_cli(stores: store_endpoints.Endpoints, missing_names: tuple[str, ...]) -> str:
    if "redis" not in missing_names:
        return 'redis-cli -u "$REDIS_URL"'
    return f"redis-cli -s {shlex.quote(embedded.socket_path(stores.redis_url))}"

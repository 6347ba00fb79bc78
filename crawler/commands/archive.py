"""`scrapy archive PLACE`: make an archive of another database readable with this one."""

from __future__ import annotations

import argparse
from pathlib import Path

from crawler.stores.archive.batches import index
from crawler.stores.archive.object_storage import open_store
from crawler.stores.postgres_endpoint import endpoints
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.errors import ConfigError


class Command(SeineCommand):
    """Reads the archive's files and adds what is not in the index yet."""

    summary = "Put the stored pages of an archive into this database's index, to replay them"
    arguments = "[FOLDER|s3://bucket/prefix]"
    example = "mkdir -p pages && scrapy archive pages"

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Read and add; exit status 1 where a file could not be read."""
        place = args[0] if args else str(self.project.get("SEINE_ARCHIVE") or "")
        if not place:
            raise ConfigError("say where the archive is: a folder, or s3://bucket/prefix")
        if not place.startswith("s3://") and not Path(place).is_dir():
            raise ConfigError(f"{place} is no folder")
        url = endpoints(self.project, need=("postgres",)).database_url
        done = index(open_store(place), url)
        text = (
            f"{done['pages']:,} pages in {done['objects']:,} objects are new,"
            f" {done['known']:,} objects were known, {done['bad']:,} could not be read"
        )
        self.show(text, **done)
        return 1 if done["bad"] else 0

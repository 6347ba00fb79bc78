"""`scrapy archive PLACE`: make an archive of another database readable with this one."""

from __future__ import annotations

import argparse
from pathlib import Path

from crawler.stores.archive.batches import index
from crawler.stores.archive.object_storage import open_store
from crawler.stores.store_endpoints import endpoints
from scrapy_seine.commands.base import SeineCommand, one_argument
from scrapy_seine.errors import ConfigError


class Command(SeineCommand):
    """Reads the archive's files and adds the pages that the index lacks."""

    summary = "Put the stored pages of an archive into this database's index, to replay them"
    arguments = "[FOLDER|s3://bucket/prefix]"
    example = "mkdir -p pages && scrapy archive pages"

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Index the archive; exit status 1 where a file could not be read."""
        location = one_argument(args) or str(self.project.get("SEINE_ARCHIVE") or "")
        if not location:
            raise ConfigError("say where the archive is: a folder, or s3://bucket/prefix")
        if not location.startswith("s3://") and not Path(location).is_dir():
            raise ConfigError(f"{location} is no folder")
        url = endpoints(self.project, need=("postgres",)).database_url
        counts = index(open_store(location), url)
        text = (
            f"{counts['pages']:,} pages in {counts['objects']:,} objects are new,"
            f" {counts['known']:,} objects were known, {counts['bad']:,} could not be read"
        )
        self.show(text, **counts)
        return 1 if counts["bad"] else 0

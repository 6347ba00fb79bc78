"""`scrapy savepage`: save a page and the item expected from it as a test."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from crawler.cli.one_page import PageCommand, filled_fields, slug_of
from crawler.stores.export_formats import open_output
from scrapy_seine.errors import ConfigError


class Command(PageCommand):
    """Stores page.html and expected.json in a folder of tests/pages, where pytest runs it."""

    summary = "Save a page and the item read from it under tests/pages, as a test"
    example = "scrapy savepage https://books.toscrape.com/catalogue/olio_984/index.html"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the folder."""
        super().add_options(parser)
        parser.add_argument("--name", default="", help="the folder's name (default: of the URL)")
        parser.add_argument(
            "--into", default="tests/pages", help="folder in which the page's folder is made"
        )
        parser.add_argument(
            "--force", action="store_true", help="replace a saved page of this name"
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Fetch and read the page, write both files.

        Raises:
            ConfigError: the folder exists already, or cannot be written.
        """
        reply = self.get_page(args, opts)
        _, _, result = self.parse_reply(reply, opts)
        folder = Path(opts.into) / (opts.name or slug_of(reply.url))
        if folder.exists() and not opts.force:
            raise ConfigError(f"{folder} exists; --force replaces it, --name takes another")
        expected = {"url": reply.url, "content_type": reply.content_type, "kind": result.kind}
        item = filled_fields(result)
        content = {**expected, "item": item} if item else expected
        text = json.dumps(content, ensure_ascii=False, indent=2, default=str)
        write_files(folder, {"page.html": reply.body, "expected.json": f"{text}\n".encode()})
        self.show(
            f"{folder}: {result.kind}, {len(item)} fields; correct expected.json where it is wrong",
            folder=str(folder),
            kind=result.kind,
            item=item,
        )
        return 0


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a folder's files; one that was not there is removed again where a write fails.

    Raises:
        ConfigError: a file cannot be written.
    """
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            with open_output(str(folder / name)) as file:
                file.write(content)
    except (OSError, ConfigError) as error:
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{folder} cannot be written: {reason}") from None

"""`scrapy savepage`: save a page and the item expected from it as a test."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from crawler.cli.one_page import PageCommand, filled_fields, slug_of
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
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "page.html").write_bytes(reply.body)
            (folder / "expected.json").write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{folder} cannot be written: {error.strerror}") from None
        self.show(
            f"{folder}: {result.kind}, {len(item)} fields; correct expected.json where it is wrong",
            folder=str(folder),
            kind=result.kind,
            item=item,
        )
        return 0

"""`scrapy export products`: stream a table as CSV, JSON lines or Parquet."""

from __future__ import annotations

import argparse
import sys

import orjson

from crawler.reads.crawl_report import plural
from crawler.stores.export import TABLES, Selection, stream
from crawler.stores.export_formats import FORMATS, format_of, open_output
from crawler.stores.store_endpoints import endpoints
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.errors import ConfigError


class Command(SeineCommand):
    """Streams rows in constant memory, all of one snapshot."""

    summary = "Export products, their history, rejections or attempts"
    arguments = "[TABLE] [--format csv|jsonl|parquet] [--where CONDITION] [--output FILE]"
    example = "scrapy export products --format csv --where 'price<100' --output cheap.csv"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the format, the filter and the file."""
        super().add_options(parser)
        parser.add_argument("--format", default="", help=", ".join(FORMATS) + " (default: csv)")
        parser.add_argument(
            "--where",
            action="append",
            default=[],
            metavar="CONDITION",
            help="field, one of = != < <= > >= ~ (contains), value; may be given several times",
        )
        parser.add_argument("--columns", default="", help="fields, separated by commas")
        parser.add_argument("--limit", type=int, default=None, help="rows, at most")
        parser.add_argument(
            "--raw",
            action="store_true",
            help="leave cells that begin a formula, and control characters, as they are",
        )
        parser.add_argument("--output", "-o", default="-", help="file (default: standard output)")

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Stream the rows."""
        if len(args) > 1:
            raise ConfigError(f"one table at a time; there is {', '.join(TABLES)}")
        columns = opts.columns
        selection = Selection.parse(
            args[0] if args else "products", columns, opts.where, opts.limit
        )
        name = format_of(opts.format, "" if opts.output == "-" else opts.output)
        if name == "parquet" and opts.output == "-":
            raise ConfigError("Parquet needs a file: add --output FILE")
        url = endpoints(self.project, need=("postgres",)).database_url
        with stream(url, selection) as (header, chunks), open_output(opts.output) as file:
            rows = FORMATS[name](header, chunks, file, raw=opts.raw)
        self._report(rows, selection.table, opts.output)
        return 0

    def _report(self, rows: int, table: str, output: str) -> None:
        if self.as_json:
            text = orjson.dumps({"table": table, "rows": rows, "file": output}).decode()
        else:
            target = "" if output == "-" else f" to {output}"
            text = f"exported {plural(rows, 'row')} of {table}{target}"
        # Not mixed with the data, where that goes to standard output.
        print(text, file=sys.stderr if output == "-" else sys.stdout)

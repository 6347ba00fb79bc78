"""`scrapy watch URL`: a shop's products in a live table, and at the end as a CSV."""

from __future__ import annotations

import argparse
import asyncio
import re
import socket
import ssl
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.exceptions import UsageError

from crawler.cli.one_page import site_of
from crawler.extract.links.registered_domain import site_of as domain_of
from crawler.reads.crawl_report import plural
from crawler.stores.export_formats import format_of
from crawler.stores.postgres_endpoint import (
    STORES,
    endpoints,
    missing,
    running_database,
)
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.one_line_errors import complain
from scrapy_seine.commands.which_spider import seed_reader
from scrapy_seine.config import flag
from scrapy_seine.embedded.binaries import wanted_source
from scrapy_seine.embedded.data_folder import data_folder
from scrapy_seine.errors import BadSeed, ConfigError, SeineError
from scrapy_seine.reads import lazy_rich

if TYPE_CHECKING:
    from crawler.cli.live_table import Outcome

#: Seconds that a host may take to accept a connection.
_REACH_S = 10


class Command(SeineCommand):
    """Crawls one shop in a crawl of its own; nothing has to be set up, known or cleared before."""

    summary = "Show a shop's products as they are found, and write them as CSV"
    arguments = "URL [--output FILE]"
    example = "scrapy watch https://books.toscrape.com/"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the file."""
        super().add_options(parser)
        parser.add_argument(
            "--output", "-o", default="", help=".csv, .jsonl or .parquet (default: SITE.csv)"
        )
        parser.add_argument("--spider", default="catalog", help=argparse.SUPPRESS)

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Watch; exit status 1 where no product was found.

        Raises:
            ConfigError: the URL is none, or the file cannot be written.
        """
        # Scrapy imports every command for each; a worker watches nobody.
        from crawler.cli.live_table import Wish, watch
        from crawler.cli.output_checks import check_file

        if len(args) != 1:
            raise UsageError("name one URL")
        # What is written http:80 may be a host of that name.
        if wrong := re.match(r"(https?)(?!://)(?::/+|[:/]+(?=[^\d/]))", args[0]):
            meant = f"{wrong[1]}://{args[0][wrong.end() :]}"
            raise ConfigError(f"{args[0][:200]} is no URL; did you mean {meant[:200]}?")
        has_scheme = "://" in args[0]
        url = args[0] if has_scheme else f"https://{args[0]}"
        try:
            seed_reader(self.project, opts.spider)(url.encode())
        except BadSeed as error:
            raise ConfigError(f"{args[0][:200]}: {error}") from None
        site = site_of(self.project, opts.spider, url).name or domain_of(url)
        output = Path(opts.output or f"{re.sub(r'[^A-Za-z0-9.-]+', '-', site)}.csv")
        kind = format_of("", str(output))
        check_file(output)
        if not self.project.get("SEINE_PROXIES") and not self.project.get("SEINE_PROXIES_PATH"):
            _reach(url)
            if not has_scheme and not _speaks_tls(url):
                url = f"http://{args[0]}"
                complain(f"{args[0]} speaks no TLS: watching {url}")
        folder = data_folder(self.project) / "watch"
        wish = Wish(url=url, site=site, output=output, kind=kind, folder=folder)
        console = lazy_rich.Console(highlight=False, file=sys.stderr if self.as_json else None)
        found = asyncio.run(
            watch(lambda: endpoints(self.project), wish, console, self._own_servers())
        )
        self._report(found, url, output)
        return 0

    def _report(self, found: Outcome, url: str, output: Path) -> None:
        """Say how a watch ended.

        Raises:
            SeineError: no product was found.
        """
        if not found.products and found.stopped:
            raise SeineError(f"stopped after {plural(found.pages, 'page')}, before a product")
        if not found.products:
            complain(f"the worker's log is {found.log}")
            text = f"no product was found on {plural(found.pages, 'page')}"
            raise SeineError(f"{text}; scrapy explain {url} gives the reason")
        end = "stopped: " if found.stopped else ""
        first = f", the first after {found.first_s:.0f} s" if found.first_s is not None else ""
        held = (
            f"; {plural(found.doubtful, 'doubtful value')} kept out, see scrapy export doubtful"
            if found.doubtful
            else ""
        )
        self.show(
            f"{end}{found.products:,} products in {output}, {found.pages:,} pages,"
            f" {found.seconds:.0f} s{first}{held}",
            doubtful=found.doubtful,
            products=found.products,
            pages=found.pages,
            seconds=found.seconds,
            first_s=found.first_s,
            file=str(output),
            stopped=found.stopped,
        )

    def _own_servers(self) -> dict[str, str]:
        """Return by what a worker starts or joins the embedded servers; empty: others are used."""
        if missing(self.project) != tuple(STORES) or not flag(self.project, "SEINE_EMBEDDED"):
            return {}
        if running_database(self.project):  # nothing to wait for: two starts would share the CPU
            return {}
        return {
            "SEINE_EMBEDDED": "1",
            "SEINE_DATA_DIR": str(data_folder(self.project)),
            "SEINE_EMBEDDED_BINARIES": wanted_source(self.project),
        }


def _reach(url: str) -> None:
    """Make sure that a host is there: a worker would try a misspelt one again for minutes.

    Raises:
        ConfigError: its name is unknown, or nothing listens.
    """
    try:
        socket.create_connection(_place(url), _REACH_S).close()
    except (OSError, UnicodeError) as error:
        host, port = _place(url)
        raise ConfigError(f"{host}:{port} cannot be reached: {error}") from None


def _speaks_tls(url: str) -> bool:
    """Whether a host that can be reached speaks TLS; one that is silent may."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # the worker judges it
    try:
        with socket.create_connection(_place(url), _REACH_S) as connection:
            context.wrap_socket(connection, server_hostname=_place(url)[0]).close()
    except TimeoutError:
        return True
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")  # it refuses us, by TLS
    except OSError:
        return False
    return True


def _place(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)

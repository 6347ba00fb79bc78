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
from crawler.stores.store_endpoints import (
    STORES,
    endpoints,
    missing_stores,
    running_database,
)
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.one_line_errors import INTERRUPTED, complain
from scrapy_seine.commands.which_spider import seed_reader
from scrapy_seine.config import flag
from scrapy_seine.embedded.binaries import wanted_source
from scrapy_seine.embedded.data_folder import data_folder
from scrapy_seine.errors import BadSeed, ConfigError, SeineError
from scrapy_seine.reads import lazy_rich

if TYPE_CHECKING:
    from crawler.cli.live_table import Outcome

#: Seconds that a host may take to accept a connection.
_CONNECT_TIMEOUT_S = 10


class Command(SeineCommand):
    """Crawls one shop in a crawl of its own; needs no setup and no earlier state."""

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
        """Watch the crawl; exit status 1 where no product was found.

        Raises:
            ConfigError: the URL is not valid, or the file cannot be written.
        """
        # Imported here, because Scrapy imports every command, and a worker needs no live table.
        from crawler.cli.live_table import Target, watch
        from crawler.cli.output_checks import check_file

        if len(args) != 1:
            raise UsageError("name one URL")
        # http:80 may be a host named http.
        if misspelt_scheme := re.match(r"(https?)(?!://)(?::/+|[:/]+(?=[^\d/]))", args[0]):
            suggestion = f"{misspelt_scheme[1]}://{args[0][misspelt_scheme.end() :]}"
            raise ConfigError(f"{args[0][:200]} is no URL; did you mean {suggestion[:200]}?")
        has_scheme = "://" in args[0]
        url = args[0] if has_scheme else f"https://{args[0]}"
        try:
            url = seed_reader(self.project, opts.spider)(url.encode())[0].url
        except BadSeed as error:
            raise ConfigError(f"{args[0][:200]}: {error}") from None
        site = site_of(self.project, opts.spider, url).name or domain_of(url)
        output = Path(opts.output or f"{re.sub(r'[^A-Za-z0-9.-]+', '-', site)}.csv")
        kind = format_of("", str(output))
        check_file(output)
        if not self.project.get("SEINE_PROXIES") and not self.project.get("SEINE_PROXIES_PATH"):
            _check_reachable(url)
            if not has_scheme and not _speaks_tls(url):
                url = f"http://{args[0]}"
                complain(f"{args[0]} speaks no TLS: watching {url}")
        folder = data_folder(self.project) / "watch"
        target = Target(url=url, site=site, output=output, kind=kind, folder=folder)
        console = lazy_rich.Console(highlight=False, file=sys.stderr if self.as_json else None)
        outcome = asyncio.run(
            watch(lambda: endpoints(self.project), target, console, self._own_servers())
        )
        self._report(outcome, url, output)
        return INTERRUPTED if outcome.stopped else 0

    def _report(self, outcome: Outcome, url: str, output: Path) -> None:
        """Report how a watch ended.

        Raises:
            SeineError: no product was found, or the worker failed.
        """
        if not outcome.products and outcome.stopped:
            complain(f"stopped after {plural(outcome.pages, 'page')}, before a product")
            return
        if outcome.status and not outcome.stopped:
            complain(f"the worker's log is {outcome.log}")
            products = f"; the first {outcome.products:,} products are in {output}"
            raise SeineError(
                f"the worker ended with status {outcome.status} after"
                f" {plural(outcome.pages, 'page')}, before the crawl was complete"
                f"{products if outcome.products else ''}"
            )
        if not outcome.products:
            complain(f"the worker's log is {outcome.log}")
            text = f"no product was found on {plural(outcome.pages, 'page')}"
            raise SeineError(f"{text}; scrapy explain {url} gives the reason")
        end = "stopped: " if outcome.stopped else ""
        first_text = (
            f", the first after {outcome.first_s:.0f} s" if outcome.first_s is not None else ""
        )
        doubtful_text = (
            f"; {plural(outcome.doubtful, 'doubtful value')} kept out, see scrapy export doubtful"
            if outcome.doubtful
            else ""
        )
        self.show(
            f"{end}{outcome.products:,} products in {output}, {outcome.pages:,} pages,"
            f" {outcome.seconds:.0f} s{first_text}{doubtful_text}",
            doubtful=outcome.doubtful,
            products=outcome.products,
            pages=outcome.pages,
            seconds=outcome.seconds,
            first_s=outcome.first_s,
            file=str(output),
            stopped=outcome.stopped,
        )

    def _own_servers(self) -> dict[str, str]:
        """Return the settings by which a worker starts embedded servers; empty: not needed."""
        if missing_stores(self.project) != tuple(STORES) or not flag(
            self.project, "SEINE_EMBEDDED"
        ):
            return {}
        if running_database(self.project):  # a running database needs no start
            return {}
        return {
            "SEINE_EMBEDDED": "1",
            "SEINE_DATA_DIR": str(data_folder(self.project)),
            "SEINE_EMBEDDED_BINARIES": wanted_source(self.project),
        }


def _check_reachable(url: str) -> None:
    """Make sure that a host can be reached, because a worker retries a misspelt one for minutes.

    Raises:
        ConfigError: its name is unknown, or it accepts no connection.
    """
    try:
        socket.create_connection(_host_and_port(url), _CONNECT_TIMEOUT_S).close()
    except (OSError, UnicodeError) as error:
        host, port = _host_and_port(url)
        raise ConfigError(f"{host}:{port} cannot be reached: {error}") from None


def _speaks_tls(url: str) -> bool:
    """Whether a reachable host speaks TLS; true for one that does not answer in time."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = (
        False,
        ssl.CERT_NONE,
    )  # the worker checks the certificate
    try:
        with socket.create_connection(_host_and_port(url), _CONNECT_TIMEOUT_S) as connection:
            context.wrap_socket(connection, server_hostname=_host_and_port(url)[0]).close()
    except TimeoutError:
        return True
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")  # a TLS host that refuses us
    except OSError:
        return False
    return True


def _host_and_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)

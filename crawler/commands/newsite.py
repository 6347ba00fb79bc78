"""`scrapy newsite`: draft a site file from what the default parser reads of up to ten products."""

from __future__ import annotations

import argparse
import asyncio
import keyword
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import attrs
from scrapy.exceptions import UsageError

from crawler.cli.one_page import BadStatus, PageCommand, PageReply, fetch
from crawler.cli.site_draft import PRODUCTS, Round, draft
from crawler.cli.start_warnings import options_of_files
from crawler.extract import Found, Link
from crawler.extract.links.registered_domain import site_of
from crawler.stores.export_formats import open_output
from scrapy_seine.commands.one_line_errors import complain
from scrapy_seine.engine.download.private_addresses import policy_from
from scrapy_seine.errors import ConfigError, SeineError
from scrapy_seine.politeness.robots_rules import Robots
from scrapy_seine.politeness.robots_status import state_of
from scrapy_seine.urls import absolute, domain

#: Seconds between two pages of a site: at least, and the longest Crawl-delay that is kept.
_PAUSE_S, _MAX_PAUSE_S = 0.3, 5.0


class Command(PageCommand):
    """Reads up to ten products that the given pages link to, and writes spiders/sites/NAME.py."""

    summary = "Write the draft of a site file from what the default parser sees of a shop"
    arguments = "URL …|FILE"
    example = "scrapy newsite https://books.toscrape.com/ --name bookshop"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the file."""
        super().add_options(parser)
        parser.add_argument("--name", default="", help="short name (default: its domain)")
        parser.add_argument(
            "--into", default="spiders/sites", help="folder in which the file is written"
        )
        parser.add_argument("--force", action="store_true", help="replace a file that is there")

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Read the pages and write the file.

        Raises:
            ConfigError: the name is not valid, or in use, or the file exists already.
        """
        try:
            hosts = {domain(url) for url in args if "://" in url}
        except ValueError as error:
            raise ConfigError(str(error)) from None
        if len(hosts) > 1:
            raise UsageError("one site at a time: the URLs have different hosts")
        if opts.name:  # before a page is fetched
            _check_name(opts.name)
        first_reply = self.get_page(args[:1], opts)
        name = opts.name or re.sub(r"\W+", "_", site_of(first_reply.url).partition(".")[0])
        _check_name(name)
        path = Path(opts.into) / f"{name}.py"
        if path.exists() and not opts.force:
            raise ConfigError(f"{path} exists; --force replaces it, --name takes another")
        site_options, _ = options_of_files(self.project, opts.spider)
        if name in {options.site for options in site_options} and not path.exists():
            raise ConfigError(f"a site file has the name {name!r} already; --name takes another")
        results = self._read_products(first_reply, args[1:], opts)
        text = draft(name, [first_reply.url, *args[1:]], results)
        with open_output(str(path)) as file:
            file.write(text.encode())
        products = sum(result.kind == "product" for result in results)
        counts = {"path": str(path), "pages": len(results), "products": products}
        self.show(f"{path}: from {len(results)} pages, {products} of them products", **counts)
        if not self.as_json:
            print("next:\n  scrapy explain URL   what is read of a page now")
            print(f"  scrapy crawl catalog -a site={name}")
        return 0

    def _read_products(
        self, first_reply: PageReply, product_urls: list[str], opts: argparse.Namespace
    ) -> list[Found]:
        """Read the pages, and products that they link to."""
        site, page, result = self.parse_reply(first_reply, opts)
        results = [result]
        if "://" not in first_reply.url or not first_reply.fetched:
            return results
        allowed, pause_s = self._robots_rules(first_reply.url)
        queue = Round(
            [Link(url, "product", "named by the user") for url in product_urls], {first_reply.url}
        )
        queue.add(site.links(page, first_reply.robots))
        while sum(result.kind == "product" for result in results) < PRODUCTS and (
            link := queue.next()
        ):
            if not allowed(link.url):
                continue
            time.sleep(pause_s)
            try:
                reply = self._fetch(link.url, first_reply.url)
            except SeineError:
                continue
            site, page, result = self.parse_reply(reply, opts)
            if page.is_html:
                results.append(result)
                queue.add(site.links(page, reply.robots))
                self._show_progress(results)
        if sys.stderr.isatty():
            print(file=sys.stderr)
        return results

    def _fetch(self, url: str, origin: str) -> PageReply:
        policy = policy_from(self.project)
        if policy.mode == "seeds" and domain(url) != domain(origin):
            policy = attrs.evolve(policy, mode="deny")  # the page names it, not the user
        return asyncio.run(fetch(url, str(self.project.get("USER_AGENT")), policy))

    def _robots_rules(self, url: str) -> tuple[Callable[[str], bool], float]:
        """Return a check by robots.txt and the pause between two pages, s.

        If robots.txt cannot be read, no page is allowed.
        """
        agent = str(self.project.get("USER_AGENT"))
        try:
            robots = Robots.parse("rules", self._fetch(absolute(url, "/robots.txt"), url).body)
        except BadStatus as error:
            robots = Robots(state_of(error.status))
        except SeineError:
            robots = Robots("away")
        if robots.state == "away":
            complain("robots.txt cannot be read, so that this page alone is looked at")
        pause_s = min(max(_PAUSE_S, robots.delay_s(agent) or 0.0), _MAX_PAUSE_S)
        return (lambda target: robots.allows(target, agent)), pause_s

    @staticmethod
    def _show_progress(results: list[Found]) -> None:
        if sys.stderr.isatty():
            products = sum(result.kind == "product" for result in results)
            print(
                f"\r{len(results)} pages, {products} products ", end="", file=sys.stderr, flush=True
            )


def _check_name(name: str) -> None:
    """Make sure that a Python module can have this name.

    Raises:
        ConfigError: the name is no identifier.
    """
    if keyword.iskeyword(name):
        raise ConfigError(f"{name!r} is a word of Python and cannot name a file; give --name")
    if not name.isidentifier():
        raise ConfigError(f"{name!r} cannot name a site; give --name letters and digits")

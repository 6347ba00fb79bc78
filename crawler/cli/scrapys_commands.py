"""One-line errors of Scrapy's own commands for an unknown spider or an invalid address."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapy.commands import ScrapyCommand
from scrapy.utils.url import guess_scheme
from w3lib.url import is_url

from crawler.reads.catalogue_settings import TABLE
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.one_line_errors import guarded
from scrapy_seine.commands.which_spider import spider_class
from scrapy_seine.engine.ending.no_page_status import fail_without_a_page
from scrapy_seine.engine.settings_check import check
from scrapy_seine.errors import ConfigError
from scrapy_seine.urls import slot


class Checked(ScrapyCommand):
    """Checks a command's arguments, which Scrapy answers with a KeyError or a ValueError."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the command, if its spider and its addresses are valid."""
        self.exitcode = guarded(lambda: self.check_arguments(args, opts))
        if not self.exitcode:
            super().run(args, opts)  # type: ignore[safe-super]

    def check_arguments(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check the settings, the spider, the address and the callback.

        Raises:
            ConfigError: a setting or an argument is invalid.
        """
        assert self.settings is not None  # Scrapy sets them before it runs a command
        SeineCommand.check_names(self.settings)
        check(self.settings, TABLE)
        check_named(self.settings, self.spiders(args, opts), args)

    def spiders(self, args: list[str], opts: argparse.Namespace) -> list[str]:
        """Return the spiders that the command line names."""
        return [opts.spider] if opts.spider else []


class PageCommand(Checked):
    """A command about one page; its exit status is 1 if it gets no page."""

    def check_arguments(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check the arguments, and make the command fail if it gets no page.

        Raises:
            ConfigError: an argument is invalid, or there is not one URL, for which Scrapy would
                print its whole usage.
        """
        super().check_arguments(args, opts)
        if len(args) != 1 or not is_url(args[0]):
            words = " ".join(args) or "none"
            raise ConfigError(f"name one URL, with http:// or https:// in front; it is {words}")
        fail_without_a_page(self.settings)


def check_named(settings: Any, spiders: list[str], addresses: list[str]) -> None:
    """Check a command's spiders and addresses.

    Raises:
        ConfigError: the spider or file does not exist, or an address cannot be read.

    >>> check_named(None, [], ["http://a:99999/"])
    Traceback (most recent call last):
    scrapy_seine.errors.ConfigError: 'http://a:99999/' cannot be read: Port out of range 0-65535
    >>> check_named(None, [], ["-1"])
    Traceback (most recent call last):
    scrapy_seine.errors.ConfigError: '-1' cannot be read: '-1' is no host name
    """
    for name in spiders:
        spider_class(settings, name)
    for address in addresses:
        try:
            _ = urlsplit(address).port
            slot(guess_scheme(address))
        except ValueError as error:
            raise ConfigError(f"{address!r} cannot be read: {error}") from None
        if address.startswith(("/", "./", "../")):
            if not Path(address).exists():
                raise ConfigError(f"{address}: there is no such file")
            if Path(address).is_dir():
                raise ConfigError(f"{address}: it is a folder, not a page's file")

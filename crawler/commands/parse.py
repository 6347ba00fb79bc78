"""`scrapy parse`: Scrapy's own, with one line for an unknown spider, callback or address."""

from __future__ import annotations

import argparse

from scrapy import Request
from scrapy.commands.parse import Command as ScrapyParse
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from crawler.cli.scrapys_commands import PageCommand
from scrapy_seine.commands.which_spider import spider_class
from scrapy_seine.errors import ConfigError
from scrapy_seine.misspelt_names import did_you_mean


class Command(PageCommand, ScrapyParse):
    """Scrapy's command; one-line errors instead of a traceback, and status 1 without a page."""

    def check_arguments(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check the spider, the address and the callback.

        Raises:
            ConfigError: there is no such spider, or it has no such callback, or --meta or
                --cbkwargs is JSON, but no object.
        """
        super().check_arguments(args, opts)
        for option, value in {"--meta": opts.meta, "--cbkwargs": opts.cbkwargs}.items():
            if value and not isinstance(value, dict):
                raise ConfigError(f"{option} {value!r} is not a JSON object")
        name = opts.spider or self._spider_of(args[0])
        spider_cls = spider_class(self._project, name)
        if opts.callback and not callable(getattr(spider_cls, opts.callback, None)):
            methods = [
                attribute
                for attribute in dir(spider_cls)
                if callable(getattr(spider_cls, attribute, None))
            ]
            suggestion = did_you_mean(opts.callback, methods)
            raise ConfigError(f"-c {opts.callback}: spider {name} has no such callback{suggestion}")

    @property
    def _project(self) -> Settings:
        assert self.settings is not None  # Scrapy sets them before it runs a command
        return self.settings

    def _spider_of(self, url: str) -> str:
        """Return the one spider of the project that takes an address.

        Raises:
            ConfigError: no spider takes the address, or several do.
        """
        settings = self._project
        loader = load_object(settings["SPIDER_LOADER_CLASS"]).from_settings(settings)
        spider_names: list[str] = loader.find_by_request(Request(url))
        if len(spider_names) == 1:
            return spider_names[0]
        names = ", ".join(sorted(spider_names or loader.list())) or "none"
        raise ConfigError(
            f"which spider is to read {url}? name it, as --spider NAME; there is {names}"
        )

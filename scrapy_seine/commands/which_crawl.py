"""Which crawl a command is about: `--crawl` or `--spider`, else the only spider's."""

from __future__ import annotations

import argparse

from redis.asyncio import Redis
from scrapy.settings import Settings
from scrapy.spiderloader import get_spider_loader

from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.which_spider import spider_class
from scrapy_seine.config import FrontierConfig
from scrapy_seine.errors import ConfigError
from scrapy_seine.misspelt_names import did_you_mean
from scrapy_seine.reads.fleet import crawl_names

#: Names of crawls in an error message, at most.
_NAMED = 10


def declare_crawl(command: SeineCommand, parser: argparse.ArgumentParser) -> None:
    """Declare the options that name the crawl."""
    usual = command.usual_spider or "the project's only spider"
    parser.add_argument("--crawl", default="", help=f"name of the crawl (default: {usual})")
    parser.add_argument(
        "--spider", default="", help=f"spider whose crawl is meant (default: {usual})"
    )


def crawl_of(command: SeineCommand, opts: argparse.Namespace) -> str:
    """Return the name of the crawl that the options and settings select.

    Raises:
        ConfigError: the name is invalid.
    """
    return frontier_of(command, opts).crawl


def frontier_of(command: SeineCommand, opts: argparse.Namespace) -> FrontierConfig:
    """Return the frontier that the options and settings select.

    Raises:
        ConfigError: a setting is wrong, or no spider is selected or has this name.
    """
    if opts.spider:
        spider_class(command.project, opts.spider)
    if opts.crawl:
        command.project.set("SEINE_CRAWL", opts.crawl, priority="cmdline")
    crawl = str(command.project.get("SEINE_CRAWL") or "")
    spider = opts.spider or command.usual_spider or crawl or only_spider(command.project)
    return FrontierConfig.from_settings(command.project, spider)


def only_spider(settings: Settings) -> str:
    """Return the name of the project's only spider.

    Raises:
        ConfigError: the project has several spiders, or none.
    """
    names = sorted(get_spider_loader(settings).list())
    if len(names) == 1:
        return str(names[0])
    spiders_text = f"the spiders {', '.join(names)}" if names else "no spider"
    raise ConfigError(
        f"which crawl is meant? say --spider NAME, because the project has {spiders_text}"
    )


async def make_sure(redis: Redis, crawl: str) -> None:
    """Check that a crawl named by the user exists.

    Raises:
        ConfigError: it does not.
    """
    crawls = await crawl_names(redis)
    if crawl not in crawls:
        known_text = ", ".join(crawls[:_NAMED]) or "none yet"
        text = f"nothing is known of a crawl {crawl!r}; there is {known_text}"
        raise ConfigError(f"{text}{did_you_mean(crawl, crawls)}")

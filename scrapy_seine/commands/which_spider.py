"""Which of a project's spiders a command is about, and how it parses its seeds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from scrapy import Request, Spider
from scrapy.settings import Settings
from scrapy.utils.misc import load_object
from scrapy_redis.spiders import RedisMixin

from scrapy_seine.broken_imports import broken_files
from scrapy_seine.engine.starting.seed_format import requests_of
from scrapy_seine.errors import ConfigError
from scrapy_seine.misspelt_names import did_you_mean


def seed_reader(settings: Settings, spider: str) -> Callable[[bytes], list[Request]]:
    """Return a function that parses a seed as *spider* would; it raises BadSeed for a bad one.

    Raises:
        ConfigError: the project has no such spider.
    """
    return reader_of(spider_class(settings, spider), settings)


def reader_of(kind: Any, settings: Settings) -> Callable[[bytes], list[Request]]:
    """Do the same for a spider's class."""
    if not issubclass(kind, RedisMixin):
        return partial(requests_of, kind)  # it has no parser, and may need arguments
    spider = kind()
    spider.redis_encoding = spider.redis_encoding or settings.get("REDIS_ENCODING") or "utf-8"
    return partial(requests_of, spider)


def spider_class(settings: Settings, spider: str) -> type[Spider]:
    """Return the class of one of the project's spiders.

    Raises:
        ConfigError: the project has no such spider.
    """
    # Scrapy's get_spider_loader copies all settings first, for 10 ms; no loader changes them.
    loader = load_object(settings["SPIDER_LOADER_CLASS"]).from_settings(settings)
    try:
        kind: type[Spider] = loader.load(spider)
        return kind
    except KeyError:
        names = ", ".join(sorted(loader.list())) or "none"
        left_out = "".join(f"; left out: {file}" for file in broken_files())
        suggestion = did_you_mean(spider, loader.list())
        raise ConfigError(
            f"no spider is named {spider!r}; there is {names}{left_out}{suggestion}"
        ) from None

"""A spider loader that logs one line for a broken file instead of failing."""

from __future__ import annotations

import builtins
import warnings
from collections import defaultdict
from typing import Self

from scrapy import Request, Spider
from scrapy.settings import BaseSettings
from scrapy.utils.spider import iter_spider_classes

from scrapy_seine.broken_imports import walk


class SpiderLoader:
    """Finds the spiders of every module that can be imported (`scrapy_seine.broken_imports`).

    It keeps the protocol of Scrapy's own (scrapy.spiderloader.SpiderLoaderProtocol), which is not
    its base, because that one finds spiders by private methods only.
    """

    def __init__(self, settings: BaseSettings) -> None:
        self.spiders: dict[str, type[Spider]] = {}
        by_name: defaultdict[str, list[type[Spider]]] = defaultdict(list)
        for name in settings.getlist("SPIDER_MODULES"):
            for module in walk(name):
                for kind in iter_spider_classes(module):
                    by_name[kind.name].append(kind)
                    self.spiders[kind.name] = kind
        twice = [kind for kinds in by_name.values() if len(kinds) > 1 for kind in kinds]
        if twice:
            lines = [
                f"  {kind.__name__} named {kind.name!r} (in {kind.__module__})" for kind in twice
            ]
            text = "There are several spiders with the same name:\n\n" + "\n\n".join(lines)
            warnings.warn(f"{text}\n\n  This can cause unexpected behavior.", stacklevel=3)

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Load the spiders of SPIDER_MODULES."""
        return cls(settings)

    def load(self, spider_name: str) -> type[Spider]:
        """Return the class of a spider.

        Raises:
            KeyError: there is no spider of that name.
        """
        try:
            return self.spiders[spider_name]
        except KeyError:
            raise KeyError(f"Spider not found: {spider_name}") from None

    def find_by_request(self, request: Request) -> builtins.list[str]:
        """Return the names of the spiders that accept a request."""
        return [name for name, kind in self.spiders.items() if kind.handles_request(request)]

    def list(self) -> builtins.list[str]:
        """Return the names of all spiders."""
        return list(self.spiders)

"""The plans of a spider's sites, for the commands that plan jobs."""

from __future__ import annotations

from typing import Any

from scrapy.settings import Settings

from crawler.catalogue.jobs.model import Plan
from scrapy_seine.commands.which_spider import spider_class


def plans_of(settings: Settings, spider: str) -> list[Plan]:
    """Return the coordinator's plans for the sites of *spider*; a spider may have none.

    Raises:
        ConfigError: the project has no such spider.
    """
    spider_cls: Any = spider_class(settings, spider)
    return list(spider_cls.plans()) if hasattr(spider_cls, "plans") else []

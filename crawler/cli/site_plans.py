"""What the commands that plan jobs share: the plans of a spider's sites."""

from __future__ import annotations

from typing import Any

from scrapy.settings import Settings

from crawler.catalogue.jobs.model import Plan
from scrapy_seine.commands.which_spider import spider_class


def plans_of(settings: Settings, spider: str) -> list[Plan]:
    """Return what the coordinator is to do for the sites of *spider*; a spider may plan nothing.

    Raises:
        ConfigError: the project has no such spider.
    """
    found: Any = spider_class(settings, spider)
    return list(found.plans()) if hasattr(found, "plans") else []

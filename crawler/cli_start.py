"""What the project's files say before a worker starts, for `scrapy crawl` and `scrapy doctor`."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from scrapy.settings import Settings

from crawler.reads.settings_table import TABLE
from crawler.reads.start_checks import Wish, skew_finding, start_findings
from scrapy_seine.commands.base import spider_class
from scrapy_seine.engine.settings_table import strangers
from scrapy_seine.errors import ConfigError
from scrapy_seine.loading import BrokenFile, broken_files

logger = logging.getLogger(__name__)


def told_by_files(settings: Settings, spider: str) -> tuple[Sequence[Wish], Sequence[BrokenFile]]:
    """Return how site files want their sites fetched, and the files that are left out."""
    try:
        found = spider_class(settings, spider)
    except ConfigError:  # another command says so
        return (), broken_files()
    wishes = getattr(found, "wishes", tuple)
    asked = [Wish(*wish) for wish in wishes()]
    return asked, broken_files()


def tell(settings: Settings, spider: str, skew_s: float) -> None:
    """Log one line for each thing that a worker starts without."""
    for stranger in strangers(settings, TABLE):
        logger.warning("%s", stranger)
    wishes, broken = told_by_files(settings, spider)
    for finding in [*start_findings(settings, wishes, broken), *skew_finding(skew_s)]:
        if finding.level != "ok":
            logger.warning("%s: %s; %s", finding.subject, finding.text, finding.advice)

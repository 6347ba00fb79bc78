"""What the project's files say before a worker starts, for `scrapy crawl` and `scrapy doctor`."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Sequence
from importlib import import_module

from scrapy.settings import SETTINGS_PRIORITIES, Settings, default_settings
from scrapy.spiders import Spider

from crawler.reads.catalogue_settings import TABLE
from crawler.reads.doctor.clocks import clock_findings
from crawler.reads.doctor.start_checks import Wish, start_findings
from crawler.reads.doctor.unknown_settings import refuse_strays
from scrapy_seine.broken_imports import BrokenFile, broken_files
from scrapy_seine.commands.which_spider import spider_class
from scrapy_seine.engine.settings_check import strangers
from scrapy_seine.errors import ConfigError

logger = logging.getLogger(__name__)


def told_by_files(settings: Settings, spider: str) -> tuple[Sequence[Wish], Sequence[BrokenFile]]:
    """Return how site files want their sites fetched, and the files that are left out."""
    try:
        return told_by(spider_class(settings, spider))
    except ConfigError:  # another command says so
        return (), broken_files()


def told_by(spider: type[Spider]) -> tuple[Sequence[Wish], Sequence[BrokenFile]]:
    """Return how a spider's site files want their sites fetched, and the files left out."""
    wishes = getattr(spider, "wishes", tuple)
    return [Wish(*wish) for wish in wishes()], broken_files()


def known_settings(settings: Settings) -> Collection[str]:
    """Return the names that the project's settings module defines, and Scrapy's.

    The command line's own are not among them, so that a misspelt one is found.
    """
    module = os.environ.get("SCRAPY_SETTINGS_MODULE", "")
    least = SETTINGS_PRIORITIES["cmdline"]
    names = {str(name) for name in settings if (settings.getpriority(str(name)) or 0) < least}
    names |= {name for name in vars(default_settings) if name.isupper()}
    return (
        names | {name for name in vars(import_module(module)) if name.isupper()}
        if module
        else names
    )


def check_names(settings: Settings) -> None:
    """End the start where -s names no setting; warn of such variables.

    Raises:
        ConfigError: with what may be meant.
    """
    for text in refuse_strays(settings, os.environ, known_settings(settings)):
        logger.warning("settings: %s", text)


def tell(settings: Settings, spider: type[Spider], skew_s: float) -> None:
    """Log one line for each thing that a worker starts without."""
    for stranger in strangers(settings, TABLE):
        logger.warning("%s", stranger)
    wishes, broken = told_by(spider)
    for finding in [*start_findings(settings, wishes, broken), *clock_findings(skew_s, "Redis")]:
        if finding.level != "ok":
            logger.warning("%s: %s; %s", finding.subject, finding.text, finding.advice)

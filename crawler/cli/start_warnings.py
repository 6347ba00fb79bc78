"""Warnings about the project's files before a worker starts (`scrapy crawl`, `scrapy doctor`)."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence

from scrapy.settings import Settings
from scrapy.spiders import Spider

from crawler.reads.catalogue_settings import TABLE
from crawler.reads.doctor.clocks import clock_findings
from crawler.reads.doctor.start_checks import FetchOptions, start_findings
from crawler.reads.unknown_settings import refuse_unknown_names
from scrapy_seine.broken_imports import BrokenFile, broken_files
from scrapy_seine.commands.which_spider import spider_class
from scrapy_seine.engine.settings_check import known_settings, unknown_settings
from scrapy_seine.errors import ConfigError

logger = logging.getLogger(__name__)


def options_of_files(
    settings: Settings, spider: str
) -> tuple[Sequence[FetchOptions], Sequence[BrokenFile]]:
    """Return the site files' fetch options, and the files that cannot be imported."""
    try:
        return options_of(spider_class(settings, spider))
    except ConfigError:  # reported as a finding about the spider
        return (), broken_files()


def options_of(spider: type[Spider]) -> tuple[Sequence[FetchOptions], Sequence[BrokenFile]]:
    """Return the fetch options of a spider's site files, and the files that cannot be imported."""
    options_of_sites = getattr(spider, "fetch_options", tuple)
    return [FetchOptions(*options) for options in options_of_sites()], broken_files()


def check_names(settings: Settings) -> None:
    """Refuse unknown names of -s, and warn of such variables of the environment.

    Raises:
        ConfigError: -s has an unknown name; the message suggests a similar one.
    """
    for text in refuse_unknown_names(settings, os.environ, known_settings(settings)):
        logger.warning("settings: %s", text)


def log_warnings(settings: Settings, spider: type[Spider], skew_s: float) -> None:
    """Log the findings about the settings, the site files and the clock, one line each."""
    for unknown in unknown_settings(settings, TABLE):
        logger.warning("%s", unknown)
    site_options, broken = options_of(spider)
    for finding in [
        *start_findings(settings, site_options, broken),
        *clock_findings(skew_s, "Redis"),
    ]:
        if finding.level != "ok":
            logger.warning("%s: %s; %s", finding.subject, finding.text, finding.advice)

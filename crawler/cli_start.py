"""What the project's files say before a worker starts, for `scrapy crawl` and `scrapy doctor`."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from urllib.parse import unquote, urlsplit

from scrapy.settings import SETTINGS_PRIORITIES, Settings
from scrapy.spiders import Spider

from crawler.reads.setting_sources import refuse_strays
from crawler.reads.settings_table import TABLE
from crawler.reads.start_checks import Wish, skew_finding, start_findings
from scrapy_seine.commands.base import spider_class
from scrapy_seine.engine.settings_table import strangers
from scrapy_seine.errors import ConfigError
from scrapy_seine.loading import BrokenFile, broken_files

logger = logging.getLogger(__name__)
#: What the disk of a log must have room for, bytes.
_ROOM = 1 << 16


def told_by_files(settings: Settings, spider: str) -> tuple[Sequence[Wish], Sequence[BrokenFile]]:
    """Return how site files want their sites fetched, and the files that are left out."""
    try:
        return told_by(spider_class(settings, spider))
    except ConfigError:  # another command says so
        return (), broken_files()


def told_by(spider: type[Spider]) -> tuple[Sequence[Wish], Sequence[BrokenFile]]:
    """The same, for a spider's class."""
    wishes = getattr(spider, "wishes", tuple)
    return [Wish(*wish) for wish in wishes()], broken_files()


def known_settings(settings: Settings) -> Collection[str]:
    """Return the names that the project's settings module defines, and Scrapy's.

    The command line's own are not among them, so that a misspelt one is found.
    """
    module = os.environ.get("SCRAPY_SETTINGS_MODULE", "")
    least = SETTINGS_PRIORITIES["cmdline"]
    names = {str(name) for name in settings if (settings.getpriority(str(name)) or 0) < least}
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


def check_files(settings: Settings) -> None:
    """Make sure that the files of -o, FEEDS and --logfile can be written, before a page is crawled.

    Raises:
        ConfigError: one cannot be.
    """
    for name in map(str, settings.getdict("FEEDS")):
        url = urlsplit(name)
        if url.scheme in {"", "file"} and name != "-" and "%(" not in name:
            check_file(Path(unquote(url.path) if url.scheme else name))
    if log := str(settings.get("LOG_FILE") or ""):
        check_file(Path(log), "--logfile")
        _check_room(Path(log), "--logfile")


def check_file(path: Path, option: str = "-o") -> None:
    """Make sure that a file can be written, its folder made where it is missing.

    Raises:
        ConfigError: it cannot be.
    """
    try:
        was_there = path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):
            pass
        if not was_there:
            path.unlink()
    except OSError as error:
        raise ConfigError(f"{option} {path} cannot be written: {error.strerror}") from None


def _check_room(path: Path, option: str) -> None:
    """Make sure that the disk of a file takes a line: Scrapy's start ends in a traceback on none.

    Raises:
        ConfigError: it does not.
    """
    is_device = path.exists() and not path.is_file()
    try:
        # Another worker may write to the file itself at this moment.
        with path.open("ab") if is_device else TemporaryFile(dir=path.parent) as file:
            file.write(b"\n" * (1 if is_device else _ROOM))
    except OSError as error:
        raise ConfigError(f"{option} {path} cannot be written: {error.strerror}") from None


def tell(settings: Settings, spider: type[Spider], skew_s: float) -> None:
    """Log one line for each thing that a worker starts without."""
    for stranger in strangers(settings, TABLE):
        logger.warning("%s", stranger)
    wishes, broken = told_by(spider)
    for finding in [*start_findings(settings, wishes, broken), *skew_finding(skew_s)]:
        if finding.level != "ok":
            logger.warning("%s: %s; %s", finding.subject, finding.text, finding.advice)

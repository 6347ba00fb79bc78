"""Checks, before a page is crawled, that a command can write the output that it was given."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile
from urllib.parse import unquote, urlsplit

from scrapy.settings import Settings

from scrapy_seine.errors import ConfigError

#: What the disk of a log must have room for, bytes.
_ROOM = 1 << 16


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

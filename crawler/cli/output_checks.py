"""Check that a command can write its output files, before it crawls a page."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile
from urllib.parse import unquote, urlsplit

from scrapy.settings import Settings

from scrapy_seine.errors import ConfigError

#: Free space that the disk of a log needs, bytes.
_MIN_FREE_BYTES = 1 << 16


def check_files(settings: Settings) -> None:
    """Make sure that the files of -o, FEEDS and --logfile can be written, before a page is crawled.

    Raises:
        ConfigError: a file cannot be written.
    """
    for name in map(str, settings.getdict("FEEDS")):
        url = urlsplit(name)
        if url.scheme in {"", "file"} and name != "-" and "%(" not in name:
            check_file(Path(unquote(url.path) if url.scheme else name))
    if log := str(settings.get("LOG_FILE") or ""):
        check_file(Path(log), "--logfile")
        _check_room(Path(log), "--logfile")


def check_file(path: Path, option: str = "-o") -> None:
    """Make sure that a file can be written; create its folder where it is missing.

    Raises:
        ConfigError: the file cannot be written.
    """
    try:
        existed = path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):
            pass
        if not existed:
            path.unlink()
    except OSError as error:
        raise ConfigError(f"{option} {path} cannot be written: {error.strerror}") from None


def _check_room(path: Path, option: str) -> None:
    """Make sure that a file's disk has room, because Scrapy's start fails on a full one.

    Raises:
        ConfigError: the disk is full.
    """
    is_device = path.exists() and not path.is_file()
    try:
        # Write to a temporary file, because another worker may write to the log.
        with path.open("ab") if is_device else TemporaryFile(dir=path.parent) as file:
            file.write(b"\n" * (1 if is_device else _MIN_FREE_BYTES))
    except OSError as error:
        raise ConfigError(f"{option} {path} cannot be written: {error.strerror}") from None

"""The project's download handlers: a start fails by one that cannot be imported.

Each page would fail: Scrapy logs the traceback, and crawls on without a handler for the scheme.
"""

from __future__ import annotations

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from scrapy_seine.errors import ConfigError

_SCHEMES = ("http", "https")


def check_handlers(settings: BaseSettings) -> None:
    """Import the handlers of web pages.

    Raises:
        ConfigError: one cannot be imported.

    >>> check_handlers(BaseSettings({"DOWNLOAD_HANDLERS": {"http": None, "ftp": "nosuch.Ftp"}}))
    >>> broken = BaseSettings({"DOWNLOAD_HANDLERS": {"https": "nosuch.Handler"}})
    >>> check_handlers(broken)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    scrapy_seine.errors.ConfigError: DOWNLOAD_HANDLERS names nosuch.Handler for https, which ...
    """
    handlers = settings.getdict("DOWNLOAD_HANDLERS")
    for scheme in _SCHEMES:
        if (path := handlers.get(scheme)) is None:
            continue
        try:
            load_object(path)
        except Exception as error:
            text = f"DOWNLOAD_HANDLERS names {path} for {scheme}, which cannot be imported: {error}"
            raise ConfigError(text) from None


def own_schemes(settings: BaseSettings) -> set[str]:
    """Return the schemes for which the project has a handler, and Scrapy has none.

    >>> sorted(own_schemes(BaseSettings({"DOWNLOAD_HANDLERS": {"sftp": "own.Sftp", "ftp": None}})))
    ['sftp']
    """
    scrapys = settings.getdict("DOWNLOAD_HANDLERS_BASE")
    handlers = settings.getdict("DOWNLOAD_HANDLERS")
    return {scheme for scheme, path in handlers.items() if path and scheme not in scrapys}

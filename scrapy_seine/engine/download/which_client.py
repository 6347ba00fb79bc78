"""Which client sends a plain request: the library's own, or Scrapy's."""

from __future__ import annotations

from scrapy import Request
from scrapy.settings import BaseSettings
from scrapy.utils.httpobj import urlparse_cached

from scrapy_seine.config import SettingsLike
from scrapy_seine.engine.fastpath import scrapy_internals
from scrapy_seine.errors import ConfigError

#: SEINE_CLIENT -> the handler that serves the plain lane.
CLIENTS = {
    "seine": "scrapy_seine.engine.download.http.handler.HttpHandler",
    "scrapy": "scrapy_seine.engine.download.scrapy_client.PlainHandler",
}


def client_of(settings: SettingsLike) -> str:
    """Path of the plain lane's handler.

    Raises:
        ConfigError: SEINE_CLIENT names none.
    """
    name = str(settings.get("SEINE_CLIENT", "seine"))
    if name not in CLIENTS:
        raise ConfigError(f"SEINE_CLIENT={name!r} is none of {', '.join(CLIENTS)}")
    if name == "seine" and not scrapy_internals.available("client"):
        name = "scrapy"
    return CLIENTS[name]


def settings_need_scrapy(settings: BaseSettings) -> bool:
    """Whether settings need a feature that only Scrapy's client has."""
    return bool(
        settings.get("DOWNLOAD_BIND_ADDRESS")
        or settings["DOWNLOADER_CLIENTCONTEXTFACTORY"] != "SENTINEL"
        or settings["DOWNLOADER_CLIENT_TLS_METHOD"] != "TLS"
    )


def request_needs_scrapy(request: Request) -> bool:
    """Whether a request needs Scrapy's client: a proxy, a bind address, or a login in its URL."""
    meta = request.meta
    return bool(
        meta.get("proxy") or meta.get("bindaddress") or "@" in urlparse_cached(request).netloc
    )

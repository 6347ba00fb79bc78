"""A start fails by a folder of HTTPCACHE_DIR that cannot be written, because each page would fail.

Scrapy's cache makes a page's folder when it stores the page, after the download.
"""

from __future__ import annotations

from tempfile import TemporaryFile

from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings
from scrapy.utils.project import data_path

from scrapy_seine.errors import ConfigError


def check_cache_folder(settings: BaseSettings) -> None:
    """Try the folder, if a cache of Scrapy's is on.

    Raises:
        ConfigError: the folder cannot be written.
    """
    is_scrapys = str(settings["HTTPCACHE_STORAGE"]).startswith("scrapy.")
    if not (settings.getbool("HTTPCACHE_ENABLED") and is_scrapys):
        return
    try:
        with TemporaryFile(dir=data_path(settings["HTTPCACHE_DIR"], createdir=True)):
            pass
    except NotConfigured:
        return  # without a scrapy.cfg there is no such folder: Scrapy says so, and caches nothing
    except OSError as error:
        name = settings["HTTPCACHE_DIR"]
        raise ConfigError(f"HTTPCACHE_DIR={name} cannot be written: {error.strerror}") from None

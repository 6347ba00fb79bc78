"""Whether requests take the fast path, or Scrapy's own engine drives them (SEINE_FASTPATH)."""

from __future__ import annotations

from scrapy_seine.config import SettingsLike, flag
from scrapy_seine.engine.fastpath import scrapy_internals


def is_taken(settings: SettingsLike, feature: str) -> bool:
    """Whether the fast path is taken: SEINE_FASTPATH allows it, and *feature* finds its names.

    Nothing is said of names that are missing where the path was not asked for.
    """
    return flag(settings, "SEINE_FASTPATH", True) and scrapy_internals.available(feature)

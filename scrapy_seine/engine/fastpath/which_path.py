"""Whether requests take the fast path, or Scrapy's own engine drives them (SEINE_FASTPATH)."""

from __future__ import annotations

from scrapy_seine.config import SettingsLike, flag
from scrapy_seine.engine.fastpath import scrapy_internals


def is_taken(settings: SettingsLike, feature: str) -> bool:
    """Whether the fast path is used: SEINE_FASTPATH allows it, and *feature* finds its names.

    Missing names are not logged if SEINE_FASTPATH is off.
    """
    return flag(settings, "SEINE_FASTPATH", True) and scrapy_internals.available(feature)

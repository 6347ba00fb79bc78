"""Limits through proxies: kept for a site as a whole, or by each address (egress) for itself."""

from __future__ import annotations

from scrapy.settings import BaseSettings

from scrapy_seine.errors import ConfigError

_KNOWN = frozenset({"site", "egress"})


class LimitsPer:
    """SEINE_LIMIT_PER, and SEINE_LIMITS_PER for single sites."""

    def __init__(self, settings: BaseSettings) -> None:
        self._usual = str(settings.get("SEINE_LIMIT_PER", "site"))
        self._of_site = settings.getdict("SEINE_LIMITS_PER")
        if {self._usual, *self._of_site.values()} - _KNOWN:
            raise ConfigError("SEINE_LIMIT_PER and SEINE_LIMITS_PER know only site and egress")

    def is_egress(self, site: str) -> bool:
        """Whether each address keeps the limits of a site by itself."""
        return bool(self._of_site.get(site, self._usual) == "egress")

"""The scope of limits with proxies: a site as a whole, or each address (egress) separately."""

from __future__ import annotations

from scrapy.settings import BaseSettings

from scrapy_seine.errors import ConfigError

_SCOPES = frozenset({"site", "egress"})


class LimitsPer:
    """SEINE_LIMIT_PER, and SEINE_LIMITS_PER for single sites."""

    def __init__(self, settings: BaseSettings) -> None:
        self._default = str(settings.get("SEINE_LIMIT_PER", "site"))
        self._of_site = settings.getdict("SEINE_LIMITS_PER")
        if {self._default, *self._of_site.values()} - _SCOPES:
            raise ConfigError("SEINE_LIMIT_PER and SEINE_LIMITS_PER know only site and egress")

    def is_egress(self, site: str) -> bool:
        """Whether the limits of a site apply to each address separately."""
        return bool(self._of_site.get(site, self._default) == "egress")

"""For how long a site is asked through the same residential proxy or gateway's session.

A visitor who comes from another address with each page looks like a robot, and one who stays for
ever at one address like a heavy user. Pure; each worker keeps its own.
"""

from __future__ import annotations

from time import monotonic

import attrs

from scrapy_seine.config import SettingsLike, number
from scrapy_seine.records import Record

#: Pools whose proxies are kept for a while.
_STICKY = frozenset({"residential", "gateway"})
#: Sites whose proxies are known; the one whose proxy was chosen first goes first.
_MOST = 10_000

#: Who is asked, and through which pool and country.
Way = tuple[str, str, str]


@attrs.define(eq=False, repr=False)
class _Session(Record):
    proxy: str
    since: float
    uses: int = 0


class StickyProxies:
    """The proxies that a worker's sites were asked through last."""

    def __init__(self, settings: SettingsLike) -> None:
        """Read SEINE_PROXY_STICKY_REQUESTS and SEINE_PROXY_STICKY_SECONDS.

        Raises:
            ConfigError: one is wrong.
        """
        self._most_uses = int(number(settings, "SEINE_PROXY_STICKY_REQUESTS", 20, low=1))
        self._longest_s = number(settings, "SEINE_PROXY_STICKY_SECONDS", 600)
        self._sessions: dict[Way, _Session] = {}

    def kept(self, way: Way) -> str:
        """Return the proxy that is asked for again; empty where it was used for long enough."""
        session = self._sessions.get(way)
        if session is None:
            return ""
        if session.uses >= self._most_uses or monotonic() - session.since > self._longest_s:
            del self._sessions[way]
            return ""
        return session.proxy

    def note(self, way: Way, proxy: str, pool: str) -> None:
        """Count a request that goes through a proxy of a pool."""
        if pool not in _STICKY:
            return
        session = self._sessions.get(way)
        if session is None or session.proxy != proxy:
            self._sessions.pop(way, None)
            session = self._sessions[way] = _Session(proxy, monotonic())
            if len(self._sessions) > _MOST:
                del self._sessions[next(iter(self._sessions))]
        session.uses += 1

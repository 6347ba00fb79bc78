"""Keep a site on the same residential proxy or gateway session for a limited time.

A visitor whose address changes with each page looks like a robot, and one whose address never
changes looks like a heavy user. Pure; each worker has its own sessions.
"""

from __future__ import annotations

from time import monotonic

import attrs

from scrapy_seine.attrs_bases import Record
from scrapy_seine.config import SettingsLike, number

#: Key of `request.meta`: id of the proxy that the request avoids where there is another.
ELSEWHERE = "proxy_elsewhere"
#: Key of `request.meta`: how often a page was requested again that showed nothing of a shop.
LOOKS = "looks_elsewhere"
#: Pools whose proxies are sticky.
_STICKY_POOLS = frozenset({"residential", "gateway"})
#: Most sessions that are stored; the oldest is dropped first.
_MOST = 10_000

#: Domain, pool and country of a session.
Way = tuple[str, str, str]


@attrs.define(eq=False, repr=False)
class _Session(Record):
    proxy: str
    since: float
    uses: int = 0


class StickyProxies:
    """The last proxies of a worker's sites."""

    def __init__(self, settings: SettingsLike) -> None:
        """Read SEINE_PROXY_STICKY_REQUESTS and SEINE_PROXY_STICKY_SECONDS.

        Raises:
            ConfigError: a setting is invalid.
        """
        self._max_uses = int(number(settings, "SEINE_PROXY_STICKY_REQUESTS", 20, low=1))
        self._max_age_s = number(settings, "SEINE_PROXY_STICKY_SECONDS", 600)
        self._sessions: dict[Way, _Session] = {}

    def proxy_of(self, way: Way) -> str:
        """Return the session's proxy; empty: there is none, or it was used long enough."""
        session = self._sessions.get(way)
        if session is None:
            return ""
        if session.uses >= self._max_uses or monotonic() - session.since > self._max_age_s:
            del self._sessions[way]
            return ""
        return session.proxy

    def note(self, way: Way, proxy: str, pool: str) -> None:
        """Count a request through a proxy of a pool."""
        if pool not in _STICKY_POOLS:
            return
        session = self._sessions.get(way)
        if session is None or session.proxy != proxy:
            self._sessions.pop(way, None)
            session = self._sessions[way] = _Session(proxy, monotonic())
            if len(self._sessions) > _MOST:
                del self._sessions[next(iter(self._sessions))]
        session.uses += 1

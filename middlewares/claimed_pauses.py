"""Whether a long pause that an answer names (Retry-After) is the site's, or its proxy's own.

A proxy whose quota is used up answers 429 by itself, and may name an hour: through all proxies the
site's pages waited for it. So where several sources could contradict each other, the first one's
pause is as long as after a 429 without a time, and its proxy rests; the named pause begins when a
second source's answer names one, too. Proxies of one provider or gateway are one source.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from weakref import WeakKeyDictionary

from redis.exceptions import RedisError
from scrapy import Request

from crawler.access.proxies.pool import ProxyPool
from crawler.access.redis_errors import RedisErrors
from scrapy_seine.urls import domain

#: For how long an answer counts at least, s: other sources are asked after the usual pause.
_COUNTS_S = 60.0


class ClaimedPauses:
    """Confirms pauses for `Throttle`."""

    def __init__(
        self,
        pool: Callable[[], Awaitable[ProxyPool]],
        witness_of: Callable[[Request], str],
        errors: RedisErrors,
    ) -> None:
        """*witness_of* names the source of a request's answer; '': nobody could contradict it."""
        self._pool, self._witness_of, self._errors = pool, witness_of, errors
        self._named_s: WeakKeyDictionary[Request, float] = WeakKeyDictionary()

    def named_s(self, request: Request) -> float:
        """Return the pause that only this request's proxy named, s: the proxy rests as long."""
        return self._named_s.get(request, 0.0)

    async def are_sites(self, request: Request, wait_s: float) -> bool:
        """Whether the whole site waits for as long as an answer says; it does in doubt."""
        source = self._witness_of(request)
        if not source:
            return True
        site = domain(request.url)
        try:
            sources = await (await self._pool()).claim_pause(site, source, max(wait_s, _COUNTS_S))
        except (RedisError, OSError) as error:
            self._errors.note(error, f"The pages of {site} wait as long as one proxy's answer says")
            return True
        if sources == 1:
            self._named_s[request] = wait_s
        return sources > 1

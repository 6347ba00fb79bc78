"""The fleet's proxies: Redis decides which worker may use which proxy for which domain.

A proxy that a domain has not accepted yet, or that returns from its quarantine, is used by one
request at a time. So a bad proxy costs one request instead of one for each worker.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import attrs
from redis.asyncio import Redis

from crawler.access.proxies.list_format import Proxy
from crawler.access.shared_state import proxies_key, run
from scrapy_seine.attrs_bases import Value
from scrapy_seine.config import SettingsLike, number
from scrapy_seine.frontier.round_trips.server_clock import server_time_s
from scrapy_seine.lenient_parsing import record, whole_number, word

#: A proxy whose pause ends within this time is taken in advance, ms.
LEAD_MS = 1000
#: How long a worker's list counts after its last registration, ms.
LISTED_MS = 900_000
Outcome = Literal["good", "ban", "unknown"]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class PoolConfig(Value):
    """Quarantines and limits of proxies."""

    quarantine_s: float = 1800.0
    """First quarantine, seconds; it doubles with each ban in a row."""
    longest_s: float = 21600.0
    """Longest quarantine, seconds."""
    domains: int = 3
    """A proxy rests everywhere after bans by this many domains within the first quarantine."""
    concurrency: int = 0
    """Uses of one proxy at a time; 0: any number."""
    delay_s: float = 0.0
    """Pause between two uses of one proxy, seconds."""
    hold_s: float = 300.0
    """A use without a report ends after this many seconds, because its worker died."""

    @classmethod
    def from_settings(cls, settings: SettingsLike) -> PoolConfig:
        """Read the settings; the backoff of rotating_proxies overrides ours if it is set.

        Raises:
            ConfigError: a setting is invalid.
        """
        base = number(settings, "SEINE_PROXY_QUARANTINE_SECONDS", 1800, low=0.1)
        cap = number(settings, "SEINE_PROXY_QUARANTINE_LIMIT_SECONDS", 21600, low=0.1)
        if settings.get("ROTATING_PROXY_BACKOFF_BASE") is not None:
            base = number(settings, "ROTATING_PROXY_BACKOFF_BASE", base, low=0.1)
            cap = number(settings, "ROTATING_PROXY_BACKOFF_CAP", 3600, low=0.1)
        return cls(
            quarantine_s=base,
            longest_s=max(base, cap),
            domains=int(number(settings, "SEINE_PROXY_GLOBAL_BANS", 3, low=1)),
            concurrency=int(number(settings, "SEINE_PROXY_CONCURRENCY", 0)),
            delay_s=number(settings, "SEINE_PROXY_DELAY_MS", 0) / 1000,
            hold_s=number(settings, "DOWNLOAD_TIMEOUT", 180) + 120,
        )


@attrs.frozen(eq=False, repr=False)
class EachAddress(Value):
    """Limits of a domain that apply to each proxy separately."""

    delay_ms: int
    """Pause between two uses."""
    concurrency: int
    """Uses at a time; 0: any number."""


@attrs.frozen(eq=False, repr=False)
class TakenProxy(Value):
    """A proxy for one request."""

    id: str
    token: str
    probe: bool = False
    """The domain has not accepted it yet, or not since its ban: this use decides."""
    at_ms: int = 0
    """Time of the use on Redis' clock, ms; 0: at once."""
    now_ms: int = 0
    """Redis' time of the reply, ms."""


class Rest(float):
    """Seconds until the first of a pool's proxies may be used, all of which rest: it is refused."""


@attrs.frozen(eq=False, repr=False)
class Slot(Value):
    """The time at which an address may send a request to a domain."""

    at_ms: int
    """On Redis' clock, ms."""
    at_s: float
    """On this process' clock, monotonic s."""
    is_spent: bool = False
    """The request was sent; a retry needs another slot."""


@attrs.frozen(eq=False, repr=False)
class ShownIds(Value):
    """Some ids of a set, with their total number."""

    ids: tuple[str, ...]
    count: int

    def __str__(self) -> str:
        if not self.count:
            return "none"
        return f"{self.count} ({', '.join(self.ids)}{', …' if self.count > len(self.ids) else ''})"


@attrs.frozen(eq=False, repr=False)
class Registered(Value):
    """The result of registering a worker's list."""

    removed_count: int
    """Proxies that were removed, because no worker lists them any more."""
    lists: int
    """Number of different lists in the fleet."""
    only_elsewhere: ShownIds
    """Proxies that only other workers' lists have."""
    only_here: ShownIds
    """Proxies that only this worker's list has."""


def name_of(proxies: Sequence[Proxy]) -> str:
    """Return the name of a list, which does not depend on the order of its proxies."""
    ids = sorted(f"{p.id} {p.pool} {p.country}" for p in proxies)
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()[:16]


@attrs.frozen(eq=False, repr=False)
class Health(Value):
    """The state of one proxy in the fleet."""

    id: str
    pool: str
    country: str
    provider: str
    good: int
    bans: int
    unknown: int
    resting_s: float
    """Seconds left of its quarantine for all domains; 0: it may be used."""
    domains: dict[str, float]
    """Seconds left of its quarantines, by domain."""


class ProxyPool:
    """The proxies of one fleet. Stateless: any number may exist in any process."""

    def __init__(
        self, redis: Redis, fleet: str, config: PoolConfig | None = None, *, now_ms: int = 0
    ) -> None:
        self.redis = redis
        self.key = proxies_key(fleet)
        self.config = config or PoolConfig()
        #: 0: the server's clock is used; tests set a time.
        self.now_ms = now_ms
        #: Name of the list whose proxies are taken; '' = any list.
        self.listed = ""

    async def register(self, proxies: Sequence[Proxy], worker: str = "") -> Registered:
        """Register a worker's proxies; the fleet has the proxies of all of its workers.

        To be repeated within `LISTED_MS`, after which a worker's list expires. From now on this
        object takes only proxies of this list.
        """
        self.listed = name_of(proxies)
        args = [arg for p in proxies for arg in (p.id, p.pool, p.country, p.provider)]
        head = (self.now_ms, worker, self.listed, LISTED_MS, len(proxies))
        removed, lists, only_others, n_only_others, only_mine, n_only_mine = await run(
            self.redis, "register_proxies", self.key, *head, *args
        )
        return Registered(
            int(removed),
            int(lists),
            ShownIds(tuple(sorted(map(word, only_others))), int(n_only_others)),
            ShownIds(tuple(sorted(map(word, only_mine))), int(n_only_mine)),
        )

    async def withdraw(self, worker: str) -> None:
        """Withdraw a worker's list; its proxies are removed when another worker registers."""
        await self.redis.zrem(self.key + "workers", worker)

    async def take(
        self,
        domain: str,
        *,
        pool: str = "",
        country: str = "",
        preferred: str = "",
        avoided: str = "",
        each_address: EachAddress | None = None,
        is_bound: bool = False,
    ) -> TakenProxy | float:
        """Take a proxy, *preferred* if usable; else return the seconds to wait, inf: no proxy.

        With *is_bound*, *preferred* is waited for, unless it rests or is not listed.
        The seconds are a `Rest` where all proxies rest, and none is only busy.
        *avoided* is taken only where no other proxy may be used within 5 s, and the others of its
        provider or gateway before it.
        With *each_address* these limits of the domain apply to each proxy; a use may then begin
        later.
        """
        token = uuid.uuid4().hex[:16]
        config = self.config
        reply = await run(
            self.redis,
            "take_proxy",
            self.key,
            self.now_ms,
            domain,
            pool,
            country,
            preferred,
            token,
            int(config.hold_s * 1000),
            config.concurrency,
            int(config.delay_s * 1000),
            *(
                ("", 0, 0)
                if each_address is None
                else (each_address.delay_ms, each_address.concurrency, LEAD_MS)
            ),
            self.listed,
            avoided,
            int(is_bound),
        )
        status = word(reply[0])
        if status == "TAKEN":
            return TakenProxy(word(reply[1]), token, bool(reply[2]), int(reply[3]), int(reply[4]))
        if status != "WAIT":
            return float("inf")
        wait_s = int(reply[1]) / 1000
        return Rest(wait_s) if reply[2] else wait_s

    async def pace(
        self, domain: str, address: str, delay_ms: int, missed_ms: int | None = None
    ) -> tuple[int, int]:
        """Return Redis' time and a new time for a request to *domain* from an address, ms.

        *missed_ms* is the time that the request missed; None: it had none.
        """
        missed_argument = "" if missed_ms is None else missed_ms
        args = (self.now_ms, domain, address, delay_ms, missed_argument)
        now_ms, at_ms = await run(self.redis, "next_use", self.key, *args)
        return int(now_ms), int(at_ms)

    async def claim_pause(self, domain: str, source: str, counts_s: float) -> int:
        """Record that a source's answer names a pause; return how many sources name one now."""
        args = (self.now_ms, domain, source, int(counts_s * 1000))
        return int(await run(self.redis, "claim_pause", self.key, *args))

    async def usable(self, domain: str, *, pool: str = "", country: str = "") -> int:
        """Count the proxies that may be used for a domain."""
        args = (self.now_ms, domain, pool, country, self.listed)
        return int(await run(self.redis, "usable_proxies", self.key, *args))

    async def report(
        self, domain: str, taken_proxy: TakenProxy, outcome: Outcome, least_s: float = 0.0
    ) -> str:
        """Report the outcome of a use, a ban for *least_s* at least; return the proxy's new state.

        'GOOD'; 'UNKNOWN'; 'BANNED' for the domain; 'AGAIN', a concurrent use had banned it;
        'RESTING' everywhere.
        """
        config = self.config
        reply = await run(
            self.redis,
            "report_use",
            self.key,
            self.now_ms,
            domain,
            taken_proxy.id,
            taken_proxy.token,
            outcome,
            int(max(config.quarantine_s, least_s) * 1000),
            int(max(config.longest_s, least_s) * 1000),
            config.domains,
        )
        return word(reply)

    async def release(self, proxy_id: str) -> None:
        """End a proxy's quarantines; the next request probes it."""
        pipe = self.redis.pipeline(transaction=False)
        pipe.zadd(self.key + "resting", {proxy_id: 1}, xx=True)
        for domain in await self.redis.smembers(self.key + "domains"):
            pipe.zadd(f"{self.key}rest:{word(domain)}", {proxy_id: 1}, xx=True)
        await pipe.execute()

    async def health(self) -> list[Health]:
        """Return the state of each proxy of the fleet, for operators."""
        now_s = self.now_ms / 1000 or await server_time_s(self.redis)
        # In pipelines, because their errors name the command and its key.
        pipe = self.redis.pipeline(transaction=False)
        pipe.hgetall(self.key + "info")
        pipe.hgetall(self.key + "health")
        pipe.smembers(self.key + "domains")
        infos, raw_counts, names = await pipe.execute()
        counts = {word(k): whole_number(v) for k, v in raw_counts.items()}
        sites = sorted(map(word, names))
        for key in ("resting", *(f"rest:{site}" for site in sites)):
            pipe.zrangebyscore(self.key + key, now_s * 1000, "+inf", withscores=True)
        resting, *by_site = [_seconds_left(found, now_s) for found in await pipe.execute()]
        domains = dict(zip(sites, by_site, strict=True))
        health = []
        for raw_id, raw_info in sorted(infos.items()):
            proxy_id, info = word(raw_id), record(raw_info)
            health.append(
                Health(
                    proxy_id,
                    pool=str(info.get("pool") or ""),
                    country=str(info.get("country") or ""),
                    provider=str(info.get("provider") or ""),
                    good=counts.get(f"{proxy_id} good", 0),
                    bans=counts.get(f"{proxy_id} ban", 0),
                    unknown=counts.get(f"{proxy_id} unknown", 0),
                    resting_s=resting.get(proxy_id, 0.0),
                    domains={d: left[proxy_id] for d, left in domains.items() if proxy_id in left},
                )
            )
        return health


def _seconds_left(rests: Iterable[tuple[Any, float]], now_s: float) -> dict[str, float]:
    """Return the seconds left of each quarantine, by proxy."""
    return {word(name): round(until / 1000 - now_s, 1) for name, until in rests}

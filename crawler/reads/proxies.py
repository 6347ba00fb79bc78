"""The fleet's proxies: how many are usable, and the health of each."""

from __future__ import annotations

from collections.abc import Sequence

from redis.asyncio import Redis

from crawler.access.proxies.pool import Health, ProxyPool


async def count_proxies(redis: Redis, fleet: str, now_s: float) -> dict[str, int]:
    """Count proxies by state, in one round trip."""
    pool, pipe = ProxyPool(redis, fleet), redis.pipeline(transaction=False)
    pipe.hlen(f"{pool.key}info")
    pipe.zcount(f"{pool.key}resting", now_s * 1000, "+inf")
    listed, resting = await pipe.execute()
    return {"usable": max(0, listed - resting), "quarantined": resting}


async def read_proxies(redis: Redis, fleet: str) -> Sequence[Health]:
    """Return the health of each proxy, those with the most bans first."""
    return sorted(await ProxyPool(redis, fleet).health(), key=lambda h: (-h.bans, h.id))

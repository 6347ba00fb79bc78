"""The metric that autoscaling uses (`seine_frontier_demand`): requests that need workers now."""

from __future__ import annotations

from typing import Any

from redis.asyncio import Redis

from scrapy_seine.reads.fleet import Fleet

#: Requests that one worker has running, which is CONCURRENT_REQUESTS' default.
ONE_WORKER = 32


def demand(fleet: Fleet, seeds: int) -> int:
    """Return the requests that need workers now; *seeds* are those that no worker has taken.

    Leases count, so that workers that hold some are kept. Seeds count as one worker's requests at
    most, because a worker turns them into requests within seconds.
    """
    waiting = 0 if fleet.counts.paused else min(seeds, ONE_WORKER)
    return fleet.counts.leased + fleet.due_now + waiting


async def seeds_waiting(redis: Redis, key: str) -> int:
    """Count seeds that no worker has taken yet, whatever type the key has."""
    client: Any = redis
    count = {b"list": client.llen, b"set": client.scard, b"zset": client.zcard}
    kind = await client.type(key)
    return int(await count[kind](key)) if kind in count else 0

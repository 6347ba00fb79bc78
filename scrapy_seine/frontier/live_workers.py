"""What the live workers of a crawl say about themselves."""

from __future__ import annotations

from typing import Any

from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.lenient import record


async def live_workers(frontier: Frontier) -> list[dict[str, Any]]:
    """Return what each live worker says about itself; nothing of one that cannot be read.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = frontier.redis
    keys = frontier.parts[0].keys
    seconds, micros = await client.time()
    alive = await client.zrangebyscore(keys.workers, seconds * 1000 + micros // 1000, "+inf")
    return list(map(record, await client.hmget(keys.worker_info, alive) if alive else []))


async def is_alive(frontier: Frontier, worker: str) -> bool:
    """Whether a worker's last sign of life is younger than a lease's lifetime.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = frontier.redis
    seconds, micros = await client.time()
    until = await client.zscore(frontier.parts[0].keys.workers, worker)
    return until is not None and until > seconds * 1000 + micros / 1000


async def lanes_of(frontier: Frontier) -> frozenset[str]:
    """Lanes beyond the plain ones that live workers have, for instance `browser`.

    Raises:
        RedisError: Redis does not answer.
    """
    return frozenset(lane for info in await live_workers(frontier) for lane in _lanes(info))


def _lanes(info: dict[str, Any]) -> list[str]:
    """Read the lanes that a worker names.

    >>> _lanes({"lanes": ["browser"]}), _lanes({"lanes": 7}), _lanes({})
    (['browser'], [], [])
    """
    lanes = info.get("lanes")
    return [lane for lane in lanes if isinstance(lane, str)] if isinstance(lanes, list) else []

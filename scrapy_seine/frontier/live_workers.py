"""What the live workers of a crawl report about themselves."""

from __future__ import annotations

from typing import Any

from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.round_trips.server_clock import server_time_s
from scrapy_seine.lenient_parsing import record


async def live_workers(frontier: Frontier) -> list[dict[str, Any]]:
    """Return the description of each live worker; one that cannot be read is empty.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = frontier.redis
    keys = frontier.parts[0].keys
    now_ms = 1000 * await server_time_s(client)
    names = await client.zrangebyscore(keys.workers, now_ms, "+inf")
    return list(map(record, await client.hmget(keys.worker_info, names) if names else []))


async def is_alive(frontier: Frontier, worker: str) -> bool:
    """Whether a worker's last heartbeat is younger than a lease's lifetime.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = frontier.redis
    now_ms = 1000 * await server_time_s(client)
    expires_ms = await client.zscore(frontier.parts[0].keys.workers, worker)
    return expires_ms is not None and expires_ms > now_ms


async def lanes_of(frontier: Frontier) -> frozenset[str]:
    """Lanes beyond the default ones that live workers have, for instance `browser`.

    Raises:
        RedisError: Redis does not answer.
    """
    return frozenset(lane for info in await live_workers(frontier) for lane in _lanes(info))


def _lanes(info: dict[str, Any]) -> list[str]:
    """Read the lanes in a worker's description.

    >>> _lanes({"lanes": ["browser"]}), _lanes({"lanes": 7}), _lanes({})
    (['browser'], [], [])
    """
    lanes = info.get("lanes")
    return [lane for lane in lanes if isinstance(lane, str)] if isinstance(lanes, list) else []

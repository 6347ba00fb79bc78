"""What the live workers of a crawl say about themselves."""

from __future__ import annotations

from typing import Any

import orjson

from scrapy_seine.frontier.frontier import Frontier


async def lanes_of(frontier: Frontier) -> frozenset[str]:
    """Lanes beyond the plain ones that live workers have, for instance `browser`.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = frontier.redis
    keys = frontier.parts[0].keys
    seconds, micros = await client.time()
    alive = await client.zrangebyscore(keys.workers, seconds * 1000 + micros // 1000, "+inf")
    infos = await client.hmget(keys.worker_info, alive) if alive else []
    return frozenset(lane for info in infos for lane in _lanes(info))


def _lanes(info: bytes | None) -> list[str]:
    """Read the lanes in a worker's note; one that cannot be read names none.

    >>> _lanes(b'{"lanes": ["browser"]}'), _lanes(b"x"), _lanes(None)
    (['browser'], [], [])
    """
    try:
        told = orjson.loads(info or b"{}")
    except ValueError:
        return []
    lanes = told.get("lanes") if isinstance(told, dict) else None
    return [lane for lane in lanes if isinstance(lane, str)] if isinstance(lanes, list) else []

"""The last lines of each worker's log, kept in Redis: reading them needs no access to hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis

from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.round_trips.server_clock import server_time_s
from scrapy_seine.lenient_parsing import word

#: Lines of a worker that are kept, approximately.
KEEP = 1000
#: They are kept so long after the last one, s.
LIFETIME_S = 86_400
#: Characters of a line that are kept.
LONGEST = 2000


async def write_log(redis: Redis, keys: Keys, worker: str, lines: Sequence[str]) -> None:
    """Add lines to a worker's log.

    Raises:
        RedisError: Redis does not answer.
    """
    # By Redis' clock, because this machine's would end the logs of all others if it were ahead.
    now_s = await server_time_s(redis)
    key, pipe = _key(keys, worker), redis.pipeline(transaction=False)
    for line in lines[-KEEP:]:
        pipe.xadd(key, {"line": line[:LONGEST]}, maxlen=KEEP, approximate=True)
    pipe.expire(key, LIFETIME_S)
    pipe.zadd(keys.logs, {worker: now_s})
    pipe.zremrangebyscore(keys.logs, "-inf", now_s - LIFETIME_S)
    await pipe.execute()


async def read_log(redis: Redis, keys: Keys, worker: str, limit: int = KEEP) -> list[str]:
    """Return the last lines of a worker, oldest first; [] if there are none.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = redis
    entries = await client.xrevrange(_key(keys, worker), count=limit)
    return [word(fields.get(b"line", b"")) for _, fields in reversed(entries)]


async def log_names(redis: Redis, keys: Keys) -> list[str]:
    """Return the workers that wrote in the last day, the latest first.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = redis
    return [word(name) for name in await client.zrevrange(keys.logs, 0, -1)]


def _key(keys: Keys, worker: str) -> str:
    return f"{keys.log}:{worker}"

"""Warns where workers of two crawls take seeds from one key: a seed reaches either crawl.

The key's usual name is the spider's, as in scrapy-redis, so that crawls of one spider share it
unless REDIS_START_URLS_KEY tells them apart.
"""

from __future__ import annotations

import logging
from typing import Any

from redis.asyncio import Redis

from scrapy_seine.frontier.keys import Keys, SeedKeys
from scrapy_seine.frontier.round_trips.server_clock import server_time_s
from scrapy_seine.lenient_parsing import word

logger = logging.getLogger(__name__)
#: How long a crawl that took seeds is remembered after its last worker's start, s.
_KEPT_S = 30 * 86_400
#: Crawls that are looked at.
_MOST = 50


async def warn_of_shared_seeds(redis: Redis, keys: SeedKeys, crawl: str) -> None:
    """Note that a crawl takes these seeds, and warn if another one with live workers does.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = redis
    now_ms = 1000 * await server_time_s(client)
    await client.zadd(keys.crawls, {crawl: now_ms})
    await client.expire(keys.crawls, _KEPT_S)
    for name in map(word, await client.zrevrange(keys.crawls, 0, _MOST)):
        if name != crawl and await client.zcount(Keys(name).workers, now_ms, "+inf"):
            logger.warning(
                "workers of crawl %r take seeds from %s, too, so that a seed reaches either crawl: "
                "give each crawl its own (REDIS_START_URLS_KEY=%%(crawl)s:start_urls)",
                *(name, keys.seeds),
            )

"""Pauses a domain after the third of its pages whose parsing took too long."""

from __future__ import annotations

import logging

from redis.asyncio import Redis
from redis.exceptions import RedisError

from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.frontier.frontier import Frontier

logger = logging.getLogger(__name__)
#: Pages of a domain whose parsing may take too long before it is paused.
MOST_OVERRUNS = 3


async def note_overrun(frontier: Frontier, redis: Redis, entry: InFlight) -> None:
    """Count an overrun of a page's domain, and pause the domain after the third."""
    domain = entry.lease.domain
    key = frontier.keys.part(domain).overran
    try:
        count = int(await redis.hincrby(key, domain, 1))
        if count >= MOST_OVERRUNS:
            await redis.hdel(key, domain)
            await frontier.pause(domain)
            logger.error(
                "domain %s is paused: reading %d of its pages took too long; `scrapy seine "
                "frontier resume --domain %s` lets it go on",
                *(domain, count, domain),
            )
    except (RedisError, OSError) as error:
        logger.warning("an overrun of %s was not counted: %s", domain, error)

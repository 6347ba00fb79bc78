"""The door to a crawl's frontier: nobody else knows whether it is one partition or many.

`open` is for who adds requests, `find` for who looks at a crawl or acts on what is in it. The
package offers both: `frontier.open(redis, config)`.
"""

from __future__ import annotations

import logging
from typing import Any, Protocol

from redis.asyncio import Redis
from redis.exceptions import RedisError

from scrapy_seine.config import MOST_PARTITIONS
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.lenient import whole, word

logger = logging.getLogger(__name__)
#: The field of a crawl's control that names its spider.
_SPIDER = "spider"
#: The one that names the secret with which its workers sign.
_SIGNED = "signed"


class CrawlConfig(Protocol):
    """What says which crawl is meant; `config.FrontierConfig` does."""

    @property
    def crawl(self) -> str:
        """Name of the crawl."""

    @property
    def partitions(self) -> int:
        """Number of partitions that a new crawl gets."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Secrets that requests are signed with, newest first; empty: requests are not signed."""


def frontier_of(redis: Redis, crawl: str, partitions: int, *, now_ms: int = 0) -> Frontier:
    """Make the frontier of a crawl that has so many partitions; nothing is asked of Redis."""
    if partitions == 1:
        return Frontier(redis, crawl, now_ms=now_ms)
    from scrapy_seine.frontier.partitions.frontier import PartitionedFrontier

    return PartitionedFrontier(redis, Keys(crawl, partitions), now_ms=now_ms)


async def partitions_of(redis: Redis, crawl: str) -> int:
    """Say in how many partitions a crawl is; 0: there is none of that name yet.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = redis
    found = whole(await client.hget(Keys(crawl).control, "partitions"))
    return found if found in range(MOST_PARTITIONS + 1) else 0


async def find(redis: Redis, crawl: str, partitions: int = 1) -> Frontier:
    """Return a crawl's frontier, split as it is; *partitions* counts where there is none yet.

    Raises:
        RedisError: Redis does not answer.
    """
    return frontier_of(redis, crawl, await partitions_of(redis, crawl) or partitions)


async def open(redis: Redis, config: CrawlConfig) -> Frontier:  # noqa: A001  # frontier.open
    """Return a crawl's frontier for one who adds requests, and begin the crawl if it is new.

    The first one says how the crawl is split. What is pushed is signed where there is a secret.

    Raises:
        ConfigError: the crawl has another number of partitions.
        RedisError: Redis does not answer.
    """
    frontier = frontier_of(redis, config.crawl, config.partitions)
    await reopen(frontier)
    return frontier.sealed(config.secrets)


async def reopen(frontier: Frontier) -> None:
    """Work on the state that the crawl has now; begins the crawl where there is none.

    Raises:
        ConfigError: the crawl has another number of partitions.
        RedisError: Redis does not answer.
    """
    crawl, partitions = frontier.keys.crawl, frontier.keys.of
    agree(
        crawl,
        partitions,
        whole(await Frontier(frontier.redis, crawl).run("agree_on_partitions", partitions)),
    )
    await frontier.begin()


async def tell_of_eviction(redis: Redis) -> None:
    """Warn of a Redis that drops any key when its memory is full, because no reply says it (I12).

    Policies for keys that expire (`volatile-…`) spare what a crawl cannot do without.
    """
    client: Any = redis
    try:
        info = await client.info("memory")
    except (RedisError, OSError):
        return  # who may not ask
    servers = [info] if "maxmemory_policy" in info else list(info.values())
    full = [server for server in servers if server.get("maxmemory")]
    for policy in sorted({str(server.get("maxmemory_policy")) for server in full}):
        if policy.startswith("allkeys"):
            logger.warning(
                "Redis drops requests when its memory is full (maxmemory-policy %s), so that pages "
                "would be lost: CONFIG SET maxmemory-policy noeviction",
                policy,
            )


async def belong(frontier: Frontier, spider: str) -> None:
    """Make a crawl the spider's, for what its pages lead to is for this spider's callbacks.

    A worker of another spider would call its own `parse` with them, and lose their items unseen;
    one that does not know what they are signed with would make a dead letter of each.

    Raises:
        ConfigError: the crawl is another spider's, or its requests are signed with another secret.
        RedisError: Redis does not answer.
    """
    client: Any = frontier.redis
    crawl, seal = frontier.keys.crawl, frontier.seal
    control = Keys(crawl).control
    pipe = client.pipeline(transaction=False)
    for field, value in ((_SPIDER, spider), (_SIGNED, seal.name)):
        pipe.hsetnx(control, field, value)
    pipe.hmget(control, _SPIDER, _SIGNED)
    *_, (of, signed) = await pipe.execute()
    has, signed = word(of), word(signed)
    if has != spider:
        raise ConfigError(
            f"crawl {crawl!r} is of spider {has!r}, so that its pages would reach the wrong "
            f"callbacks of spider {spider!r}: give this one a crawl of its own (SEINE_CRAWL), or "
            "empty that one (scrapy seine frontier clear)"
        )
    if signed == seal.name:
        return
    if not seal.reads(signed) and (undone := (await frontier.counts()).undone):
        raise ConfigError(
            f"the {undone} requests that wait in crawl {crawl!r} are signed with another "
            "SEINE_SECRET than this worker's or with none, so that each would be set aside: let "
            "workers with that one finish them, or empty the crawl (scrapy seine frontier clear)"
        )
    await client.hset(control, _SIGNED, seal.name)


async def disown(frontier: Frontier) -> None:
    """Let a crawl be whose spider works on it next, because it was emptied.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = frontier.redis
    await client.hdel(Keys(frontier.keys.crawl).control, _SPIDER, _SIGNED)


def agree(crawl: str, partitions: int, has: int) -> None:
    """Refuse another number of partitions than a crawl has.

    Raises:
        ConfigError: it is another one.
    """
    if has != partitions:
        raise ConfigError(
            f"FRONTIER_PARTITIONS={partitions}, but crawl {crawl!r} was begun with {has}: "
            f"its requests would not be found. Set it to {has}, or give a new crawl another name "
            "(SEINE_CRAWL)"
        )

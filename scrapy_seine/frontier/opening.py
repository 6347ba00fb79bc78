"""The door to a crawl's frontier: nobody else knows whether it is one partition or many.

`open` is for who adds requests, `find` for who looks at a crawl or acts on what is in it. The
package offers both: `frontier.open(redis, config)`.
"""

from __future__ import annotations

from typing import Any, Protocol

from redis.asyncio import Redis

from scrapy_seine.config import MOST_PARTITIONS
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.lenient import whole, word

#: The field of a crawl's control that names its spider.
_SPIDER = "spider"


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
        """What requests are signed with, newest first; empty: they are not."""


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
    agree(crawl, partitions, whole(await Frontier(frontier.redis, crawl).run("join", partitions)))
    await frontier.begin()


async def belong(frontier: Frontier, spider: str) -> None:
    """Make a crawl the spider's, for what its pages lead to is for this spider's callbacks.

    A worker of another spider would call its own `parse` with them, and lose their items unseen.

    Raises:
        ConfigError: the crawl is another spider's.
        RedisError: Redis does not answer.
    """
    client: Any = frontier.redis
    crawl = frontier.keys.crawl
    control = Keys(crawl).control
    await client.hsetnx(control, _SPIDER, spider)
    has = word(await client.hget(control, _SPIDER))
    if has != spider:
        raise ConfigError(
            f"crawl {crawl!r} is of spider {has!r}, so that its pages would reach the wrong "
            f"callbacks of spider {spider!r}: give this one a crawl of its own (SEINE_CRAWL), or "
            "empty that one (scrapy seine frontier clear)"
        )


async def disown(frontier: Frontier) -> None:
    """Let a crawl be whose spider works on it next, because it was emptied.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = frontier.redis
    await client.hdel(Keys(frontier.keys.crawl).control, _SPIDER)


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

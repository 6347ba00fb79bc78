"""Opens a crawl's frontier; no other module knows whether it has one partition or many.

`open` is for code that adds requests, `find` for code that reads a crawl or acts on its requests.
The package offers both: `frontier.open(redis, config)`.
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
from scrapy_seine.frontier.live_workers import live_workers
from scrapy_seine.frontier.signed_with import SIGNED, agree_on_secret
from scrapy_seine.lenient_parsing import whole_number, word

logger = logging.getLogger(__name__)
#: The field of a crawl's control that names its spider.
_SPIDER = "spider"
#: The field that names the project of that spider.
_PROJECT = "project"


class CrawlConfig(Protocol):
    """Settings that identify a crawl; `config.FrontierConfig` has them."""

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
    """Make the frontier of a crawl with this number of partitions; Redis is not asked."""
    if partitions == 1:
        return Frontier(redis, crawl, now_ms=now_ms)
    from scrapy_seine.frontier.partitions.frontier import PartitionedFrontier

    return PartitionedFrontier(redis, Keys(crawl, partitions), now_ms=now_ms)


async def partitions_of(redis: Redis, crawl: str) -> int:
    """Return the number of partitions of a crawl; 0: there is no crawl of that name yet.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = redis
    partitions = whole_number(await client.hget(Keys(crawl).control, "partitions"))
    return partitions if partitions in range(MOST_PARTITIONS + 1) else 0


async def find(redis: Redis, crawl: str, partitions: int = 1) -> Frontier:
    """Return a crawl's frontier, split as it is; *partitions* counts if there is none yet.

    Raises:
        RedisError: Redis does not answer.
    """
    return frontier_of(redis, crawl, await partitions_of(redis, crawl) or partitions)


async def open(redis: Redis, config: CrawlConfig) -> Frontier:  # noqa: A001  # frontier.open
    """Return a crawl's frontier for code that adds requests, and begin the crawl if it is new.

    The first caller decides how the crawl is split. Pushes are signed if there is a secret.

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
    check_partitions(
        crawl,
        partitions,
        whole_number(await Frontier(frontier.redis, crawl).run("agree_on_partitions", partitions)),
    )
    await frontier.begin()


async def warn_of_eviction(redis: Redis) -> None:
    """Warn if Redis evicts any key when its memory is full, because no reply shows it (I12).

    Policies for keys that expire (`volatile-…`) do not evict what a crawl needs.
    """
    client: Any = redis
    try:
        info = await client.info("memory")
    except (RedisError, OSError):
        return  # INFO is not permitted
    servers = [info] if "maxmemory_policy" in info else list(info.values())
    limited = [server for server in servers if server.get("maxmemory")]
    for policy in sorted({str(server.get("maxmemory_policy")) for server in limited}):
        if policy.startswith("allkeys"):
            logger.warning(
                "Redis drops requests when its memory is full (maxmemory-policy %s), so that pages "
                "would be lost: CONFIG SET maxmemory-policy noeviction",
                policy,
            )


async def claim_for_spider(frontier: Frontier, spider: str, project: str) -> None:
    """Assign a crawl to the spider, because only its callbacks can parse the crawl's pages.

    Call it after the worker's first heartbeat: of two projects that start at once, one sees the
    other's worker.

    A worker of another spider would call its own `parse` with them, and lose their items unnoticed;
    so would one of another project with a spider of the same name. A worker without their secret
    would make a dead letter of each.

    Raises:
        ConfigError: the crawl is another spider's, or its requests or workers are another
            project's, or its requests are signed with another secret; or its workers sign, and this
            one does not.
        RedisError: Redis does not answer.
    """
    client: Any = frontier.redis
    crawl, seal = frontier.keys.crawl, frontier.seal
    control = Keys(crawl).control
    pipe = client.pipeline(transaction=False)
    for field, value in ((_SPIDER, spider), (_PROJECT, project), (SIGNED, seal.name)):
        pipe.hsetnx(control, field, value)
    pipe.hmget(control, _SPIDER, _PROJECT, SIGNED)
    *_, (owner, owner_project, signed) = await pipe.execute()
    owner_name = word(owner)
    if owner_name != spider:
        raise ConfigError(
            f"crawl {crawl!r} is of spider {owner_name!r}, so that its pages would reach the wrong "
            f"callbacks of spider {spider!r}: give this one a crawl of its own (SEINE_CRAWL), or "
            "empty that one (scrapy seine frontier clear)"
        )
    if word(owner_project) != project:
        undone = (await frontier.counts()).undone
        what = f"the {undone} requests that wait in crawl {crawl!r} are" if undone else ""
        if not what and await _has_workers_of_another(frontier, project):
            what = f"workers are in crawl {crawl!r} that are"
        if what:
            raise ConfigError(
                f"{what} of the project {word(owner_project)!r} (BOT_NAME), not of {project!r}: "
                "give each project a crawl of its own (SEINE_CRAWL), or let workers of that one "
                "finish it"
            )
        await client.hset(control, _PROJECT, project)
    await agree_on_secret(frontier, word(signed))


async def _has_workers_of_another(frontier: Frontier, project: str) -> bool:
    """Whether a live worker is another project's, because it may push requests at any time."""
    return any(info.get("project", project) != project for info in await live_workers(frontier))


async def release_spider(frontier: Frontier) -> None:
    """Let the next spider take over a crawl, because it was emptied.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = frontier.redis
    await client.hdel(Keys(frontier.keys.crawl).control, _SPIDER, _PROJECT, SIGNED)


def check_partitions(crawl: str, partitions: int, has: int) -> None:
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

"""Clearing a crawl, or one domain of it, in steps that hold up nobody; only ever a command (I7)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from redis.asyncio import Redis

from scrapy_seine.frontier.encoding.wire import domain_of, escape, job_of

if TYPE_CHECKING:
    from scrapy_seine.frontier.frontier import Frontier

#: Requests that one step touches.
STEP = 500


def scan(redis: Redis, prefix: str) -> AsyncIterator[bytes]:
    """Yield the names of the keys that start with *prefix*."""
    return redis.scan_iter(match=f"{escape(prefix)}*", count=1000)


async def clear(frontier: Frontier) -> int:
    """Drop all requests of a crawl that is not split, or of one partition; returns how many."""
    dropped = int(await frontier.run("clear"))
    async for key in scan(frontier.redis, frontier.keys.queue("")):
        domain = key.decode().removeprefix(frontier.keys.queue(""))
        while await frontier.run("discard", domain, STEP, 1):
            pass
    while await frontier.sweep():
        pass
    async for key in scan(frontier.redis, frontier.keys.domain("")):
        await frontier.redis.hdel(key.decode(), "pages")
    await _cancel_jobs(frontier)
    return dropped


async def _cancel_jobs(frontier: Frontier) -> None:
    """Count what a clear dropped as cancelled, so that no job waits for it."""
    client: Any = frontier.redis
    async for key in scan(frontier.redis, frontier.keys.job + ":"):
        names = ("total", "sent", "arrived", "done", "ignored", "failed")
        total, sent, arrived, *ended = (int(n or 0) for n in await client.hmget(key, names))
        await client.hset(key, "cancelled", total + sent - arrived - sum(ended))


async def clear_domain(frontier: Frontier, domain: str) -> int:
    """Drop a domain's requests but for those in flight and the dead; returns how many."""
    dropped = 0
    while gone := int(await frontier.run("discard", domain, STEP, 0)):
        dropped += gone
    return dropped + await _discard(frontier, domain, frontier.keys.delayed)


async def clear_job(frontier: Frontier, domain: str, job: str) -> int:
    """Drop what waits for one job at a domain; returns how many."""
    places = (frontier.keys.queue(domain), frontier.keys.delayed)
    return sum([await _discard(frontier, domain, place, job) for place in places])


async def _discard(frontier: Frontier, domain: str, place: str, job: str | None = None) -> int:
    """Drop a domain's requests from a sorted set; with *job*, those of one job."""
    client: Any = frontier.redis
    cursor = dropped = 0
    while True:
        cursor, rows = await client.zscan(place, cursor, count=STEP)
        ids = [id_ for id_, _ in rows]
        stored = await client.hmget(frontier.keys.requests, ids) if ids else []
        both = zip(ids, stored, strict=True)
        mine = [id_ for id_, request in both if _is_of(request or b"", domain, job)]
        dropped += int(await frontier.run("discard", domain, 0, 0, *mine)) if mine else 0
        if not cursor:
            return dropped


def _is_of(request: bytes, domain: str, job: str | None) -> bool:
    try:
        return domain_of(request) == domain and job in (None, job_of(request))
    except (IndexError, UnicodeDecodeError):  # it is no stored request: its turn shows that
        return False

"""Clears a crawl, or one of its domains, in short steps; only ever on a command (I7)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from redis.asyncio import Redis

from scrapy_seine.frontier.encoding.wire import domain_of, escape, job_of
from scrapy_seine.frontier.one_partition import Part
from scrapy_seine.lenient_parsing import whole_number

#: Requests that one step touches.
STEP = 500
#: What workers are told on the channel, with the domain if it is one's requests that are gone.
CLEARED = "cleared"


def scan(redis: Redis, prefix: str) -> AsyncIterator[bytes]:
    """Yield the names of the keys that start with *prefix*."""
    return redis.scan_iter(match=f"{escape(prefix)}*", count=1000)


async def clear(part: Part) -> int:
    """Drop all requests of a crawl that is not split, or of one partition; returns how many."""
    dropped = int(await part.run("clear"))
    async for key in scan(part.redis, part.keys.queue("")):
        domain = key.decode().removeprefix(part.keys.queue(""))
        while await part.run("discard", domain, STEP, 1):
            pass
    while await part.sweep():
        pass
    async for key in scan(part.redis, part.keys.domain("")):
        await part.redis.hdel(key.decode(), "pages")
    await _cancel_jobs(part)
    await _tell(part, CLEARED)
    return dropped


async def _cancel_jobs(part: Part) -> None:
    """Count dropped requests as cancelled, so that no job waits for them."""
    client: Any = part.redis
    async for key in scan(part.redis, part.keys.job + ":"):
        names = ("total", "sent", "arrived", "done", "ignored", "failed")
        total, sent, arrived, *outcomes = map(whole_number, await client.hmget(key, names))
        await client.hset(key, "cancelled", total + sent - arrived - sum(outcomes))


async def clear_domain(part: Part, domain: str) -> int:
    """Drop a domain's requests but for those in flight and the dead; returns how many."""
    dropped = 0
    while step := int(await part.run("discard", domain, STEP, 0)):
        dropped += step
    dropped += await _discard(part, domain, part.keys.delayed)
    await _tell(part, f"{CLEARED} {domain}")
    return dropped


async def _tell(part: Part, text: str) -> None:
    """Tell the workers, whose own requests wait for what is gone."""
    client: Any = part.redis
    await client.publish(part.keys.wake, text)


async def clear_job(part: Part, domain: str, job: str) -> int:
    """Drop what waits for one job at a domain; returns how many."""
    places = (part.keys.queue(domain), part.keys.delayed)
    return sum([await _discard(part, domain, place, job) for place in places])


async def _discard(part: Part, domain: str, place: str, job: str | None = None) -> int:
    """Drop a domain's requests from a sorted set; with *job*, those of one job."""
    client: Any = part.redis
    cursor = dropped = 0
    while True:
        cursor, rows = await client.zscan(place, cursor, count=STEP)
        ids = [id_ for id_, _ in rows]
        requests = await client.hmget(part.keys.requests, ids) if ids else []
        rows_read = zip(ids, requests, strict=True)
        matches = [id_ for id_, request in rows_read if _is_of(request or b"", domain, job)]
        dropped += int(await part.run("discard", domain, 0, 0, *matches)) if matches else 0
        if not cursor:
            return dropped


def _is_of(request: bytes, domain: str, job: str | None) -> bool:
    try:
        return domain_of(request) == domain and job in (None, job_of(request))
    except (IndexError, UnicodeDecodeError):  # no valid stored request; its lease reports it
        return False

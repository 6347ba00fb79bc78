"""Writes what each job has in a partition to the other partitions, because each counts alone."""

from __future__ import annotations

from typing import Any

from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.gather import run_all
from scrapy_seine.lenient_parsing import whole_number


async def share_totals(frontier: Frontier) -> int:
    """Write to each partition what the others hold of each job with a budget; returns jobs.

    Raises:
        RedisError: a server does not answer.
    """
    limited = await _limited(frontier)
    if not limited:
        return 0
    totals = await run_all(_totals(part, list(limited)) for part in frontier.parts)
    sums = [sum(column) for column in zip(*totals, strict=True)]
    await run_all(
        _write(part, limited, [total - count for total, count in zip(sums, counts, strict=True)])
        for part, counts in zip(frontier.parts, totals, strict=True)
    )
    return len(limited)


async def _limited(frontier: Frontier) -> dict[str, bytes | None]:
    """Return running jobs that have a budget: their own (as its value) or the crawl's."""
    client: Any = frontier.redis
    keys = frontier.keys
    names = [n.decode() for n in await client.zrange(keys.jobs, 0, -1)]
    pipe = frontier.redis.pipeline(transaction=False)
    pipe.hget(keys.control, "job_pages")
    for name in names:
        pipe.hmget(f"{keys.job}:{name}", "state", "budget")
    common, *fields = await pipe.execute()
    return {
        name: budget
        for name, (state, budget) in zip(names, fields, strict=True)
        if state not in {b"finished", b"cancelled"} and (budget or whole_number(common))
    }


async def _totals(part: Frontier, names: list[str]) -> list[int]:
    pipe = part.redis.pipeline(transaction=False)
    for name in names:
        pipe.hget(f"{part.keys.job}:{name}", "total")
    return [whole_number(total) for total in await pipe.execute()]


async def _write(part: Frontier, limited: dict[str, bytes | None], elsewhere: list[int]) -> None:
    pipe = part.redis.pipeline(transaction=False)
    for (name, budget), n in zip(limited.items(), elsewhere, strict=True):
        pipe.hset(f"{part.keys.job}:{name}", "elsewhere", str(n))
        if budget:
            pipe.hset(f"{part.keys.job}:{name}", "budget", budget)
    await pipe.execute()

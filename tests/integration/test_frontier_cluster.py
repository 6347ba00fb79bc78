"""Every verb on a real Redis Cluster of three masters: a crawl is one hash tag, so one slot."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from redis import Redis as Blocking
from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster
from redis.exceptions import RedisError

from crawler.frontier.frontier import Frontier, script
from crawler.frontier.keys import SeedKeys
from crawler.frontier.model import Burial, Done, Push, Retry
from crawler.stores.embedded.binaries import redis_servers
from crawler.stores.scripts import call
from tests.benchmarks.server import free_port
from tests.helpers import wait_until

pytestmark = pytest.mark.redis
TTL = 30_000
SLOTS = (0, 5461, 10923, 16384)


def _node(stack: ExitStack, folder: Path) -> int:
    port, bus = free_port(), free_port()
    folder.mkdir()
    program = redis_servers("auto")[0].server
    options = ["--port", port, "--cluster-port", bus, "--bind", "127.0.0.1", "--save", ""]
    options += ["--cluster-enabled", "yes", "--dir", folder, "--cluster-node-timeout", 5000]
    server = subprocess.Popen(
        [program, *map(str, options)], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    )
    stack.callback(server.wait)
    stack.callback(server.kill)
    return port


def _says(port: int, *words: object) -> bytes | None:
    with Blocking(port=port) as client:
        try:
            reply = client.execute_command(*words)
        except RedisError:
            return None
    return reply if isinstance(reply, bytes) else str(reply).encode()


def _complete(port: int) -> bool:
    told = _says(port, "CLUSTER INFO") or b""
    return all(word in told for word in (b"'ok'", b"'16384'", b"'cluster_known_nodes': '3'"))


@pytest.fixture(scope="module")
def cluster_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("cluster")
    with ExitStack() as stack:
        ports = [_node(stack, folder / str(n)) for n in range(3)]
        for port in ports:
            wait_until(lambda port=port: _says(port, "PING"), 10, "a node answers")
        for n, port in enumerate(ports):
            _says(port, "CLUSTER", "ADDSLOTSRANGE", SLOTS[n], SLOTS[n + 1] - 1)
            with Blocking(port=ports[0]) as first, Blocking(port=port) as other:
                bus = int(other.config_get("cluster-port")["cluster-port"])
                if n:
                    first.execute_command("CLUSTER", "MEET", "127.0.0.1", port, bus)
        for port in ports:
            wait_until(lambda port=port: _complete(port), 30, "the cluster is formed")
        yield ports[0]


@pytest.fixture
async def cluster(cluster_port: int) -> AsyncIterator[Redis]:
    client = RedisCluster(host="127.0.0.1", port=cluster_port)
    yield client  # type: ignore[misc]  # it has the same commands
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
    assert await call(cluster, script("land"), [f.keys.prefix], args) == 1
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


async def test_seeds_are_claimed_beside_their_own_key(cluster: Redis) -> None:
    keys = SeedKeys("shop:start_urls")
    await cluster.rpush(keys.seeds, "s1")
    names = [keys.seeds, keys.claimed, keys.claims]
    claim, seed = await call(cluster, script("claim"), names, [5, TTL])
    assert seed == b"s1"
    names = [keys.claimed, keys.claims, keys.rejected]
    assert await call(cluster, script("settle"), names, [10, claim, b""]) == b"OK"


async def test_a_bloom_memory_and_its_sweep_stay_in_the_slot(cluster: Redis) -> None:
    f = Frontier(cluster, "bits", now_ms=1_800_000_000_000)
    await f.configure(delay_ms=0, concurrency=16, half_window_ms=1000, seen="bloom", capacity=1000)
    for n in range(4):
        assert await f.push([push(n)]) == ["OK"]
        f.now_ms += 2000
    assert await f.sweep() > 0

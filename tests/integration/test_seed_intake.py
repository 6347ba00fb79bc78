"""Seeds in a list, a set or a sorted set: claimed, settled, and never lost in between."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from time import monotonic
from typing import Any

import attrs
import orjson
import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from crawler.stores.store_endpoints import redis_client as connect_redis
from scrapy_seine.engine.ending.shutdown import cancel
from scrapy_seine.errors import SeineError
from scrapy_seine.frontier.encoding.codec import encode
from scrapy_seine.frontier.encoding.wire import script
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import Keys, SeedKeys
from scrapy_seine.frontier.model import Budgets, Push
from scrapy_seine.frontier.opening import frontier_of
from scrapy_seine.frontier.seed_intake import Intake
from scrapy_seine.frontier.shared_seeds import warn_of_shared_seeds
from scrapy_seine.lua_scripts import call
from tests.helpers import patient, wait_until_async

pytestmark = pytest.mark.redis


@pytest.fixture
def keys(namespace: str) -> SeedKeys:
    return SeedKeys(f"{namespace}:start_urls")


async def claim(redis: Redis, k: SeedKeys, n: int = 10, ttl_ms: int = 30_000) -> dict[bytes, bytes]:
    keys = [k.seeds, k.claimed, k.claims, k.tries]
    flat = await call(redis, script("claim_seeds"), keys, [n, ttl_ms, "r"])
    return {} if flat == [b"HELD"] else dict(zip(flat[::3], flat[1::3], strict=True))


async def settle(redis: Redis, k: SeedKeys, *pairs: bytes, kept: int = 100) -> None:
    await call(
        redis, script("settle_seeds"), [k.claimed, k.claims, k.rejected, k.tries], [kept, *pairs]
    )


async def test_a_list_gives_its_seeds_in_order_and_each_once(
    redis_client: Redis, keys: SeedKeys
) -> None:
    await redis_client.rpush(keys.seeds, "s1", "s2", "s3")
    assert list((await claim(redis_client, keys, 2)).values()) == [b"s1", b"s2"]
    assert list((await claim(redis_client, keys, 2)).values()) == [b"s3"]
    assert await claim(redis_client, keys, 2) == {}


async def test_a_set_and_a_sorted_set_are_read_too(redis_client: Redis, keys: SeedKeys) -> None:
    await redis_client.sadd(keys.seeds, "s1", "s2")
    assert sorted((await claim(redis_client, keys)).values()) == [b"s1", b"s2"]
    await redis_client.zadd(keys.seeds, {"low": 1, "high": 2})
    assert list((await claim(redis_client, keys)).values()) == [b"high", b"low"]


async def test_i1_a_claim_that_is_not_settled_is_handed_out_again(
    redis_client: Redis, keys: SeedKeys
) -> None:
    await redis_client.rpush(keys.seeds, "s1")
    assert await claim(redis_client, keys, ttl_ms=150)
    assert await claim(redis_client, keys) == {}

    async def again() -> bool:
        return list((await claim(redis_client, keys)).values()) == [b"s1"]

    await wait_until_async(again, 5, "the claim expires and is taken over")


async def test_i8_a_settled_seed_is_gone_and_a_rejected_one_keeps_its_reason(
    redis_client: Redis, keys: SeedKeys
) -> None:
    await redis_client.rpush(keys.seeds, "good", "bad", "worse")
    claims = {seed: name for name, seed in (await claim(redis_client, keys)).items()}
    note = orjson.dumps({"seed": "bad", "reason": "no url"})
    await settle(redis_client, keys, claims[b"good"], b"", claims[b"bad"], note)
    assert await redis_client.hvals(keys.claimed) == [b"worse"]
    assert await redis_client.lrange(keys.rejected, 0, -1) == [note]
    await settle(redis_client, keys, claims[b"bad"], note)
    assert await redis_client.llen(keys.rejected) == 1


async def test_a_seed_that_a_budget_refuses_is_rejected_with_that_reason(
    redis_client: Redis, keys: SeedKeys, namespace: str
) -> None:
    def read(seed: bytes) -> list[Push]:
        fields = {"url": f"http://a.example/{seed.decode()}"}
        return [Push(domain="a.example", blob=encode(fields), fingerprint=int(seed))]

    frontier = Frontier(redis_client, namespace)
    budgets = Budgets(domain_pages=1)
    await frontier.configure(delay_ms=0, concurrency=9, half_window_ms=60_000, budgets=budgets)
    taken: list[tuple[int, int]] = []
    intake = Intake(redis_client, frontier, keys, read, lambda *n: taken.append(n))
    await redis_client.rpush(keys.seeds, "1", "2")
    assert await intake.take() == 2
    (note,) = map(orjson.loads, await redis_client.lrange(keys.rejected, 0, -1))
    assert (note["seed"], taken) == ("2", [(1, 1)])
    assert "budget" in note["reason"]


async def test_only_the_newest_rejects_are_kept(redis_client: Redis, keys: SeedKeys) -> None:
    await redis_client.rpush(keys.seeds, *(f"s{i}" for i in range(5)))
    for name, seed in (await claim(redis_client, keys)).items():
        await settle(redis_client, keys, name, seed, kept=3)
    assert await redis_client.lrange(keys.rejected, 0, -1) == [b"s4", b"s3", b"s2"]


async def test_a_look_ahead_of_the_tick_tells_whether_anybody_has_seeds(
    redis_client: Redis, keys: SeedKeys, namespace: str
) -> None:
    def read(_: bytes) -> list[Push]:
        raise SeineError("no seed was expected")

    intake = Intake(redis_client, Frontier(redis_client, namespace), keys, read, lambda *_: None)

    async def look() -> float:
        over = asyncio.Event()
        intake.look(over.set)
        await asyncio.wait_for(over.wait(), patient(5))
        return intake.quiet_at

    await redis_client.rpush(keys.seeds, "s1")
    await claim(redis_client, keys)
    assert await look() == 0, "another worker holds a seed that may become a request"
    await redis_client.delete(keys.claimed, keys.claims)
    began = monotonic()
    assert began <= await look() <= monotonic()


def intake_of(
    redis: Redis, frontier: Frontier, keys: SeedKeys, read: Callable[[bytes], list[Push]]
) -> Intake:
    return Intake(redis, frontier, keys, read, lambda *_: None)


def a_push(seed: bytes) -> list[Push]:
    blob = encode({"url": "http://a.example/"})
    return [Push(domain="a.example", blob=blob, fingerprint=int.from_bytes(seed[:4]), force=True)]


async def reasons(redis: Redis, keys: SeedKeys) -> dict[str, str]:
    found = [orjson.loads(note) for note in await redis.lrange(keys.rejected, 0, -1)]
    return {note["seed"]: note["reason"] for note in found}


async def test_i8_a_seed_on_which_reading_fails_takes_no_other_along(
    redis_client: Redis, keys: SeedKeys, namespace: str
) -> None:
    def read(seed: bytes) -> list[Push]:
        if seed.startswith(b"bad"):
            raise KeyError("url\ud800")
        return a_push(seed)

    frontier = Frontier(redis_client, namespace)
    await redis_client.rpush(keys.seeds, *(f"good{n}" for n in range(60)), "bad", b"bad\xff")
    assert await intake_of(redis_client, frontier, keys, read).take() == 62
    assert (await frontier.counts()).ready == 60
    found = await reasons(redis_client, keys)
    assert set(found) == {"bad", "bad\\xff"}
    assert all(reason.startswith("KeyError: ") for reason in found.values())
    assert await redis_client.exists(keys.claimed, keys.claims, keys.tries) == 0


async def test_i8_a_seed_that_redis_refuses_takes_no_other_along(
    redis_client: Redis, keys: SeedKeys, namespace: str
) -> None:
    def read(seed: bytes) -> list[Push]:
        (push,) = a_push(seed)
        # No time: the script ends in an error.
        late: Any = "soon"
        return [attrs.evolve(push, not_before_ms=late)] if seed == b"bad" else [push]

    frontier = Frontier(redis_client, namespace)
    await redis_client.rpush(keys.seeds, "good1", "bad", "good2")
    await intake_of(redis_client, frontier, keys, read).take()
    assert list(await reasons(redis_client, keys)) == ["bad"]
    assert await redis_client.exists(keys.claimed, keys.claims) == 0
    assert await redis_client.zcard(frontier.keys.queue("a.example")) >= 2


async def test_seeds_of_a_partition_that_takes_nothing_wait_and_the_others_enter(
    redis_client: Redis, keys: SeedKeys, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    def read(seed: bytes) -> list[Push]:
        return [Push(domain=seed.decode(), blob=b"x", fingerprint=hash(seed), force=True)]

    frontier = frontier_of(redis_client, namespace, 2)
    seeds = [f"shop{n}.example" for n in range(12)]
    broken = frontier.parts[1]
    waiting = {seed.encode() for seed in seeds if frontier.part(seed) is broken}
    assert 0 < len(waiting) < len(seeds)
    await redis_client.rpush(keys.seeds, *seeds)
    await redis_client.set(broken.keys.ready, "of somebody else")
    counted = []
    intake = Intake(redis_client, frontier, keys, read, lambda *counts: counted.append(counts))
    with pytest.raises(ResponseError, match="must be a sorted set"):
        await intake.take()
    assert await reasons(redis_client, keys) == {}
    assert "rejected" not in caplog.text
    assert set(await redis_client.hvals(keys.claimed)) == waiting
    await redis_client.delete(broken.keys.ready)
    await redis_client.zadd(keys.claims, dict.fromkeys(await redis_client.hkeys(keys.claimed), 1))
    assert await intake.take() == len(waiting)
    assert (await frontier.counts()).ready == len(seeds)
    assert counted == [(len(seeds) - len(waiting), 0), (len(waiting), 0)]
    assert await redis_client.exists(keys.claimed, keys.claims) == 0


async def test_a_seed_that_ends_its_workers_comes_again_alone_three_times_and_is_rejected(
    redis_client: Redis, keys: SeedKeys, namespace: str
) -> None:
    taken: list[list[bytes]] = []

    def read(seed: bytes) -> list[Push]:
        taken[-1].append(seed)
        if seed == b"killer":
            raise KeyboardInterrupt  # stands for a process that ends here
        return a_push(seed)

    async def work() -> None:
        taken.append([])
        with contextlib.suppress(KeyboardInterrupt):
            await intake_of(redis_client, Frontier(redis_client, namespace), keys, read).take()
        expired = await redis_client.zrange(keys.claims, 0, -1)
        if expired:
            await redis_client.zadd(keys.claims, dict.fromkeys(expired, 1))

    await redis_client.rpush(keys.seeds, *(f"good{n}" for n in range(5)), "killer", "late")
    for _ in range(11):
        await work()
    assert len(taken[0]) == 6, "the first worker reads up to the killer"
    assert all(len(seeds) <= 1 for seeds in taken[1:]), "then each seed comes alone"
    assert sum(seeds.count(b"killer") for seeds in taken) == 3
    assert await reasons(redis_client, keys) == {"killer": "3 workers ended while they read it"}
    assert (await Frontier(redis_client, namespace).counts()).ready == 6
    assert await redis_client.exists(keys.claimed, keys.claims, keys.tries) == 0


async def test_i8_an_intake_that_fails_goes_on_with_the_next_seeds(
    redis_client: Redis, keys: SeedKeys, namespace: str
) -> None:
    frontier, failed = Frontier(redis_client, namespace), []

    async def before(pushes: object) -> None:
        if not failed:
            failed.append(pushes)
            raise KeyError("a fault of the engine's own")

    intake = Intake(redis_client, frontier, keys, a_push, lambda *_: None, before=before)
    await redis_client.rpush(keys.seeds, "first")
    task = asyncio.ensure_future(intake.run())

    async def has_failed() -> bool:
        return bool(failed)

    async def entered() -> bool:
        return (await frontier.counts()).ready > 0

    await wait_until_async(has_failed, 20, "the first seed meets the fault")
    await redis_client.rpush(keys.seeds, "next")
    await wait_until_async(entered, 20, "a later seed enters")
    await cancel([task])
    assert await redis_client.hlen(keys.claimed) >= 1, "the seed of the fault waits for its turn"


async def test_two_crawls_that_take_the_same_seeds_are_named(
    redis_client: Redis, keys: SeedKeys, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    one, other = f"{namespace}-one", f"{namespace}-other"
    seconds, _ = await redis_client.time()
    await warn_of_shared_seeds(redis_client, keys, one)
    await warn_of_shared_seeds(redis_client, keys, one)
    await warn_of_shared_seeds(redis_client, keys, other)
    assert caplog.messages == []  # no worker of the first one is alive
    await redis_client.zadd(Keys(one).workers, {"w": (seconds + 60) * 1000})
    await warn_of_shared_seeds(redis_client, keys, other)
    [line] = caplog.messages
    assert line.startswith(f"workers of crawl '{one}' take seeds from {keys.seeds}, too")


async def test_a_key_of_seeds_that_may_not_be_read_is_named(
    redis_client: Redis,
    redis_url: str,
    keys: SeedKeys,
    namespace: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Redis' own error names no key: nobody knew which right was missing."""
    rights = ["~{" + namespace + "}*", "&*", "+@all"]
    await redis_client.execute_command("ACL", "SETUSER", namespace, "on", ">word", *rights)
    client = connect_redis(f"{redis_url}&username={namespace}&password=word")
    frontier = Frontier(client, namespace)
    taken = asyncio.create_task(intake_of(client, frontier, keys, a_push).run())
    try:
        await wait_until_async(lambda: _is_said(caplog), 10, "the refusal is logged")
        assert f"No seed of {keys.seeds} is taken meanwhile" in caplog.text
    finally:
        taken.cancel()
        await client.aclose()
        await redis_client.execute_command("ACL", "DELUSER", namespace)


async def _is_said(caplog: pytest.LogCaptureFixture) -> bool:
    return "No permissions to access a key" in caplog.text

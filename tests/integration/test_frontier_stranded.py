"""I1: what is in no place is found beside other work too, and gets back exactly what it had."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from scrapy_seine.frontier.keys import Keys
from tests.integration.frontier_kit import TTL, Driver, pages

pytestmark = pytest.mark.redis
LOOK_MS, PASS_MS = 1000, 60_000


@pytest.fixture(params=["looked through", "counted"])
async def d(request: pytest.FixtureRequest, redis_client: Redis, namespace: str) -> Driver:
    """A crawl with a worker that is busy with a domain all the time.

    Each request is looked at, or first their places are counted.
    """
    driver = Driver(redis_client, namespace)
    if request.param == "counted":
        await driver.redis.hset(driver.f.keys.control, "looked_all", driver.now)
    await driver.f.push(pages(3, "busy.example"))
    await driver.f.renew("w1", [], ttl_ms=TTL, info=b"{}")
    await driver.take(1)
    return driver


async def look(d: Driver) -> tuple[int, int]:
    """The next look, of a live worker."""
    d.later(PASS_MS)
    held = await d.redis.hgetall(d.f.keys.held)
    for id_ in held:
        await d.redis.zadd(d.f.keys.leases, {id_: d.now + TTL})
    assert (await d.f.lease("w2", 0, ttl_ms=TTL)).expired
    return tuple(await d.f.reap())  # type: ignore[return-value]


async def test_who_leases_is_told_once_a_minute_to_look(d: Driver) -> None:
    assert not (await d.f.lease("w2", 0, ttl_ms=TTL)).expired
    assert await look(d) == (0, 0)
    assert not (await d.f.lease("w2", 0, ttl_ms=TTL)).expired


@pytest.mark.parametrize("key", ["ready", "waiting"])
async def test_domains_that_no_key_names_are_placed_again(d: Driver, key: str) -> None:
    await d.f.set_delay("slow.example", delay_ms=10 * PASS_MS)
    await d.f.push(pages(2, "slow.example") + pages(2, "idle.example"))
    await d.take(1, worker="w0")
    await d.take(1, worker="w0")
    await d.redis.delete(getattr(d.f.keys, key))
    before = await d.where()
    assert await look(d) == (0, 0)
    assert await d.where() == before
    keys = d.f.keys
    placed = {*await d.redis.zrange(keys.ready, 0, -1), *await d.redis.zrange(keys.waiting, 0, -1)}
    assert {b"slow.example", b"idle.example"} - {b"busy.example"} <= placed


async def test_requests_whose_queue_is_gone_are_queued_again(d: Driver) -> None:
    await d.f.push(pages(4, "lost.example"))
    await d.redis.delete(f"{d.f.keys.prefix}q:lost.example")
    assert await look(d) == (4, 0)
    lost = [name for name in await d.take_names(20) if "lost" in name]
    assert sorted(lost) == [f"lost.example/{i}" for i in range(4)]


async def test_slots_that_nobody_uses_are_free_again(d: Driver) -> None:
    await d.f.push(pages(2, "full.example"))
    await d.redis.hset(f"{d.f.keys.prefix}d:full.example", mapping={"active": 99})
    await d.redis.zrem(d.f.keys.ready, "full.example")
    assert await look(d) == (0, 0)
    assert sum("full" in name for name in await d.take_names(20)) == 2


async def test_slots_that_are_in_use_stay_so(d: Driver) -> None:
    await d.f.set_delay("busy.example", concurrency=1)
    assert await look(d) == (0, 0)
    assert await d.take_names(20) == []


async def test_a_lease_that_no_key_would_ever_end_expires(d: Driver) -> None:
    await d.redis.delete(d.f.keys.leases)
    d.later(PASS_MS)
    await d.f.push(pages(1, "other.example"))
    assert (await d.f.lease("w2", 0, ttl_ms=TTL)).expired
    assert tuple(await d.f.reap()) == (0, 0)
    d.later(2 * PASS_MS)
    assert tuple(await d.f.reap()) == (1, 0)
    assert (await d.where())[:3] == (4, 0, 0)


async def test_requests_that_are_all_in_a_place_are_counted_and_not_looked_at(d: Driver) -> None:
    """Of a million requests each look would take minutes; a paused and a full domain count, too."""
    await d.f.push(pages(1500, "many.example") + pages(3, "paused.example"))
    await d.f.push(pages(3, "full.example"))
    await d.f.set_delay("full.example", concurrency=1)
    await d.take(6, worker="w0")
    await d.f.pause("paused.example")
    for domain in ("paused.example", "full.example"):
        assert await d.redis.zscore(d.f.keys.ready, domain) is None
    await d.redis.hset(d.f.keys.control, "looked_all", d.now)
    assert await look(d) == (0, 0)
    looked, due = await d.redis.hmget(d.f.keys.control, "looked", "look")
    assert (looked, int(due)) == (None, d.now + PASS_MS)
    await d.redis.hset(d.f.keys.control, "looked_all", d.now - 1_800_000)
    assert await look(d) == (0, 0)
    assert await d.redis.hget(d.f.keys.control, "looked") not in (None, b"0"), "twice an hour"


async def test_what_is_in_its_place_stays_there(d: Driver) -> None:
    await d.f.push(pages(50, "busy.example", start=10) + pages(50, "other.example"))
    before, keys = await d.where(), Keys(d.f.keys.crawl)
    queues = await d.redis.zrange(f"{keys.prefix}q:other.example", 0, -1, withscores=True)
    assert await look(d) == (0, 0)
    assert await d.where() == before
    assert await d.redis.zrange(f"{keys.prefix}q:other.example", 0, -1, withscores=True) == queues


WITH_BROWSER, WITHOUT = b'{"lanes":["browser"]}', b'{"lanes":[]}'
LACKED_MS, LANE_MS = 60_000, 10_000


async def rendered(d: Driver) -> Driver:
    """A crawl of live workers without a browser, and a domain that asks for one."""
    await d.f.renew("w1", [], ttl_ms=100 * TTL, info=WITHOUT)
    await d.f.push(pages(2, "rendered.example"))
    await d.f.set_lane("rendered.example", "browser")
    return d


async def leased(d: Driver, domain: str = "rendered.example") -> list[str]:
    """What of a domain a worker without lanes gets now."""
    return [name for name in await d.take_names(20) if name.startswith(domain)]


async def test_a_domain_whose_lane_left_is_anybodys_once_its_last_worker_is_gone(d: Driver) -> None:
    await rendered(d)
    await d.f.renew("browser", [], ttl_ms=TTL, info=WITH_BROWSER)
    assert await leased(d) == []
    d.later(2 * TTL)
    await d.f.renew("browser", [], ttl_ms=TTL, info=WITH_BROWSER)
    assert await leased(d) == []
    d.later(TTL + 1)
    assert await leased(d) == []
    d.later(LACKED_MS - 1)
    assert await leased(d) == []
    d.later(1)
    assert await leased(d) == ["rendered.example/0", "rendered.example/1"]


async def test_a_lane_that_comes_back_is_its_workers_again(d: Driver) -> None:
    await rendered(d)
    for _ in range(3):
        assert await leased(d) == []
        d.later(LACKED_MS - LANE_MS)
        await d.f.renew("browser", [], ttl_ms=LANE_MS, info=WITH_BROWSER)
        assert await leased(d) == []
        d.later(LANE_MS)


@pytest.mark.parametrize("info", [b"{}", b'{"version":"0.1"}', b"", b"7", b'{"lanes":7}', b"\xff"])
async def test_a_lane_may_be_that_of_a_worker_of_an_older_version(d: Driver, info: bytes) -> None:
    """In a rolling update the old workers name no lanes; they may have a browser all the same."""
    await rendered(d)
    await d.f.renew("old", [], ttl_ms=5 * LACKED_MS, info=info)
    for _ in range(4):
        assert await leased(d) == []
        d.later(LACKED_MS)
    found = await d.f.lease("old", 20, ttl_ms=TTL, lanes=("browser",))
    assert sum(b"rendered" in lease.blob for lease in found.leases) == 2


@pytest.mark.parametrize("kept", ["", "x", "-5 3", "9999999999999999999 1", f"{10**14} {10**14}"])
async def test_junk_about_a_lane_is_looked_up_again(d: Driver, kept: str) -> None:
    await rendered(d)
    await d.f.renew("browser", [], ttl_ms=3 * LACKED_MS, info=WITH_BROWSER)
    await d.redis.hset(d.f.keys.control, "lane:browser", kept)
    d.later(2 * LACKED_MS)
    assert await leased(d) == []


@pytest.mark.parametrize("key", ["workers", "worker_info"])
async def test_a_lane_stays_its_workers_where_nobody_can_be_read(d: Driver, key: str) -> None:
    await rendered(d)
    await d.redis.delete(getattr(d.f.keys, key))
    await d.redis.set(getattr(d.f.keys, key), "junk")
    for _ in range(2):
        assert await leased(d) == []
        d.later(2 * LACKED_MS)


@pytest.mark.parametrize("looked", ["x", "-1", "99999999999999999999999"])
async def test_junk_about_the_last_look_costs_one_turn(d: Driver, looked: str) -> None:
    await d.f.push(pages(4, "lost.example"))
    await d.redis.delete(f"{d.f.keys.prefix}q:lost.example")
    await d.redis.hset(d.f.keys.control, mapping={"looked": looked, "look": "soon"})
    await d.f.renew("w1", [], ttl_ms=TTL, info=b"{}")
    found = 0
    for _ in range(3):
        found += (await look(d))[0]
    assert found == 4

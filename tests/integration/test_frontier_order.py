"""I5, priorities and fairness: which request is handed out, and when."""

from __future__ import annotations

import itertools

import pytest
from redis.asyncio import Redis

from scrapy_seine.frontier.model import Retry
from tests.integration.frontier_kit import TTL, Driver, page, pages

pytestmark = pytest.mark.redis


@pytest.fixture
def d(redis_client: Redis, namespace: str) -> Driver:
    return Driver(redis_client, namespace)


async def test_first_in_first_out_inside_a_level(d: Driver) -> None:
    await d.f.push(pages(12))
    taken = [name for _ in range(4) for name in await d.take_names(3)]
    assert taken == [f"a.example/{i}" for i in range(12)]


async def test_a_higher_priority_goes_first_in_a_domain_and_among_domains(d: Driver) -> None:
    await d.f.push(
        [
            page("low", priority=-5),
            page("none"),
            page("high", priority=7),
            page("elsewhere", domain="b.example", priority=3),
        ]
    )
    taken = [name for _ in range(4) for name in await d.take_names(1)]
    assert taken == ["high", "elsewhere", "none", "low"]


async def test_priorities_beyond_the_limit_count_as_the_limit(d: Driver) -> None:
    await d.f.push([page("a", priority=10**9), page("b", priority=10**6), page("c")])
    await d.f.push([page("z", priority=-(10**9))])
    assert await d.take_names(4) == ["a", "b", "c", "z"]


async def test_the_least_recently_served_domain_is_next(d: Driver) -> None:
    for domain in ("a", "b", "c"):
        await d.f.push(pages(3, domain))
        await d.f.set_delay(domain, delay_ms=1)
    taken = []
    for _ in range(9):
        d.later(20)
        taken += await d.take_names(1)
    assert [name[0] for name in taken] == list("abcabcabc")


async def test_a_huge_domain_does_not_starve_a_small_one(d: Driver) -> None:
    await d.f.push(pages(400, "huge"))
    await d.f.push(pages(4, "small"))
    first = await d.take_names(16)
    assert sum(name.startswith("small") for name in first) == 4


async def test_i5_a_domain_never_has_more_in_flight_than_its_concurrency(d: Driver) -> None:
    await d.f.set_delay("a.example", concurrency=3)
    await d.f.push(pages(10))
    held = await d.take(10, worker="w1")
    assert len(held) == 3
    assert await d.take(10, worker="w2") == []
    await d.ack(held[0])
    assert len(await d.take(10, worker="w2")) == 1
    await d.f.retry([Retry(lease=held[1], wait_ms=60_000, push=page("again"))])
    await d.f.release([held[2]])
    assert len(await d.take(10, worker="w2")) == 2


async def test_i5_a_landed_download_frees_its_slot_once(d: Driver) -> None:
    await d.f.set_delay("a.example", concurrency=1)
    await d.f.push(pages(4))
    (lease,) = await d.take()
    args = [d.f.keys.prefix, d.now, lease.id, lease.token]
    from scrapy_seine.frontier.encoding.wire import script

    lua = script("free_slots")
    assert await d.redis.eval(lua.source, 1, *args) == 1
    assert await d.redis.eval(lua.source, 1, *args) == 0
    (second,) = await d.take(5)
    assert await d.ack(lease) == ["OK"]
    assert await d.take(5) == []
    await d.ack(second)
    assert len(await d.take(5)) == 1


async def test_i5_slots_of_a_dead_worker_come_back(d: Driver) -> None:
    await d.f.set_delay("a.example", concurrency=2)
    await d.f.push(pages(4))
    await d.take(4, worker="dead")
    d.later(TTL + 1)
    assert await d.take(4) == []
    await d.f.reap()
    assert len(await d.take(4)) == 2


async def test_i5_two_slots_of_a_domain_are_never_closer_than_its_delay(d: Driver) -> None:
    await d.f.set_delay("a.example", delay_ms=100, jitter=0.3)
    await d.f.push(pages(30))
    slots: list[int] = []
    for step in range(600):
        leased = await d.f.lease(f"w{step % 8}", 4, ttl_ms=TTL, lead_ms=25)
        slots += [lease.slot_ms for lease in leased.leases]
        await d.ack(*leased.leases)
        d.later(7)
    assert len(slots) == 30
    gaps = [b - a for a, b in itertools.pairwise(slots)]
    assert min(gaps) >= 100
    assert max(gaps) <= 100 + 5 + 30 + 7


@pytest.mark.parametrize("whose", ["set_delay", "set_site"])
async def test_i5_a_pause_for_one_domain_is_not_varied_like_the_crawls_own(
    d: Driver, whose: str
) -> None:
    await d.f.configure(delay_ms=0, concurrency=16, half_window_ms=10**9, jitter=2.0)
    await getattr(d.f, whose)("a.example", delay_ms=100, concurrency=16)
    await d.f.push(pages(20))
    slots: list[int] = []
    for _ in range(600):
        leased = await d.f.lease("w1", 4, ttl_ms=TTL, lead_ms=25)
        slots += [lease.slot_ms for lease in leased.leases]
        await d.ack(*leased.leases)
        d.later(7)
    gaps = [b - a for a, b in itertools.pairwise(slots)]
    assert len(slots) == 20
    assert max(gaps) <= 100 + 5 + 7


async def test_i5_a_block_holds_everything_and_is_never_shortened(d: Driver) -> None:
    await d.f.push(pages(3))
    until = await d.f.block_until("a.example", 5000)
    assert until == d.now + 5000
    assert await d.f.block_until("a.example", 10) == until
    leased = await d.f.lease("w1", 3, ttl_ms=TTL)
    assert (len(leased.leases), leased.next_due_ms) == (0, until)
    d.later(5000)
    assert len(await d.take(3)) == 3


async def test_the_crawls_default_limits_hold_where_a_domain_has_none(d: Driver) -> None:
    await d.f.configure(delay_ms=0, concurrency=2, half_window_ms=10**9)
    await d.f.set_delay("own", concurrency=5)
    await d.f.push([*pages(9, "own"), *pages(9, "default")])
    taken: list[str] = []
    for _ in range(9):
        taken += await d.take_names(9)
    assert sorted({name.split("/")[0]: 0 for name in taken}) == ["default", "own"]
    assert sum(name.startswith("own") for name in taken) == 5
    assert sum(name.startswith("default") for name in taken) == 2


async def test_a_site_files_limits_hold_unless_an_operator_set_others(d: Driver) -> None:
    await d.f.configure(delay_ms=0, concurrency=2, half_window_ms=10**9)
    await d.f.push(pages(20))
    await d.f.set_site("a.example", delay_ms=None, concurrency=4)
    held = await d.take(9)
    assert len(held) == 4
    await d.f.set_delay("a.example", concurrency=5)
    held += await d.take(9)
    assert len(held) == 5
    await d.ack(*held)
    await d.f.set_site("a.example", delay_ms=100, concurrency=None)
    assert len(await d.take(9)) == 1
    await d.f.set_delay("a.example", delay_ms=0)
    d.later(106)
    assert len(await d.take(9)) == 4


async def test_pause_and_resume_of_the_crawl(d: Driver) -> None:
    await d.f.push(pages(2))
    await d.f.pause()
    leased = await d.f.lease("w1", 2, ttl_ms=TTL)
    assert (leased.state, list(leased.leases)) == ("PAUSED", [])
    assert (await d.f.counts()).paused
    assert await d.f.resume()
    assert not await d.f.resume()
    assert len(await d.take(2)) == 2


async def test_pause_and_resume_of_one_domain(d: Driver) -> None:
    await d.f.push([*pages(2, "a"), *pages(2, "b")])
    await d.f.pause("a")
    assert await d.take_names(9) == ["b/0", "b/1"]
    await d.f.push(pages(1, "a", start=5))
    assert await d.take_names(9) == []
    assert await d.f.resume("a")
    assert await d.take_names(9) == ["a/0", "a/1", "a/5"]


async def test_a_lease_that_asks_for_more_than_lua_can_carry_gets_what_it_can(d: Driver) -> None:
    await d.f.set_delay("a.example", concurrency=100_000)
    await d.f.push(pages(6000))
    assert len(await d.take(50_000)) == 1000

"""Clearing (I7: a command's work, never a worker's) and replaying, while a fleet may be at work."""

from __future__ import annotations

import sys
from typing import Any

import orjson
import pytest
from redis.asyncio import Redis

from scrapy_seine.frontier.encoding.codec import decode, encode
from scrapy_seine.frontier.model import Burial, Push
from scrapy_seine.reads.dead_letters import Filter, search_dead
from tests.integration.frontier_kit import TTL, Driver, page, pages

pytestmark = pytest.mark.redis


@pytest.fixture
def d(redis_client: Redis, namespace: str) -> Driver:
    return Driver(redis_client, namespace)


async def crowd(d: Driver) -> None:
    """Leave requests in every place: ready, delayed, leased, dead; of two domains."""
    for domain in ("a", "b"):
        await d.f.push([page(f"{domain} dies", domain=domain, fingerprint=hash(domain))])
        (lease,) = await d.take()
        await d.f.bury([Burial(lease=lease, note=b"{}")])
        await d.f.push([page("later", domain=domain, not_before_ms=d.now + 9999, job="daily")])
        await d.f.push(pages(1500, domain))
    await d.f.set_delay("a", concurrency=2)
    await d.take(4)


async def test_clear_drops_every_request_and_the_memory(d: Driver) -> None:
    await crowd(d)
    assert await d.f.clear() == 3004
    assert await d.where() == (0, 0, 0, 0)
    assert await d.redis.hgetall(f"{d.f.keys.job}:daily") == {b"total": b"2", b"cancelled": b"2"}
    counts = await d.f.counts()
    assert (counts.seen, counts.undone, counts.domains_ready) == (0, 0, 0)
    assert await d.f.push(pages(2, "a")) == ["OK", "OK"]
    left = [k.decode() async for k in d.redis.scan_iter(f"{d.f.keys.prefix}*", count=1000)]
    stems = {key.removeprefix(d.f.keys.prefix).split(":")[0] for key in left}
    assert stems <= {"counters", "control", "d", "job", "q", "ready", "requests", "seen"}
    assert await d.redis.zcard(d.f.keys.queue("b")) == 0


async def test_after_clear_limits_hold_and_late_words_change_nothing(d: Driver) -> None:
    await d.f.set_delay("a.example", concurrency=2)
    await d.f.push(pages(5))
    old = await d.take(5)
    await d.f.clear()
    await d.f.push(pages(5))
    new = await d.take(5)
    assert (len(old), len(new)) == (2, 2)
    assert not {x.token for x in old} & {x.token for x in new}
    assert await d.ack(*old) == ["LOST", "LOST"]
    assert await d.ack(*new) == ["OK", "OK"]
    assert await d.f.renew("w1", old, ttl_ms=TTL, info=b"{}") == [x.id for x in old]


async def test_ids_that_clear_left_in_a_queue_are_passed_over(d: Driver) -> None:
    await d.f.push(pages(50))
    await d.redis.delete(d.f.keys.requests)
    await d.f.push(pages(2, start=50))
    assert await d.take_names(8) == ["a.example/50", "a.example/51"]
    assert await d.redis.zcard(d.f.keys.queue("a.example")) == 0


async def test_a_domain_is_cleared_alone_and_what_is_in_flight_ends_as_it_would(d: Driver) -> None:
    await crowd(d)
    held = (await d.where())[2]
    in_a = await d.redis.hget(d.f.keys.domain("a"), "active")
    assert await d.f.clear_domain("a") == 1501 - int(in_a)
    ready, delayed, leased, dead = await d.where()
    assert (leased, dead, delayed) == (held, 2, 1)
    assert ready == 1500 - (held - int(in_a))
    assert (await d.f.counts()).domains_ready == 1
    assert await d.redis.hgetall(f"{d.f.keys.job}:daily") == {b"total": b"2", b"cancelled": b"1"}


async def test_what_waits_for_one_job_goes_alone_from_the_queue_and_from_its_waits(
    d: Driver,
) -> None:
    """What is in flight ends as it would; what another job has there stays."""
    for job in ("night", "day"):
        await d.f.push([page(f"{job}{n}", job=job) for n in range(600)])
        await d.f.push([page(f"{job} later", job=job, not_before_ms=d.now + 9000)])
    await d.f.push([page("elsewhere", domain="b.example", job="night")])
    await d.f.block_until("a.example", 900_000)  # its turn may be as far away as it likes
    assert await d.f.clear_job("a.example", "night") == 601
    assert await d.where() == (601, 1, 0, 0)
    counted = await d.redis.hgetall(f"{d.f.keys.job}:night")
    assert counted == {b"total": b"602", b"cancelled": b"601"}
    assert b"cancelled" not in await d.redis.hgetall(f"{d.f.keys.job}:day")


async def test_a_replayed_request_has_all_its_tries_again(d: Driver) -> None:
    blob = encode({"url": "http://a/", "meta": {"retry_count": 4, "job_id": "j"}})
    await d.f.push([Push(domain="a.example", blob=blob)])
    (lease,) = await d.take()
    await d.f.bury([Burial(lease=lease, note=orjson.dumps({"reason": "5xx"}))])
    assert await d.f.requeue_dead([lease.id], wait_ms=500) == 1
    assert await d.take() == []
    d.later(500)
    (lease,) = await d.take()
    assert decode(lease.blob)["meta"] == {"job_id": "j", "seine_replayed": True}
    assert lease.stored.startswith(b"4000 a.example\n")


async def dead(d: Driver, n: int, name: str) -> list[str]:
    """Bury as many requests now; returns their ids."""
    await d.f.push([page(f"{name}{i}") for i in range(n)])
    leases = await d.take(n)
    await d.f.bury([Burial(lease=x, note=orjson.dumps({"reason": name})) for x in leases])
    return [lease.id for lease in leases]


async def test_a_replay_of_many_keeps_its_pause_between_any_two(d: Driver) -> None:
    """In steps that began at once each, the dashboard's replays were a burst."""
    await d.f.configure(delay_ms=0, concurrency=2000, half_window_ms=10**9)
    ids = await dead(d, 1000, "a") + await dead(d, 200, "b")
    assert await d.f.requeue_dead(ids, pause_ms=50) == 1200
    client: Any = d.redis
    times = [at for _, at in await client.zrange(d.f.keys.delayed, 0, -1, withscores=True)]
    assert times == [d.now + 50 * n for n in range(1200)]


async def test_old_dead_letters_are_found_behind_any_number_of_newer_ones(d: Driver) -> None:
    await d.f.configure(delay_ms=0, concurrency=2000, half_window_ms=10**9)
    old = await dead(d, 3, "old")
    d.later(60_000)
    await dead(d, 600, "new")
    selection = Filter(until=d.now / 1000 - 30)
    letters, complete = await search_dead(d.f, selection, most=500)
    assert (sorted(letter.id for letter in letters), complete) == (sorted(old), True)
    letters, _ = await search_dead(d.f, Filter(), limit=sys.maxsize, most=sys.maxsize)
    assert len(letters) == 603
    assert await d.f.purge([letter.id for letter in letters]) == 603


async def test_remembered_urls_are_duplicates_without_having_been_requests(d: Driver) -> None:
    assert await d.f.remember([1, 2, 2]) == 2
    assert await d.f.push([page("x", fingerprint=1)]) == ["DUPLICATE"]
    assert await d.where() == (0, 0, 0, 0)


async def test_what_was_cleared_no_longer_counts_for_a_domains_budget(d: Driver) -> None:
    await d.redis.hset(d.f.keys.control, "domain_pages", 10)
    assert (await d.f.push(pages(12))).count("OVER") == 2
    await d.take(4)
    assert await d.f.clear_domain("a.example") == 6
    assert (await d.f.push(pages(9, start=20))).count("OK") == 6
    await d.f.clear()
    assert (await d.f.push(pages(12, start=40))).count("OK") == 10

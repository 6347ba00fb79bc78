"""Numbers that somebody overwrote in Redis: each begins anew, is named once, and stops nobody."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis

from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Budgets, Burial, Retry
from scrapy_seine.frontier.opening import frontier_of
from tests.helpers import wait_until_async
from tests.integration.frontier_kit import TTL, Driver, exchange_of, page, pages

pytestmark = pytest.mark.redis

JUNK = ("x", "", "1.5", "9223372036854775807", "-9223372036854775808", "nan", "inf", "[1]", "\xff")


async def _used(redis: Redis, namespace: str, seen: str = "exact") -> Driver:
    """A crawl that has used each verb, with a job, a budget and limits."""
    d = Driver(redis, namespace)
    budgets = Budgets(domain_pages=1000, job_pages=1000, most_pending=1000)
    await d.f.configure(
        delay_ms=0, concurrency=8, half_window_ms=60_000, seen=seen, capacity=1000, budgets=budgets
    )
    await d.f.begin()
    await d.f.set_delay("a.example", delay_ms=0, concurrency=8)
    await d.f.push(pages(9, job="j"))
    one, two, three, four, five = await d.take(5)
    assert await d.ack(one, children=(page("c", fingerprint=99, job="j"),)) == ["OK"]
    assert await d.f.retry([Retry(lease=two, wait_ms=0, push=page("r", job="j"))]) == ["OK"]
    assert await d.f.bury([Burial(lease=three, note=b"{}")]) == ["OK"]
    assert await d.f.release([four]) == ["OK"]
    assert await d.f.renew("w1", [five], ttl_ms=TTL, info=b"{}") == []
    return d


async def _work_on(d: Driver) -> int:
    """Use each verb again; returns how many requests came out. Nothing may raise."""
    await d.f.push(pages(2, start=50, job="j"))
    held = await d.take(2)
    links = (page("d", fingerprint=100, job="j"), page("e", domain="b.example", job="j"))
    assert await d.ack(held[0], children=links) == ["OK"]
    again = Retry(lease=held[1], wait_ms=0, push=page("again", job="j"))
    assert await d.f.retry([again]) == ["OK"]
    d.later(2 * TTL)
    for _ in range(3):
        await d.f.reap()
        d.later(61_000)
    taken = 1
    while leases := await d.take(4):
        taken += len(leases)
        assert await d.ack(*leases) == ["OK"] * len(leases)
    return taken


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize("kept", ["counters", "seen", "domain", "job"])
async def test_a_number_that_is_none_costs_nothing_but_itself(
    redis_client: Redis, namespace: str, kept: str, junk: str
) -> None:
    """I1, I8: HINCRBY failed at the end of a script, and nobody was given a request any more."""
    d = await _used(redis_client, namespace)
    keys = d.f.keys
    key = {
        "counters": keys.counters,
        "seen": keys.seen,
        "domain": keys.domain("a.example"),
        "job": f"{keys.prefix}job:j",
    }[kept]
    client: Any = redis_client
    # Half a request in flight is a limit like others, and so is a text as a domain's lane.
    wishes = {b"lane", b"paused", b"delay", b"cap"}
    fields = [field for field in await client.hkeys(key) if field not in wishes]
    await client.hset(key, mapping=dict.fromkeys(fields, junk))
    assert await _work_on(d) == 12
    assert await d.f.idle()


@pytest.mark.parametrize("junk", [*JUNK, "0", "007", "-5"])
async def test_ids_go_on_beyond_all_that_are_known(
    redis_client: Redis, namespace: str, junk: str
) -> None:
    """I1: an id that is given out twice takes the place of another request."""
    d = await _used(redis_client, namespace)
    client: Any = redis_client
    before = {int(id_) for id_ in await client.hkeys(d.f.keys.requests)}
    await client.hset(d.f.keys.control, "seq", junk)
    command = Frontier(redis_client, namespace, now_ms=d.now)  # as jobs and imports push
    assert await command.push(pages(3, "b.example")) == ["OK"] * 3
    found = {int(id_) for id_ in await client.hkeys(d.f.keys.requests)}
    assert len(found) == len(before) + 3
    assert min(found - before) > max(before)
    leased = await d.f.lease("w", 20, ttl_ms=TTL)
    assert leased.spoilt_numbers == [f"{d.f.keys.control} seq"]
    assert len(leased.leases) == 10
    assert (await d.f.lease("w", 1, ttl_ms=TTL)).spoilt_numbers == []


@pytest.mark.parametrize("field", ["turn", "shift", "clock", "look", "looked", "sought", "rolled"])
@pytest.mark.parametrize("junk", JUNK)
async def test_a_crawls_state_that_is_no_number_holds_up_nobody(
    redis_client: Redis, namespace: str, field: str, junk: str
) -> None:
    d = await _used(redis_client, namespace)
    client: Any = redis_client
    await client.hset(d.f.keys.control, field, junk)
    d.f.watch.known = None  # who fell back says so, and goes on: see test_state
    assert await _work_on(d) == 12


@pytest.mark.parametrize("field", ["now", "old", "gen", "kind"])
async def test_a_bloom_filter_of_which_nobody_knows_the_keys_begins_anew(
    redis_client: Redis, namespace: str, field: str
) -> None:
    d = await _used(redis_client, namespace, seen="bloom")
    client: Any = redis_client
    await client.hset(d.f.keys.seen, field, "{x")
    assert await _work_on(d) == 12


@pytest.mark.parametrize("junk", ["", "{x", "[]", "{}", '{"gen": 1, "kind": "exact"}'])
async def test_old_generations_are_swept_although_the_list_of_them_holds_junk(
    redis_client: Redis, namespace: str, junk: str
) -> None:
    d = await _used(redis_client, namespace)
    client: Any = redis_client
    key = f"{d.f.keys.seen}:drop"
    await client.rpush(key, junk)
    assert await d.f.clear() == 9
    assert await client.exists(key) == 0
    assert await client.keys(f"{d.f.keys.seen}:*") == []


async def test_a_crawl_is_cleared_although_a_hold_and_a_jobs_number_are_none(
    redis_client: Redis, namespace: str
) -> None:
    d = await _used(redis_client, namespace)
    client: Any = redis_client
    await client.hset(d.f.keys.held, "7", "x")
    await client.hset(f"{d.f.keys.job}:j", "done", "x")
    assert await d.f.clear() == 9
    assert await client.exists(d.f.keys.held) == 0
    assert await client.hget(f"{d.f.keys.job}:j", "cancelled") == b"9"


async def test_a_jobs_budget_is_shared_although_a_partitions_count_is_none(
    redis_client: Redis, namespace: str
) -> None:
    f = frontier_of(redis_client, namespace, 2)
    client: Any = redis_client
    await client.hset(f.keys.control, "job_pages", "9")
    jobs = {f"j{n}": n for n in range(150)}
    await client.zadd(f.keys.jobs, jobs)
    for name in jobs:
        await client.hset(f"{f.keys.job}:{name}", "state", "running")
    for part, total in zip(f.parts, ("x", "3"), strict=True):
        await client.hset(f"{part.keys.job}:j0", "total", total)
    await f.tend()
    elsewhere = [await client.hget(f"{part.keys.job}:j0", "elsewhere") for part in f.parts]
    assert elsewhere == [b"3", b"0"]


async def test_a_worker_names_a_number_that_begins_anew_once_and_counts_it(
    redis_client: Redis, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    frontier = Frontier(redis_client, namespace)
    await frontier.begin()
    await redis_client.hset(frontier.keys.counters, "leased", "many")  # type: ignore[misc]
    await frontier.push(pages(2))
    counted: list[str] = []
    exchange = exchange_of(frontier, counted)
    exchange.schedule_round_trip()
    running = asyncio.ensure_future(exchange.run())

    async def has_both() -> bool:
        return len(exchange.buffer) == 2

    try:
        await wait_until_async(has_both, 10, "both requests come out")
    finally:
        running.cancel()
    text = f"{frontier.keys.counters} leased"
    assert len([r for r in caplog.records if text in r.getMessage()]) == 1
    assert counted.count("spoilt_numbers") == 1
    assert (await frontier.counts()).totals["leased"] == 2

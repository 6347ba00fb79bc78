"""What workers without work send: one heartbeat, and questions that the whole fleet shares."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from scrapy_seine.engine.ending.shutdown import cancel
from scrapy_seine.engine.heartbeat import Heartbeat
from scrapy_seine.frontier import seed_intake
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import SeedKeys
from scrapy_seine.frontier.model import Done
from scrapy_seine.frontier.round_trips import exchange as exchanging
from scrapy_seine.frontier.round_trips.exchange import MAX_POLL_S, OPEN_S, POLL_S, Exchange
from scrapy_seine.frontier.seed_intake import (
    CLAIM_MS,
    CLAIMS_S,
    LIST_TICK_S,
    MOST_CLAIMS_S,
    MOST_TICK_S,
    QUIET_S,
    TICK_S,
    Intake,
)
from tests.helpers import wait_until_async
from tests.integration.frontier_kit import TTL, Driver, exchange_of, page, pages

pytestmark = pytest.mark.redis


@pytest.fixture
async def f(redis_client: Redis, namespace: str) -> Frontier:
    frontier = Frontier(redis_client, namespace)
    await frontier.begin()
    return frontier


def heartbeat_of(f: Frontier, exchange: Exchange) -> Heartbeat:
    inflight: Any = Mock(leases=[], urls=lambda most: [], __len__=lambda self: 0)
    stats = Mock(get_value=lambda name, default: default)
    return Heartbeat("w", f.redis, f, exchange, inflight, stats, 30.0, lambda: None)


def counted(monkeypatch: pytest.MonkeyPatch, redis: Redis) -> list[str]:
    """Commands that a client sends from here on."""
    sent: list[str] = []
    send: Callable[..., Any] = redis.execute_command

    def execute_command(*words: Any, **options: Any) -> Any:
        sent.append(str(words[0]))
        return send(*words, **options)

    monkeypatch.setattr(redis, "execute_command", execute_command)
    return sent


async def test_a_heartbeat_is_one_command_and_tells_all_that_a_worker_has_to_learn(
    f: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    await f.push(pages(3))
    await f.redis.sadd(f.keys.cancelled, "daily")  # type: ignore[misc]
    await f.renew("other", [], ttl_ms=TTL, info=b"{}")
    exchange = exchange_of(f)
    heartbeat = heartbeat_of(f, exchange)
    await heartbeat.beat()
    sent = counted(monkeypatch, f.redis)
    await heartbeat.beat()
    assert sent == ["EVALSHA"]
    assert heartbeat.cancelled == {"daily"}
    assert exchange.workers == 2
    beat = await f.beat("w", [], ttl_ms=TTL, info=b"{}")
    assert (beat.undone, beat.to_sweep, beat.lost) == (3, False, [])


async def test_a_heartbeat_sweeps_where_there_is_something_to_sweep(f: Frontier) -> None:
    drop = f"{f.keys.seen}:drop"
    await f.redis.rpush(drop, '{"gen": "g", "kind": "exact", "bits": 0, "split": 0}')  # type: ignore[misc]
    await heartbeat_of(f, exchange_of(f)).beat()
    assert not await f.redis.exists(drop)


async def test_a_key_of_another_type_cancels_no_job_and_stops_no_heartbeat(f: Frontier) -> None:
    await f.redis.set(f.keys.cancelled, "junk")
    exchange = exchange_of(f)
    heartbeat = heartbeat_of(f, exchange)
    heartbeat.cancelled = frozenset({"daily"})
    await heartbeat.beat()
    assert heartbeat.cancelled == frozenset()


async def test_a_worker_that_missed_a_wake_up_comes_at_its_next_heartbeat(f: Frontier) -> None:
    """Where nothing was left to do it asks for nothing by itself, for as long as a minute."""
    exchange = exchange_of(f, SEINE_KEEP_ALIVE=True)
    heartbeat = heartbeat_of(f, exchange)
    running = asyncio.ensure_future(exchange.run())
    exchange.schedule_round_trip()

    async def has_asked() -> bool:
        return exchange.undone == 0

    async def has_leases() -> bool:
        return bool(exchange.buffer)

    try:
        await wait_until_async(has_asked, 10, "the exchange asks")
        await f.push(pages(3))  # nobody listens
        await heartbeat.beat()
        await wait_until_async(has_leases, 10, "the heartbeat sends it for leases")
    finally:
        await cancel([running])


async def test_a_worker_that_joins_a_run_at_its_end_learns_at_once_that_nothing_is_left(
    f: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first answer came along with its start request: that alone proves nothing."""
    monkeypatch.setattr(exchanging, "IDLE_POLL_S", 1e6)
    await f.push([page(fingerprint=7)])
    leased = await f.lease("w0", 1, ttl_ms=TTL)
    assert await f.commit([Done(lease=lease) for lease in leased.leases]) == ["OK"]
    exchange = exchange_of(f)
    exchange.push(page(fingerprint=7))
    running = asyncio.ensure_future(exchange.run())

    async def has_learned() -> bool:
        return exchange.undone == 0

    try:
        await wait_until_async(has_learned, 30, "the worker knows that nothing is left")
    finally:
        await cancel([running])


async def test_an_idle_worker_that_lives_is_woken_by_name_however_long_it_waits(
    redis_client: Redis, namespace: str
) -> None:
    d = Driver(redis_client, namespace)
    for name in ("w0", "w1"):
        await d.f.lease(worker=name, wanted=4, ttl_ms=TTL)
    for _ in range(3):
        d.later(10_000)
        await d.f.renew("w1", [], ttl_ms=TTL, info=b"{}")
    await d.f.lease(worker="w2", wanted=4, ttl_ms=TTL)  # w0 has said nothing for 30 s
    assert await redis_client.zrange(d.f.keys.idle, 0, -1) == [b"w1", b"w2"]
    await d.f.push([page()])
    await d.f.renew("w3", [], ttl_ms=TTL, info=b"{}")
    assert b"w3" not in await redis_client.zrange(d.f.keys.idle, 0, -1), "who works is not idle"


def test_the_fleet_shares_the_questions_that_nothing_causes(
    f: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "uniform", lambda low, high: high)
    exchange = exchange_of(f)
    intake = Intake(f.redis, f, SeedKeys("s"), lambda _: [], lambda *_: None)

    intake.waits = f.redis

    def waits(workers: int) -> tuple[float, float, float]:
        exchange.workers = workers
        intake.workers = lambda: workers
        return exchange._poll_s(), intake._tick_s(), intake._look_s()

    assert waits(0) == waits(1) == (POLL_S, LIST_TICK_S, CLAIMS_S)
    assert waits(2) == (POLL_S, 24.0, 4.0)
    assert waits(1000) == (MAX_POLL_S, MOST_TICK_S, MOST_CLAIMS_S)
    intake._quiet = True
    assert [waits(n)[2] for n in (1, 3, 1000)] == [QUIET_S, QUIET_S, MOST_CLAIMS_S]
    assert QUIET_S < CLAIM_MS / 1000, "a claim is noticed before it expires"
    intake.sets = True
    assert [waits(n)[1] for n in (1, 8, 1000)] == [TICK_S, 3.2, MOST_TICK_S]


async def test_an_idle_worker_blocks_on_the_list_and_asks_for_a_set_only_where_one_was(
    f: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: Any = Mock()
    blocked: list[float] = []
    answers: list[Any] = [None, ResponseError("WRONGTYPE"), None, b"seed"]

    async def blmove(_: str, __: str, wait_s: float, *___: str) -> Any:
        blocked.append(wait_s)
        monkeypatch.setattr(seed_intake, "monotonic", lambda: sum(blocked))
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    waits.blmove = blmove
    monkeypatch.setattr(seed_intake, "monotonic", lambda: 0.0)
    keys = SeedKeys(f"{f.keys.crawl}:start_urls")
    intake = Intake(f.redis, f, keys, lambda _: [], lambda *_: None, waits=waits)
    assert await intake.take() == 0
    await intake._wait()
    assert (blocked, intake.sets) == ([LIST_TICK_S, LIST_TICK_S], True)
    await intake._wait()
    assert (blocked[2:], intake.sets) == ([TICK_S, TICK_S], False)
    await f.redis.zadd(keys.claims, {"other": 9e15})
    await intake.take()
    answers += [None]
    await intake._wait()
    assert blocked[4:] == [CLAIMS_S], "somebody has a seed, whose claim may expire"


@pytest.mark.parametrize("kind", ["list", "set", "zset"])
async def test_a_waiting_intake_notices_seeds_of_each_kind(
    f: Frontier, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    keys, read = SeedKeys(f"{f.keys.crawl}:start_urls"), list[bytes]()

    def note(seed: bytes) -> list[Any]:
        read.append(seed)
        return []

    redis: Any = f.redis
    intake = Intake(redis, f, keys, note, lambda *_: None)
    monkeypatch.setattr(seed_intake, "CLAIMS_S", 1e6)
    monkeypatch.setattr(seed_intake, "MOST_CLAIMS_S", 1e6)
    sent = counted(monkeypatch, redis)
    running = asyncio.ensure_future(intake.run())

    async def waits() -> bool:
        return sent.count("BLMOVE") > 2

    async def has_read() -> bool:
        return read == [b"s1"]

    try:
        await wait_until_async(waits, 20, "it waits")
        looks = {"EVALSHA", "EVAL"}  # a server that does not know the script yet is taught it
        assert sent[:4] == ["TIME", "ZADD", "EXPIRE", "ZREVRANGE"], "a start notes its crawl"
        assert set(sent[4:]) <= {"BLMOVE", *looks}, "a tick is one command, and so is a look"
        await {"list": redis.rpush, "set": redis.sadd, "zset": redis.zadd}[kind](
            keys.seeds, {"s1": 1} if kind == "zset" else "s1"
        )
        await wait_until_async(has_read, 20, "the seed is read")
    finally:
        await cancel([running])


async def test_i5_a_page_that_stays_open_frees_its_slot_once_its_worker_wants_more(
    f: Frontier,
) -> None:
    """A page that waits for a request it yielded kept the slot that this request needs."""
    await f.set_delay("a.example", concurrency=1)
    await f.push(pages(2))
    exchange = exchange_of(f, CONCURRENT_REQUESTS=1, SEINE_LEASE_SECONDS=600)
    await exchange.round_trip()  # gets as many as it asks for
    lease = exchange.take()
    assert lease is not None
    exchange.free_slot(lease)  # its download is over, and its page waits

    async def another() -> bool:
        await exchange.round_trip()
        return exchange.take() is not None

    await wait_until_async(another, 10, "the site's slot is free")


async def test_i5_a_page_that_stays_open_frees_its_slot_while_its_worker_has_other_work(
    f: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A site's next page waited until the pages of all other sites were done."""
    await f.set_delay("a.example", concurrency=1)
    await f.push(pages(2))
    for at in range(40):
        await f.push(pages(10, domain=f"b{at}.example"))
    exchange, sites = exchange_of(f, CONCURRENT_REQUESTS=1, SEINE_LEASE_SECONDS=600), list[str]()
    ahead_s = 0.0
    monkeypatch.setattr(exchanging, "monotonic", lambda: time.monotonic() + ahead_s)
    while sites.count("a.example") < 2:
        await exchange.round_trip()
        while lease := exchange.take():
            sites.append(lease.domain)
            exchange.free_slot(lease)
            if lease.domain != "a.example":
                exchange.commit(Done(lease=lease))
            elif not ahead_s:
                ahead_s = OPEN_S
    assert len(sites) < 200


async def test_a_worker_that_was_taken_for_dead_pushes_what_it_keeps_anew(f: Frontier) -> None:
    """A process that stood still kept pages open for requests whose stubs others had ended."""
    heartbeat, missed = heartbeat_of(f, exchange_of(f)), list[float]()
    heartbeat.lease_s, heartbeat.missed = 600.0, lambda: missed.append(time.monotonic())
    await heartbeat.beat()
    assert not missed
    heartbeat.lease_s = 0.1
    threading.Event().wait(0.2)  # without a turn of the event loop, as with SIGSTOP
    await heartbeat.beat()
    heartbeat.lease_s = 600.0
    await heartbeat.beat()
    assert len(missed) == 1


async def test_a_page_that_ends_costs_no_call_for_its_slot(f: Frontier) -> None:
    await f.push(pages(2))
    exchange = exchange_of(f, CONCURRENT_REQUESTS=1)
    await exchange.round_trip()
    lease = exchange.take()
    assert lease is not None
    exchange.free_slot(lease)
    exchange.commit(Done(lease=lease))
    while exchange.take() or exchange.endings:
        await exchange.round_trip()
    assert not exchange.endings.landed
    assert (await f.counts()).totals["done"] == 1

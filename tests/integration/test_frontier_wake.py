"""Slots wake as many idle workers as can use them; no whole fleet asks for one due time."""

from __future__ import annotations

import asyncio
from typing import Any
from unittest.mock import Mock

import attrs
import pytest
from redis.asyncio import Redis
from scrapy.settings import Settings

from scrapy_seine.config import FrontierConfig
from scrapy_seine.engine.heartbeat import Heartbeat
from scrapy_seine.frontier.model import Done
from scrapy_seine.frontier.round_trips.endings import Endings
from scrapy_seine.frontier.round_trips.exchange import Exchange
from scrapy_seine.frontier.round_trips.redis_pipeline import LeaseRequest, Line
from tests.helpers import patient
from tests.integration.frontier_kit import TTL, Driver, page, pages

pytestmark = pytest.mark.redis
NAMES = [f"w{n}" for n in range(8)]


async def ask(d: Driver, worker: str, wanted: int = 4) -> Any:
    return await d.f.lease(worker=worker, wanted=wanted, ttl_ms=TTL)


@pytest.fixture
async def d(redis_client: Redis, namespace: str) -> Driver:
    made = Driver(redis_client, namespace)
    await made.f.configure(delay_ms=0, concurrency=2, half_window_ms=10**9)
    return made


async def news(d: Driver, channel: Any) -> list[bytes]:
    """Return what was said so far: a word of the test's own comes after it."""
    await d.redis.publish(d.f.keys.wake, b"that is all")
    heard: list[bytes] = []
    async with asyncio.timeout(patient(10)):
        async for message in channel.listen():
            if message["data"] == b"that is all":
                break
            heard.append(message["data"])
    return heard


async def test_as_many_idle_workers_are_told_as_can_use_the_slots(d: Driver) -> None:
    """Who comes first takes four slots: a worker for each would find none."""
    await d.f.configure(delay_ms=0, concurrency=5, half_window_ms=10**9)
    async with d.redis.pubsub(ignore_subscribe_messages=True) as channel:
        await channel.subscribe(d.f.keys.wake)
        for name in NAMES:
            await ask(d, name)
            d.later(1)
        await d.f.push(pages(9))
        assert await news(d, channel) == [
            b"ready w0 w1"
        ]  # five slots; who waited longest comes first

        one, two, *_ = (await ask(d, "w0", wanted=5)).leases
        await d.f.push(pages(6, domain="b.example"))
        assert await news(d, channel) == [b"ready w2 w3"]
        await ask(d, "w2", wanted=5)  # it takes all slots there
        assert await d.ack(one) == ["OK"]
        assert await news(d, channel) == [b"ready w4"]
        assert await d.ack(two) == ["OK"]
        assert await news(d, channel) == []  # the domain was ready before, and somebody was told


async def test_who_takes_all_that_it_wants_leaves_the_rest_to_others(d: Driver) -> None:
    for name in NAMES[:3]:
        await ask(d, name)
        d.later(1)
    await d.f.push([page(f"u{n}", domain=f"s{n}.example") for n in range(2)])
    async with d.redis.pubsub(ignore_subscribe_messages=True) as channel:
        await channel.subscribe(d.f.keys.wake)
        assert len((await ask(d, "busy", wanted=1)).leases) == 1
        await news(d, channel)
        await d.redis.zadd(d.f.keys.idle, {"w2": 1})
        await d.f.push([page("more", domain="s5.example")])
        assert len((await ask(d, "busy", wanted=1)).leases) == 1
        assert b"ready w2" in await news(d, channel)


async def test_where_nobody_idle_is_known_anyone_may_ask(d: Driver) -> None:
    async with d.redis.pubsub(ignore_subscribe_messages=True) as channel:
        await channel.subscribe(d.f.keys.wake)
        await d.f.push(pages(1))
        assert await news(d, channel) == [b"ready"]


async def test_a_lane_that_few_workers_have_wakes_all(d: Driver) -> None:
    await d.f.set_lane("a.example", "browser")
    await ask(d, "plain")
    async with d.redis.pubsub(ignore_subscribe_messages=True) as channel:
        await channel.subscribe(d.f.keys.wake)
        await d.f.push(pages(1))
        assert b"ready" in await news(d, channel)


async def test_two_workers_come_for_a_due_time_and_others_for_the_next(d: Driver) -> None:
    for n, wait in enumerate((1000, 2000)):
        await d.f.push([page(f"s{n}", domain=f"s{n}.example")])
        await d.f.block_until(f"s{n}.example", wait)
    due = [(await ask(d, name)).next_due_ms for name in NAMES[:5]]
    assert due == [d.now + 1000, d.now + 1000, d.now + 2000, d.now + 2000, 0]
    d.later(16_000)  # what was said so long ago counts no more: these workers are gone
    for n in range(2):
        await d.f.block_until(f"s{n}.example", 1000 * (n + 1))
    assert (await ask(d, "w7")).next_due_ms - d.now == 1000


async def test_who_found_nothing_to_come_for_leaves_the_next_time_to_who_asks(d: Driver) -> None:
    for name in NAMES[:4]:
        assert (await ask(d, name)).next_due_ms == 0
    await d.f.set_delay("a.example", delay_ms=1000)
    await d.f.push(pages(3))
    # The first four sleep until their next look: who sends a request comes for the one after it.
    taken = await ask(d, "w7")
    assert len(taken.leases) == 1
    again = [(await ask(d, name)).next_due_ms for name in ("w7", "w0", "w1")]
    assert again == [taken.next_due_ms, taken.next_due_ms, 0]
    assert taken.next_due_ms > d.now


async def test_a_key_of_another_type_costs_nothing_but_the_hint(d: Driver) -> None:
    await d.redis.set(d.f.keys.idle, "junk")
    assert not (await ask(d, "w0")).leases
    await d.f.push(pages(3))
    assert len((await ask(d, "w0")).leases) == 2


@pytest.mark.parametrize(
    ("news", "asks"),
    [(b"ready", True), (b"ready w1 w12", False), (b"ready w12 w2", True), (b"resume", True)],
)
async def test_a_worker_asks_where_it_is_named_or_nobody_is(news: bytes, asks: bool) -> None:
    exchange = Mock(buffered=[], config=Mock(read_ahead=4))
    parts: list[Any] = [Mock()] * 5
    Heartbeat("w2", parts[0], parts[1], exchange, parts[2], parts[3], 30.0, Mock())._received(news)
    assert exchange.schedule_round_trip.called == asks


@pytest.mark.parametrize(("alone", "got", "heard"), [(True, 1, []), (False, 0, [b"ready w0"])])
async def test_a_worker_that_is_alone_gets_what_its_page_yields_in_the_same_trip(
    d: Driver, alone: bool, got: int, heard: list[bytes]
) -> None:
    """It asks after its page's end, and nobody has to wake it; among others it asks first (I5)."""
    await d.f.begin()
    line, wish = Line(d.f), LeaseRequest(worker="w0", ttl_ms=TTL, lead_ms=0, lanes="")
    await d.f.push(pages(1, domain="c.example"))
    [known] = await d.take(1)
    assert await d.ack(known) == ["OK"]  # a server that knows no script yet is taught it later
    await d.f.push(pages(1))
    first = await line.round_trip(Endings(), 4, wish, is_only_worker=alone)
    assert first.leased is not None
    [lease] = first.leased.leases
    async with d.redis.pubsub(ignore_subscribe_messages=True) as channel:
        await channel.subscribe(d.f.keys.wake)
        ends = Endings(done=[Done(lease=lease, children=pages(1, domain="b.example"))])
        answer = await line.round_trip(ends, 4, wish, is_only_worker=alone)
        assert answer.leased is not None
        assert len(answer.leased.leases) == got
        assert await news(d, channel) == heard


async def test_a_worker_that_was_alone_sees_the_next_one_at_its_next_question(d: Driver) -> None:
    """It takes the slots that it frees, so that the other one would starve until its heartbeat."""
    told: Any = Mock()
    config = FrontierConfig.from_settings(Settings(), "x")
    exchange = Exchange(d.f, config, "w0", arrived=told, confirmed=told, add_to_stat=told)
    await d.f.begin()
    await d.f.renew("w0", [], ttl_ms=TTL, info=b"{}")
    await exchange.round_trip()
    assert exchange.workers == 1
    await d.f.renew("w1", [], ttl_ms=TTL, info=b"{}")
    await exchange.round_trip()
    assert exchange.workers == 2
    exchange._timer.cancel()


async def test_a_slot_that_nobody_has_a_use_for_makes_no_trip(d: Driver) -> None:
    told: Any = Mock()
    config = FrontierConfig.from_settings(Settings(), "x")
    exchange = Exchange(d.f, config, "w0", arrived=told, confirmed=told, add_to_stat=told)
    await d.f.push(pages(2))
    exchange.held_count = lambda: 1  # one with Scrapy, one in the buffer: the frontier has no other
    await exchange.round_trip()
    lease = exchange.take()
    assert lease is not None
    exchange._timer.cancel()
    exchange.free_slot(lease)
    assert exchange._timer._set is None
    await d.f.push(pages(1, domain="b.example"))
    await exchange.round_trip()
    exchange.held_count = lambda: 0
    exchange.free_slot(lease)
    assert exchange._timer._set is not None
    exchange._timer.cancel()


async def test_the_end_of_a_lost_lease_leaves_the_slot_of_its_requests_next_one(d: Driver) -> None:
    """The worker was given the request again, and the page that it had first ends last."""
    told: Any = Mock()
    config = FrontierConfig.from_settings(Settings(), "x")
    exchange = Exchange(d.f, config, "w0", arrived=told, confirmed=told, add_to_stat=told)
    await d.f.push(pages(1))
    await exchange.round_trip()
    lost = exchange.take()
    assert lost is not None
    held = attrs.evolve(lost, token="another")
    exchange.free_slot(held)
    exchange.commit(Done(lease=lost))
    exchange._report_free_slots()
    assert exchange.endings.landed == [held]
    assert [call.about for call in exchange.endings.calls() if call.name == "free_slots"] == [
        [held]
    ]
    exchange._timer.cancel()

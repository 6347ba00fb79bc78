"""Keys of the wrong type, lost replies, a clock that steps back: each costs what it must."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import SeedKeys
from scrapy_seine.frontier.model import Done, Retry
from scrapy_seine.frontier.round_trips.endings import Call, Endings
from scrapy_seine.frontier.round_trips.redis_pipeline import LeaseRequest, Line
from scrapy_seine.frontier.seed_intake import Intake
from scrapy_seine.politeness.site_limits import SiteLimits
from tests.helpers import wait_until_async
from tests.integration.frontier_kit import T0, TTL, Driver, exchange_of, page, pages

pytestmark = pytest.mark.redis


@pytest.mark.parametrize("kind", ["queue", "domain"])
async def test_a_key_of_the_wrong_type_costs_its_domain_only(
    redis_client: Redis, namespace: str, kind: str
) -> None:
    d = Driver(redis_client, namespace)
    await d.f.push(pages(3, "a.example") + pages(3, "b.example"))
    key = getattr(d.f.keys, kind)("a.example")
    kept = await redis_client.dump(key)
    await redis_client.set(key, "somebody else's", keepttl=False)
    leased = await d.f.lease("w", 10, ttl_ms=TTL)
    assert {lease.domain for lease in leased.leases} == {"b.example"}
    assert leased.broken_keys == [key]
    assert (await d.f.counts()).totals["broken_keys"] == 1
    # Links to it are kept as well, and its lease-holders' ends do no harm.
    links = tuple(pages(2, "a.example", start=10))
    assert await d.ack(leased.leases[0], children=links) == ["OK"]
    assert (await d.f.lease("w", 10, ttl_ms=TTL)).broken_keys == []  # not looked at again at once
    assert not await d.f.idle()

    await redis_client.delete(key)
    if kept:
        await redis_client.restore(key, 0, kept)
    d.later(60_001)
    found = await d.f.lease("w", 10, ttl_ms=TTL)
    assert len(found.leases) == 5
    assert found.broken_keys == []


async def test_a_reaped_lease_of_a_broken_domain_is_somewhere(
    redis_client: Redis, namespace: str
) -> None:
    d = Driver(redis_client, namespace)
    await d.f.push(pages(2, "a.example") + pages(1, "b.example"))
    assert len(await d.take(3)) == 3
    await redis_client.set(d.f.keys.queue("a.example"), "x")
    d.later(TTL + 1)
    assert await d.f.reap() == (3, 0)
    assert await d.where() == (1, 2, 0, 0)
    await redis_client.delete(d.f.keys.queue("a.example"))
    d.later(60_001)
    assert len(await d.take(5)) == 3


async def test_what_was_popped_goes_back_where_a_lease_cannot_be_written(
    redis_client: Redis, namespace: str
) -> None:
    """I1: no id is in no queue and no lease."""
    d = Driver(redis_client, namespace)
    await d.f.push(pages(3))
    await redis_client.set(d.f.keys.held, "x")
    with pytest.raises(Exception, match="WRONGTYPE"):
        await d.take(2)
    await redis_client.delete(d.f.keys.held)
    assert len(await d.take(5)) == 3


@pytest.mark.parametrize(
    "name",
    [
        *("requests", "leases", "held", "ready", "waiting", "delayed", "dead", "autopsy"),
        *("deliveries", "counters", "control", "seen"),
    ],
)
async def test_a_key_that_all_work_needs_is_named_before_anything_is_written(
    redis_client: Redis, namespace: str, name: str
) -> None:
    """I1, I3: half a commit would lose its links, a lease without its reply costs a delivery."""
    d = Driver(redis_client, namespace)
    await d.f.begin()
    await d.f.push([*pages(4), page(domain="c.example")])
    first, second = await d.take(2)
    key = getattr(d.f.keys, name)
    if had := await redis_client.exists(key):
        await redis_client.rename(key, f"{key}:kept")
    await redis_client.set(key, "somebody else's")
    links = tuple(pages(2, "b.example"))
    again = Retry(lease=second, wait_ms=0, push=page("again"))
    for call in (
        lambda: d.take(2),
        lambda: d.ack(first, children=links),
        lambda: d.f.push(pages(1, "b.example")),
        lambda: d.f.retry([again]),
        d.f.reap,
    ):
        with pytest.raises(ResponseError, match=re.escape(f"WRONGTYPE {key} is a string and must")):
            await call()

    await redis_client.delete(key)
    if had:
        await redis_client.rename(f"{key}:kept", key)
    assert await d.ack(first, children=links) == ["OK"]
    assert await d.f.retry([again]) == ["OK"]
    left = await d.take(10)
    assert len(left) == 6
    assert {lease.deliveries for lease in left} == {0}


async def test_a_worker_whose_presence_cannot_be_noted_keeps_its_leases(
    redis_client: Redis, namespace: str
) -> None:
    d = Driver(redis_client, namespace)
    await d.f.push(pages(1))
    held = await d.take(1)
    await redis_client.set(d.f.keys.workers, "x")
    d.later(TTL - 1)
    with pytest.raises(ResponseError, match=re.escape(f"{d.f.keys.workers} is a string")):
        await d.f.renew("w1", held, ttl_ms=TTL, info=b"{}")
    d.later(2)
    assert await d.f.reap() == (0, 0)


@pytest.mark.parametrize(("name", "kind"), [("seeds", "hash"), ("claimed", "string")])
async def test_seeds_stay_where_they_are_while_a_key_of_theirs_is_broken(
    redis_client: Redis, namespace: str, name: str, kind: str
) -> None:
    keys = SeedKeys(f"{namespace}:start_urls")
    wrong = getattr(keys, name)
    if kind == "hash":
        await redis_client.hset(wrong, "a", "b")  # type: ignore[misc]
    else:
        await redis_client.lpush(keys.seeds, "http://a.example/")  # type: ignore[misc]
        await redis_client.set(wrong, "x")
    intake = Intake(
        redis_client, Frontier(redis_client, namespace), keys, lambda _: [], lambda *_: None
    )
    with pytest.raises(ResponseError, match=re.escape(f"{wrong} is a {kind} and must be a ")):
        await intake.take()
    if kind == "string":
        assert await redis_client.llen(keys.seeds) == 1  # type: ignore[misc]


async def _until(holds: Callable[[], bool]) -> None:
    async def look() -> bool:
        return holds()

    await wait_until_async(look, 10, "the exchange gets there")


async def test_a_worker_names_the_key_counts_it_and_goes_on_when_it_is_gone(
    redis_client: Redis, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    frontier = Frontier(redis_client, namespace)
    await frontier.begin()
    await frontier.push(pages(1))
    await redis_client.set(frontier.keys.held, "x")
    counted: list[str] = []
    exchange = exchange_of(frontier, counted)
    exchange.set_limit("set_delay", "a.example", "1", "", "", "")
    running = asyncio.ensure_future(exchange.run())
    try:
        await _until(lambda: counted.count("outage_retries") > 1)
        said = [record for record in caplog.records if frontier.keys.held in record.getMessage()]
        assert len(said) == counted.count("broken_keys") == 1
        assert "is a string and must be a hash" in said[0].getMessage()
        await redis_client.delete(frontier.keys.held)
        await _until(lambda: bool(exchange.buffer))
        # What sites wish for is kept meanwhile.
        assert await redis_client.hget(frontier.keys.domain("a.example"), "delay") == b"1"  # type: ignore[misc]
    finally:
        running.cancel()


async def test_a_call_that_fails_takes_no_other_along(redis_client: Redis, namespace: str) -> None:
    d = Driver(redis_client, namespace)
    await d.f.push(pages(2))
    [lease] = await d.take(1)
    await redis_client.set(d.f.keys.domain("spoilt"), "x")
    lease_request = Call("set_delay", ["spoilt", "1", "", "", ""], [])
    ends = Endings(limits=[lease_request], done=[Done(lease=lease)])
    line = Line(d.f)
    answer = await line.round_trip(
        ends, 5, LeaseRequest(worker="w", ttl_ms=TTL, lead_ms=0, lanes="")
    )
    assert answer.leased is not None
    assert len(answer.leased.leases) == 1
    assert answer.failed_calls == [lease_request]
    assert [reply for made, reply in answer.replies if made.name == "commit"] == [[b"OK"]]
    assert "WRONGTYPE" in str(answer.error)


async def test_a_push_whose_reply_was_lost_enters_once(redis_client: Redis, namespace: str) -> None:
    f = Frontier(redis_client, namespace)
    plain = page("http://a.example/1", mark="1")
    seed = page("http://a.example/2", fingerprint=2, force=True, mark="2")
    assert await f.push([plain, seed]) == ["OK", "OK"]
    assert await f.push([plain, seed, plain]) == ["DUPLICATE"] * 3
    again = page("http://a.example/2", fingerprint=2, force=True, mark="3")
    assert await f.push([again, page("http://a.example/1", mark="4")]) == ["OK", "OK"]
    assert (await f.counts()).ready == 4


async def test_a_clock_that_steps_back_parks_nothing(redis_client: Redis, namespace: str) -> None:
    """I6: a domain's pause, a retry, a block and a dead worker's lease end when they would have."""
    d = Driver(redis_client, namespace)
    await d.f.set_delay("a.example", delay_ms=1000)
    await d.f.push([*pages(3), page(domain="b.example", not_before_ms=-5000)])
    assert len(await d.take(1, ttl_ms=8000)) == 1
    await d.f.block_until("c.example", 3000)
    d.later(-3_600_000)
    assert await d.take() == []
    d.later(1200)
    [second] = await d.take(ttl_ms=8000)
    assert T0 + 1000 <= second.slot_ms <= T0 + 3300
    d.later(4200)
    assert {x.domain for x in await d.take(5)} >= {"b.example"}
    d.later(5000)
    assert (await d.f.reap())[0] >= 1
    now = (await d.f.lease("w", 0, ttl_ms=TTL)).now_ms
    assert now >= T0
    control: Any = await redis_client.hgetall(d.f.keys.control)  # type: ignore[misc]
    assert 3_590_000 < int(control[b"shift"]) <= 3_600_000


async def test_a_clock_that_steps_forward_shortens_no_pause(
    redis_client: Redis, namespace: str
) -> None:
    """I5: the new clock says that every pause is over; the worker's own knows that it is not."""
    d = Driver(redis_client, namespace)
    await d.f.set_delay("a.example", delay_ms=60_000)
    await d.f.push(pages(3))
    exchange, site_limits = exchange_of(d.f, SEINE_READ_AHEAD=1), SiteLimits()
    site_limits.exchange = exchange
    exchange.schedule_round_trip()
    await exchange.round_trip()
    sent = exchange.take()
    assert sent is not None
    exchange.commit(Done(lease=sent))
    await exchange.round_trip()

    d.later(3_600_000)
    await exchange.round_trip()
    early = exchange.take()
    assert early is not None
    assert site_limits.due_in(early) is None
    assert await site_limits.reserve(early) is None
    exchange.release(early)
    await exchange.round_trip()
    d.later(50_000)
    assert await d.take(3, worker="another") == []
    d.later(10_500)
    assert len(await d.take(3, worker="another")) == 1
    # Time goes on as ever: the next pause is a usual one.
    assert await d.take(3, worker="another") == []
    d.later(62_000)
    assert len(await d.take(3, worker="another")) == 1


@pytest.mark.parametrize("lost", ["queue", "waiting", "delayed", "leases", "slots"])
async def test_what_is_in_no_place_is_queued_again(
    redis_client: Redis, namespace: str, lost: str
) -> None:
    """I1: a key that somebody deleted, or a server dropped, leaves no crawl waiting for ever."""
    d = Driver(redis_client, namespace)
    await d.f.configure(delay_ms=0, concurrency=2, half_window_ms=60_000)
    await d.f.push(pages(4, "a.example"))
    if lost == "waiting":
        await d.f.block_until("a.example", 60_000)
    elif lost in {"leases", "delayed", "slots"}:
        held = await d.take(4)
        if lost == "delayed":
            await d.f.retry(
                [Retry(lease=x, wait_ms=60_000, push=page(f"{n}")) for n, x in enumerate(held)]
            )
    keys = d.f.keys
    gone = {
        "queue": [keys.queue("a.example")],
        "waiting": [keys.waiting],
        "delayed": [keys.delayed, keys.queue("a.example")],
        "leases": [keys.leases, keys.held],
        "slots": [keys.leases, keys.held, keys.queue("a.example")],
    }[lost]
    await redis_client.delete(*gone)
    d.later(60_001)
    assert (await d.f.lease("w", 1, ttl_ms=TTL)).leases == []
    reply = await d.f.lease("w", 1, ttl_ms=TTL)
    assert reply.expired
    await d.f.reap()
    taken = 0
    while leases := await d.take(4):
        taken += len(leases)
        for lease in leases:
            assert await d.ack(lease) == ["OK"]
    assert taken == 4
    assert await d.f.idle()


async def test_a_crawl_that_is_paused_by_domain_keeps_its_order(
    redis_client: Redis, namespace: str
) -> None:
    d = Driver(redis_client, namespace)
    await d.f.push(pages(4, "a.example"))
    await d.f.pause("a.example")
    for _ in range(3):
        await d.f.reap()
    assert await d.take(1) == []
    await d.f.resume("a.example")
    assert [lease.id for lease in await d.take(4)] == ["0", "1", "2", "3"]


async def test_a_heartbeat_restores_leases_whose_key_was_deleted(
    redis_client: Redis, namespace: str
) -> None:
    """I1: their worker lives, so that nobody else is to fetch the pages."""
    d = Driver(redis_client, namespace)
    await d.f.push(pages(2))
    leases = await d.take(2)
    await redis_client.delete(d.f.keys.leases)
    assert await d.f.renew("w1", leases, ttl_ms=TTL, info=b"{}") == []
    await d.f.reap()
    assert await d.where() == (0, 0, 2, 0)
    assert await d.ack(*leases) == ["OK", "OK"]


@pytest.fixture
async def worker_user(redis_client: Redis, redis_url: str, namespace: str) -> AsyncIterator[Redis]:
    """A client with the rights that docs/deploying.md names."""
    user = f"user-{namespace}"
    words = ("reset", "on", ">word", "~*", "&*", "+@all", "-@admin", "-@dangerous", "+info")
    await redis_client.execute_command("ACL", "SETUSER", user, *words)
    try:
        async with Redis.from_url(redis_url, username=user, password="word") as client:
            yield client
    finally:
        await redis_client.execute_command("ACL", "DELUSER", user)


@pytest.mark.parametrize("missing", ["-publish", "resetchannels"])
async def test_who_may_not_publish_joins_no_crawl(
    redis_client: Redis, worker_user: Redis, namespace: str, missing: str
) -> None:
    """Such a worker fetched all pages, and its last commit was refused for ever."""
    await redis_client.execute_command("ACL", "SETUSER", f"user-{namespace}", missing)
    with pytest.raises(ResponseError, match=r"(?i)no permissions"):
        await Driver(worker_user, namespace).f.begin()


@pytest.mark.parametrize("missing", ["-publish", "resetchannels"])
async def test_a_right_to_publish_that_is_withdrawn_keeps_no_page_from_its_end(
    redis_client: Redis, worker_user: Redis, namespace: str, missing: str
) -> None:
    """I2: the script failed after its last write, so that its pages were acked without a reply."""
    d = Driver(worker_user, namespace)
    await d.f.begin()
    await d.f.push(pages(1))
    leases = await d.take(1)
    await redis_client.execute_command("ACL", "SETUSER", f"user-{namespace}", missing)
    assert await d.ack(*leases) == ["OK"]
    assert (await d.f.counts()).undone == 0


async def test_a_lacking_right_is_not_taken_for_a_key_of_another_type(
    redis_client: Redis, worker_user: Redis, namespace: str
) -> None:
    """Its line names the command, not a key that somebody should delete."""
    await redis_client.execute_command("ACL", "SETUSER", f"user-{namespace}", "-zcard")
    with pytest.raises(ResponseError, match=r"(?i)no permissions to run the 'zcard'"):
        await Driver(worker_user, namespace).f.push(pages(1))

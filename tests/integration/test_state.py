"""I12: a server that lost a crawl, or fell back to an older state of it, is never taken for it."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from scrapy_seine.endpoints import redis_client as redis_client_of
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.lost_state import StateLost, StateRolledBack
from scrapy_seine.frontier.model import Burial, Done, Push, Retry
from scrapy_seine.frontier.round_trips.kept_pushes import RecentPushes
from scrapy_seine.frontier.round_trips.recovery import Recovery
from tests.benchmarks.server import free_port
from tests.helpers import wait_until_async
from tests.integration.frontier_kit import T0, TTL, join_frontier, page, pages
from tests.integration.redis_fleet import start, wait_for

pytestmark = pytest.mark.redis


class Copies:
    """Copies of a crawl's keys, as an older state of its server."""

    def __init__(self, redis: Redis, crawl: str) -> None:
        self.redis: Any = redis
        self.pattern = f"{{{crawl}*"

    async def keys(self) -> list[bytes]:
        return [key async for key in self.redis.scan_iter(match=self.pattern)]

    async def take(self) -> dict[bytes, bytes]:
        return {key: await self.redis.dump(key) for key in await self.keys()}

    async def drop(self) -> None:
        for key in await self.keys():
            await self.redis.delete(key)

    async def restore(self, copy: dict[bytes, bytes]) -> None:
        await self.drop()
        for key, value in copy.items():
            await self.redis.restore(key, 0, value)


async def joined(redis: Redis, crawl: str) -> tuple[Frontier, list[Exception]]:
    """A worker's frontier, and what it was told of the state."""
    f = await join_frontier(redis, crawl, 1)
    told: list[Exception] = []
    f.watch.changed = told.append
    return f, told


async def test_a_late_reply_of_a_lost_crawl_says_nothing_of_the_next_one(
    redis_client: Redis, namespace: str
) -> None:
    """Its sequence was higher, so that the new crawl seemed to have fallen back."""
    f, told = await joined(redis_client, namespace)
    await f.push(pages(9))
    late, sequence = f.watch.before, f.watch.known
    await f.erase()
    await f.begin()
    assert sequence is not None
    f.watch.learn_push(late, 9)
    f.watch.learn_lease_reply(late, f"{sequence.id} 0 {sequence.seq}")
    assert await f.push(pages(1)) == ["OK"]
    assert told == []


async def test_tokens_and_ids_are_given_out_once_whatever_state_comes_back(
    redis_client: Redis, namespace: str
) -> None:
    """I2: a late commit of A must never ack B's page."""
    a, _ = await joined(redis_client, namespace)
    copies = Copies(redis_client, namespace)
    before = await copies.take()
    await a.push([page("http://a.example/old", fingerprint=1)])
    [old] = (await a.lease("a", 1, ttl_ms=TTL)).leases

    await copies.restore(before)
    b, _ = await joined(redis_client, namespace)
    await b.push([page("http://b.example/new", fingerprint=2)])
    [new] = (await b.lease("b", 1, ttl_ms=TTL)).leases
    assert new.id == old.id  # nobody told the server: b does not know of the fall
    assert new.token != old.token
    stranger = Frontier(redis_client, namespace)
    assert await stranger.commit([Done(lease=old)]) == ["LOST"]

    with pytest.raises(StateRolledBack):
        await a.commit([Done(lease=old)])
    assert (await a.counts()).leased == 1
    await a.push([page("http://a.example/again", fingerprint=3)])
    [again] = (await a.lease("a", 1, ttl_ms=TTL)).leases
    assert int(again.id) > 1_000_000


@pytest.mark.parametrize("verb", ["push", "lease", "renew", "commit", "retry", "bury", "release"])
async def test_no_verb_works_on_a_server_that_lost_the_crawl(
    redis_client: Redis, namespace: str, verb: str
) -> None:
    f, told = await joined(redis_client, namespace)
    await f.push(pages(3))
    [lease] = (await f.lease("w", 1, ttl_ms=TTL)).leases
    copies = Copies(redis_client, namespace)
    await copies.drop()
    calls: dict[str, Callable[[], Awaitable[Any]]] = {
        "push": lambda: f.push(pages(1)),
        "lease": lambda: f.lease("w", 1, ttl_ms=TTL),
        "renew": lambda: f.renew("w", [lease], ttl_ms=TTL, info=b"{}"),
        "commit": lambda: f.commit([Done(lease=lease)]),
        "retry": lambda: f.retry([Retry(lease=lease, wait_ms=0, push=page())]),
        "bury": lambda: f.bury([Burial(lease=lease, note=b"{}")]),
        "release": lambda: f.release([lease]),
    }
    with pytest.raises(StateLost, match="no crawl of this name"):
        await calls[verb]()
    assert await copies.keys() == []
    assert len(told) == 1

    await join_frontier(redis_client, namespace, 1)
    with pytest.raises(StateLost, match="another crawl"):
        await calls[verb]()


async def test_a_replica_that_is_not_yet_filled_is_no_lost_state(
    namespace: str, tmp_path: Path
) -> None:
    """It is empty until it has its first copy of the primary; the fleet ended as state_lost."""
    port = free_port()
    with ExitStack() as stack:
        start(stack, "--port", port, "--save", "", "--dir", tmp_path)
        wait_for(port)
        redis: Any = redis_client_of(f"redis://127.0.0.1:{port}")
        f, told = await joined(redis, namespace)
        await f.push(pages(3))
        await redis.flushall()
        await redis.replicaof("127.0.0.1", "1")
        with pytest.raises(ResponseError, match="read only replica"):
            await f.lease("w", 1, ttl_ms=TTL)
        assert told == []
        await redis.replicaof("NO", "ONE")  # it is the primary now, and as empty
        with pytest.raises(StateLost):
            await f.lease("w", 1, ttl_ms=TTL)
        assert len(told) == 1
        await redis.aclose()


@pytest.mark.parametrize("verb", ["push", "lease", "renew", "commit", "idle"])
async def test_an_older_state_is_told_of_once_and_worked_on_after_that(
    redis_client: Redis, namespace: str, verb: str
) -> None:
    f, told = await joined(redis_client, namespace)
    other, other_told = await joined(redis_client, namespace)
    await f.push(pages(3))
    copies = Copies(redis_client, namespace)
    before = await copies.take()
    [lease] = (await f.lease("w", 1, ttl_ms=TTL)).leases
    await f.commit([Done(lease=lease, children=pages(4, start=10))])
    await f.lease("w", 1, ttl_ms=TTL)
    await other.lease("w2", 1, ttl_ms=TTL)
    await copies.restore(before)
    calls: dict[str, Callable[[], Awaitable[Any]]] = {
        "push": lambda: f.push(pages(1, start=50)),
        "lease": lambda: f.lease("w", 1, ttl_ms=TTL),
        "renew": lambda: f.renew("w", [lease], ttl_ms=TTL, info=b"{}"),
        "commit": lambda: f.commit([Done(lease=lease)]),
        "idle": f.idle,
    }
    with pytest.raises(StateRolledBack):
        await calls[verb]()
    assert len(told) == 1
    assert (await Frontier(redis_client, namespace).counts()).ready == 3  # nothing was done
    await calls[verb]()
    assert len(told) == 1
    with pytest.raises(StateRolledBack):  # who did not see it by itself is told by those who did
        await other.lease("w2", 1, ttl_ms=TTL)
    await other.lease("w2", 1, ttl_ms=TTL)
    assert len(other_told) == 1
    assert (await f.counts()).totals["rolled_back"] == 1


async def test_links_that_a_partition_forgot_are_said_and_counted(
    redis_client: Redis, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Their pages are done in another partition, so that nobody brings them again."""
    f = await join_frontier(redis_client, namespace, 2)
    stats: dict[str, int] = {}
    idle: Any = SimpleNamespace(
        abandon=lambda selects: [],
        drop_lost=lambda is_lost: [],
        schedule_round_trip=lambda: None,
        recent_pushes=RecentPushes(),
        endings=SimpleNamespace(pushes=[]),
        inc_value=lambda name: None,
        set_value=stats.__setitem__,
    )
    Recovery(f, idle, idle, idle, lambda: None).watch()

    def of(part: int) -> Push:
        names = (f"shop{n}.example" for n in itertools.count())
        domain = next(name for name in names if f.part(name) is f.parts[part])
        return page(f"{domain}/1", domain=domain)

    await f.push([of(0), of(1)])
    copies = Copies(redis_client, f.parts[1].keys.prefix.partition("{")[2].partition("}")[0])
    before = await copies.take()
    [lease] = (await f.parts[0].lease("w", 1, ttl_ms=TTL)).leases
    await f.commit([Done(lease=lease, children=[of(1), of(1)])])
    await f.parts[1].lease("w", 1, ttl_ms=TTL)  # its reply shows how far the crawl is
    await copies.restore(before)
    with pytest.raises(StateRolledBack):
        await f.parts[1].push([of(1)])
    await wait_until_async(lambda: _is(stats), 10, "the loss is counted")
    assert stats == {"seine/links_lost": 2}
    assert "links_lost: up to 2 links of crawl" in caplog.text


async def _is(stats: dict[str, int]) -> bool:
    return bool(stats)


async def test_a_clear_is_no_lost_state(redis_client: Redis, namespace: str) -> None:
    f, told = await joined(redis_client, namespace)
    await f.push(pages(5))
    [lease] = (await f.lease("w", 1, ttl_ms=TTL)).leases
    await Frontier(redis_client, namespace).clear()
    assert await f.renew("w", [lease], ttl_ms=TTL, info=b"{}") == [lease.id]
    assert await f.commit([Done(lease=lease)]) == ["LOST"]
    assert not (await f.lease("w", 1, ttl_ms=TTL)).leases
    assert await f.idle()
    assert not told


async def test_requests_that_vanish_are_lost_state_and_no_end(
    redis_client: Redis, namespace: str
) -> None:
    """A server that evicts keys, or a slip of an operator, must not look like a finished crawl."""
    f, _ = await joined(redis_client, namespace)
    await f.push(pages(5))
    await redis_client.delete(f.keys.requests)
    with pytest.raises(StateLost, match="5 requests are missing"):
        await f.lease("w", 10, ttl_ms=TTL)
    with pytest.raises(StateLost):
        await f.idle()
    again, _ = await joined(redis_client, namespace)  # after that it goes on with what is left
    await again.push([page("http://a.example/x", fingerprint=77)])
    assert len((await again.lease("w", 10, ttl_ms=TTL)).leases) == 1


@pytest.mark.parametrize("id_", ["no-such-id", "", "-1", "8.1.2", "1x", "999999999", "\0"])
async def test_an_id_that_was_never_given_out_stops_no_lease_and_is_no_lost_state(
    redis_client: Redis, namespace: str, id_: str
) -> None:
    """I8: who writes junk into one domain's queue must not hold the others'."""
    f, told = await joined(redis_client, namespace)
    client: Any = redis_client
    await f.push([*pages(5), page("http://junk.example/", fingerprint=99)])
    await client.zadd(f.keys.queue("junk.example"), {id_: "-inf"})
    await client.zadd(f.keys.delayed, {id_: 1})
    assert len((await f.lease("w", 10, ttl_ms=TTL)).leases) == 6
    assert not told


async def test_holds_of_the_old_form_end_as_before(redis_client: Redis, namespace: str) -> None:
    f, _ = await joined(redis_client, namespace)
    client: Any = redis_client
    await f.push(pages(1))
    [lease] = (await f.lease("w", 1, ttl_ms=TTL)).leases
    held = (await client.hget(f.keys.held, lease.id)).decode().split(" ")
    await client.hset(f.keys.held, lease.id, " ".join(["17", *held[1:]]))
    assert await f.commit([Done(lease=lease)]) == ["LOST"]
    old = Done(lease=attrs.evolve(lease, token="17"))
    assert await f.commit([old]) == ["OK"]


async def test_a_crawl_of_an_older_version_gets_an_identity(
    redis_client: Redis, namespace: str
) -> None:
    old = Frontier(redis_client, namespace)
    await old.push(pages(2))
    client: Any = redis_client
    assert await client.hget(old.keys.control, "id") is None
    f, told = await joined(redis_client, namespace)
    assert len((await f.lease("w", 2, ttl_ms=TTL)).leases) == 2
    assert not told


async def test_a_wrong_argument_is_no_change_of_state(redis_client: Redis, namespace: str) -> None:
    f, told = await joined(redis_client, namespace)
    with pytest.raises(ResponseError):
        await f.run("lease")
    assert not told


@pytest.mark.parametrize(
    "name",
    [
        "queue",
        "domain",
        "ready",
        "waiting",
        "delayed",
        "leases",
        "held",
        "dead",
        "autopsy",
        "deliveries",
        "counters",
        "seen",
        "workers",
    ],
)
async def test_a_crawl_ends_although_one_of_its_keys_was_deleted(
    redis_client: Redis, namespace: str, name: str
) -> None:
    """I1: each key but those whose loss is lost state (requests, control)."""
    f, _ = await joined(redis_client, namespace)
    f.now_ms = T0
    await f.configure(delay_ms=0, concurrency=4, half_window_ms=10**9)
    await f.push(pages(3, "a.example"))
    await f.push(pages(3, "b.example"))
    await f.push(pages(2, "c.example"))
    await f.block_until("c.example", 5_000)
    leases = list((await f.lease("w", 3, ttl_ms=TTL)).leases)
    await f.retry([Retry(lease=leases[0], push=page(leases[0].blob.decode()), wait_ms=9_000)])
    await f.bury([Burial(lease=leases[1], note=b"{}")])
    key = getattr(f.keys, name)
    assert await redis_client.delete(key("b.example") if callable(key) else key) in (0, 1)
    done = 0
    for _ in range(60):
        f.now_ms += TTL // 2
        await f.reap()
        for lease in (await f.lease("w", 10, ttl_ms=TTL)).leases:
            done += (await f.commit([Done(lease=lease)])) == ["OK"]
        if await f.idle():
            break
    assert await f.idle()
    assert done >= 7
    assert (await f.counts()).dead == 1


@pytest.mark.parametrize("junk", ["junk", "1 2", "-3", "1e308", "", "nan"])
async def test_junk_in_the_turn_stops_no_worker(
    redis_client: Redis, namespace: str, junk: str
) -> None:
    """I8: what somebody wrote into the crawl's own fields costs no worker its start."""
    before, _ = await joined(redis_client, namespace)
    await before.push([page("http://a.example/1", fingerprint=1)])
    await redis_client.hset(before.keys.control, "turn", junk)
    after, told = await joined(redis_client, namespace)
    assert len((await after.lease("w", 1, ttl_ms=TTL)).leases) == 1
    assert [str(error) for error in told] == []


@pytest.mark.parametrize("swept", ["", "junk", "nan", "1e308"])
async def test_callers_that_are_gone_are_forgotten_once_an_hour_not_by_each_that_joins(
    redis_client: Redis, namespace: str, swept: str
) -> None:
    """A thousand workers that join would else read a thousand callers each."""
    client: Any = redis_client
    f, _ = await joined(redis_client, namespace)
    old = {"w:gone": f"7 {T0 - 90_000_000}", "w:here": f"7 {T0}"}
    for after_ms, gone in ((0, True), (3_590_000, False), (3_610_000, True)):
        if not after_ms:
            await client.hset(f.keys.control, "swept", swept)
        await client.hset(f.keys.control, mapping=old)
        f.now_ms, f.watch.known = T0 + after_ms, None
        await f.run("begin", "other")
        assert await client.hexists(f.keys.control, "w:gone") is not gone
        assert await client.hexists(f.keys.control, "w:here")


async def test_the_state_of_a_crawl_is_a_table_whatever_the_number_of_workers(
    redis_client: Redis, namespace: str
) -> None:
    """Each script asks for eight of its fields: of a list, each would be sought from the start."""
    f, _ = await joined(redis_client, namespace)
    assert await redis_client.object("encoding", f.keys.control) == b"hashtable"

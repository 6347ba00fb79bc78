"""I1 and I2: every request is in one place, and a lease ends by its holder's word alone."""

from __future__ import annotations

import orjson
import pytest
from redis.asyncio import Redis

from scrapy_seine.frontier.encoding.wire import note
from scrapy_seine.frontier.model import Burial, Done, Retry
from scrapy_seine.frontier.worker_deaths import shared_deaths
from tests.helpers import patient
from tests.integration.frontier_kit import TTL, Driver, page, pages

pytestmark = pytest.mark.redis


@pytest.fixture
def d(redis_client: Redis, namespace: str) -> Driver:
    return Driver(redis_client, namespace)


async def test_i1_a_request_moves_from_ready_to_leased_to_done(d: Driver) -> None:
    assert await d.f.push([page("x", fingerprint=1)]) == ["OK"]
    assert await d.where() == (1, 0, 0, 0)
    (lease,) = await d.take()
    assert lease.blob == b"x"
    assert await d.where() == (0, 0, 1, 0)
    assert await d.ack(lease) == ["OK"]
    assert await d.where() == (0, 0, 0, 0)
    assert (await d.f.counts()).totals["done"] == 1


async def test_i1_a_known_fingerprint_is_a_duplicate_even_when_done(d: Driver) -> None:
    assert await d.f.push([page("x", fingerprint=1), page("y", fingerprint=1)]) == [
        "OK",
        "DUPLICATE",
    ]
    await d.ack(*await d.take())
    assert await d.f.push([page("x", fingerprint=1)]) == ["DUPLICATE"]


async def test_i1_a_push_without_fingerprint_or_by_force_always_enters(d: Driver) -> None:
    assert await d.f.push([page(), page()]) == ["OK", "OK"]
    forced = page("x", fingerprint=5, force=True)
    assert await d.f.push([forced, forced, page("x", fingerprint=5)]) == ["OK", "OK", "DUPLICATE"]
    assert await d.f.push([page("x", force=True)]) == ["OK"]


async def test_i1_a_retry_waits_out_its_time_then_is_ready_again(d: Driver) -> None:
    await d.f.push([page("x", fingerprint=1)])
    (lease,) = await d.take()
    again = page("x again", priority=-1)
    assert await d.f.retry([Retry(lease=lease, wait_ms=5000, push=again)]) == ["OK"]
    assert await d.where() == (0, 1, 0, 0)
    leased = await d.f.lease("w1", 1, ttl_ms=TTL)
    assert (list(leased.leases), leased.next_due_ms) == ([], d.now + 5000)
    d.later(5000)
    assert await d.take_names() == ["x again"]


async def test_i1_a_burial_leaves_the_request_dead_with_its_note(d: Driver) -> None:
    await d.f.push([page("x", fingerprint=1)])
    (lease,) = await d.take()
    text = note("404", "not found", "w1", url="x")
    assert await d.f.bury([Burial(lease=lease, note=text)]) == ["OK"]
    assert await d.where() == (0, 0, 0, 1)
    assert (await d.f.counts()).undone == 0
    kept = await d.redis.hget(d.f.keys.autopsy, lease.id)
    assert kept is not None
    assert orjson.loads(kept)["reason"] == "404"


async def test_i3_the_links_of_a_page_that_is_given_up_enter_with_its_burial(d: Driver) -> None:
    """A reply that was lost is asked for again: the second call changes nothing (I2)."""
    await d.f.push([page("x", fingerprint=1)])
    (lease,) = await d.take()
    text = note("parse", "a\nb", "w1", url="x")
    burial = Burial(lease=lease, note=text, children=[*pages(2), page("again")])
    plain = Burial(lease=lease, note=text)
    assert await d.f.bury([burial, plain]) == ["OK", "LOST"]
    assert await d.f.bury([burial]) == ["LOST"]
    assert await d.where() == (3, 0, 0, 1)
    assert await d.redis.hget(d.f.keys.autopsy, lease.id) == text
    totals = (await d.f.counts()).totals
    assert (totals["buried"], totals["pushed"], totals.get("done", 0)) == (1, 4, 0)


async def test_i3_the_links_of_a_late_burial_do_not_enter(d: Driver) -> None:
    await d.f.push([page("x", fingerprint=1)])
    (late,) = await d.take(worker="w1")
    d.later(TTL + 1)
    await d.f.reap()
    assert await d.f.bury([Burial(lease=late, note=b"{}", children=pages(2))]) == ["LOST"]
    assert await d.where() == (1, 0, 0, 0)


async def test_i1_the_dead_return_in_their_order_and_paced(d: Driver) -> None:
    await d.f.push(pages(3))
    leases = await d.take(3)
    await d.f.bury([Burial(lease=lease, note=b"{}") for lease in leases])
    ids = [lease.id for lease in leases]
    assert await d.f.requeue_dead(ids, pause_ms=1000) == 3
    assert await d.f.requeue_dead(ids, pause_ms=1000) == 0
    assert await d.where() == (0, 3, 0, 0)
    assert await d.take_names(3) == ["a.example/0"]
    d.later(2000)
    assert await d.take_names(3) == ["a.example/1", "a.example/2"]


async def test_i1_a_released_request_returns_to_the_head_of_its_queue(d: Driver) -> None:
    await d.f.push(pages(3))
    first, second = await d.take(2)
    assert await d.f.release([second, first]) == ["OK", "OK"]
    assert await d.take_names(3) == ["a.example/0", "a.example/1", "a.example/2"]


async def test_i1_a_delayed_push_is_handed_out_at_its_time(d: Driver) -> None:
    await d.f.push([page("later", not_before_ms=d.now + 700), page("now")])
    assert await d.where() == (1, 1, 0, 0)
    assert await d.take_names(5) == ["now"]
    d.later(699)
    assert await d.take_names(5) == []
    d.later(1)
    assert await d.take_names(5) == ["later"]


@pytest.mark.parametrize("verb", ["commit", "retry", "bury", "release"])
async def test_i2_a_late_end_is_lost_and_changes_nothing(d: Driver, verb: str) -> None:
    await d.f.push([page("x", fingerprint=1)])
    (late,) = await d.take(worker="w1")
    d.later(TTL + 1)
    assert await d.f.reap() == (1, 0)
    (current,) = await d.take(worker="w2")
    assert current.id == late.id
    ends = {
        "commit": d.f.commit([Done(lease=late, children=[page("child", fingerprint=2)])]),
        "retry": d.f.retry([Retry(lease=late, wait_ms=1, push=page("y"))]),
        "bury": d.f.bury([Burial(lease=late, note=b"{}")]),
        "release": d.f.release([late]),
    }
    chosen = ends.pop(verb)
    for other in ends.values():
        other.close()
    assert await chosen == ["LOST"]
    assert await d.where() == (0, 0, 1, 0)
    assert (await d.f.counts()).totals["lost"] == 1
    assert await d.ack(current) == ["OK"]


async def test_i2_a_lease_ends_once(d: Driver) -> None:
    await d.f.push([page("x")])
    (lease,) = await d.take()
    assert await d.ack(lease, lease) == ["OK", "LOST"]
    assert await d.f.release([lease]) == ["LOST"]
    assert await d.where() == (0, 0, 0, 0)


async def test_i2_renewal_keeps_a_lease_and_names_those_that_are_lost(d: Driver) -> None:
    await d.f.push(pages(2))
    kept, gone = await d.take(2)
    await d.ack(gone)
    d.later(TTL - 1)
    assert await d.f.renew("w1", [kept, gone], ttl_ms=TTL, info=b"{}") == [gone.id]
    d.later(TTL - 1)
    assert await d.f.reap() == (0, 0)
    d.later(2)
    assert await d.f.reap() == (1, 0)
    assert await d.f.renew("w1", [kept], ttl_ms=TTL, info=b"{}") == [kept.id]


async def test_i2_tokens_are_never_used_twice(d: Driver) -> None:
    await d.f.push(pages(4))
    tokens = set()
    for _ in range(5):
        leases = await d.take(4)
        tokens |= {lease.token for lease in leases}
        await d.f.release(leases)
    assert len(tokens) == 20


async def test_i3_children_appear_if_and_only_if_their_page_is_acked(d: Driver) -> None:
    await d.f.push([page("parent")])
    (lease,) = await d.take()
    children = (page("c1", fingerprint=1), page("c2", fingerprint=2), page("c1", fingerprint=1))
    d.later(TTL + 1)
    await d.f.reap()
    assert await d.ack(lease, children=children) == ["LOST"]
    assert await d.where() == (1, 0, 0, 0)
    (lease,) = await d.take()
    assert await d.ack(lease, children=children) == ["OK"]
    assert await d.where() == (2, 0, 0, 0)
    assert (await d.f.counts()).seen == 2


async def test_a_worker_that_dies_with_a_page_again_and_again_gets_it_buried(d: Driver) -> None:
    await d.f.push([page("killer")])
    for death in range(3):
        (lease,) = await d.take(worker=f"w{death}")
        assert lease.deliveries == death
        assert death < shared_deaths(3) or await d.f.isolate(lease, begins=True)
        d.later(TTL + 1)
        await d.f.reap(max_deliveries=3)
    assert await d.where() == (0, 0, 0, 1)
    (raw,) = await d.redis.hvals(d.f.keys.autopsy)
    autopsy = orjson.loads(raw)
    assert (autopsy["reason"], autopsy["worker"]) == ("deliveries", "w2")
    assert autopsy["error"].endswith(
        "3 times while it held this request, 1 of them while it had no other request"
    )
    (dead,) = await d.redis.zrange(d.f.keys.dead, 0, -1)
    assert await d.f.requeue_dead([dead.decode()]) == 1
    (lease,) = await d.take()
    assert lease.deliveries == 0


async def test_a_death_in_company_blames_nobody(d: Driver) -> None:
    """I1: a worker that is killed from outside kills nothing; only far too many deaths bury."""
    await d.f.push(pages(4))
    for death in range(11):
        leases = await d.take(4, worker=f"w{death}")
        assert [lease.deliveries for lease in leases] == [death] * 4
        d.later(TTL + 1)
        assert await d.f.reap(max_deliveries=3) == (4, 0)
    stale = await d.take(4, worker="w11")
    assert await d.f.isolate(stale[0], begins=True)
    await d.f.release(stale)
    assert not await d.f.isolate(stale[0], begins=True)  # a lease that was handed back is nobody's
    (lease, *_) = await d.take(4, worker="w12")
    assert await d.f.isolate(lease, begins=True)
    assert await d.f.isolate(lease, begins=False)  # its items wait for their store
    d.later(TTL + 1)
    assert await d.f.reap(max_deliveries=3) == (0, 4)  # no worker ever got as far as to try


async def test_a_hand_back_is_no_delivery(d: Driver) -> None:
    await d.f.push([page("x")])
    for _ in range(9):
        await d.f.release(await d.take())
    (lease,) = await d.take()
    assert lease.deliveries == 0


async def test_an_expired_lease_is_reported_to_whoever_leases(d: Driver) -> None:
    await d.f.push(pages(1))
    await d.take()
    assert not (await d.f.lease("w2", 1, ttl_ms=TTL)).expired
    d.later(TTL + 1)
    assert (await d.f.lease("w2", 1, ttl_ms=TTL)).expired


async def test_no_list_is_searched_for_each_of_many_leases(d: Driver) -> None:
    await d.f.push(pages(20))
    await d.f.configure(delay_ms=0, concurrency=20, half_window_ms=10**9)
    leases = await d.take(20)
    assert await d.where() == (0, 0, 20, 0)
    assert await d.redis.hlen(d.f.keys.held) == 20
    kinds = [await d.redis.object("ENCODING", key) for key in (d.f.keys.leases, d.f.keys.held)]
    assert kinds == [b"skiplist", b"hashtable"]
    assert await d.ack(*leases) == ["OK"] * 20
    assert await d.where() == (0, 0, 0, 0)


async def test_reap_stays_within_its_limit(d: Driver) -> None:
    await d.f.push(pages(10))
    await d.take(10)
    d.later(TTL + 1)
    assert [await d.f.reap(limit=4) for _ in range(4)] == [(4, 0), (4, 0), (2, 0), (0, 0)]


async def test_i6_expiry_and_due_times_are_the_servers(redis_client: Redis, namespace: str) -> None:
    from scrapy_seine.frontier.frontier import Frontier

    real = Frontier(redis_client, namespace)
    await real.push([page("x")])

    async def server_ms() -> int:
        seconds, micros = await redis_client.time()
        return int(seconds * 1000 + micros // 1000)

    before_ms = await server_ms()
    leased = await real.lease("w1", 1, ttl_ms=TTL)
    assert before_ms <= leased.now_ms <= await server_ms()
    expiry = await redis_client.zscore(real.keys.leases, leased.leases[0].id)
    assert expiry == leased.now_ms + TTL


async def test_i8_a_stored_request_without_header_is_set_aside(d: Driver) -> None:
    await d.f.push([page("x", not_before_ms=d.now + 10)])
    (key,) = await d.redis.hkeys(d.f.keys.requests)
    await d.redis.hset(d.f.keys.requests, key, b"garbage")
    d.later(20)
    assert await d.take() == []
    assert await d.where() == (0, 0, 0, 1)
    assert (await d.f.counts()).undone == 0


@pytest.mark.parametrize("domain", ["", "[::1]", "müller.example", "landed", "a:8080", "L"])
async def test_odd_domain_names_go_round_whole(d: Driver, domain: str) -> None:
    await d.f.push([page("x", domain=domain)])
    (lease,) = await d.take(worker="host name 7")
    await d.f.release([lease])
    (lease,) = await d.take()
    await d.f.retry([Retry(lease=lease, wait_ms=0, push=page("x", domain=domain))])
    (lease,) = await d.take()
    assert await d.ack(lease) == ["OK"]
    assert await d.redis.hget(d.f.keys.domain(domain), "active") == b"0"


async def test_the_end_of_a_crawl_is_announced(d: Driver) -> None:
    await d.f.push(pages(2))
    one, two = await d.take(2)
    async with d.redis.pubsub(ignore_subscribe_messages=True) as channel:
        await channel.subscribe(d.f.keys.wake)
        await channel.get_message(timeout=1)
        await d.ack(one)
        await d.f.bury([Burial(lease=two, note=b"{}")])
        heard = await channel.get_message(timeout=patient(2))
    assert heard is not None
    assert heard["data"] == b"done"

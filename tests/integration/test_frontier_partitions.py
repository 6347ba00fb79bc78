"""One crawl in several partitions: nothing lost, nothing twice, and the end is the end (I1-I6)."""

from __future__ import annotations

import asyncio
import inspect
import random
from collections import Counter
from itertools import pairwise

import pytest
from redis.asyncio import Redis

from crawler.catalogue.jobs.in_redis import Jobs
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier import find as find_frontier
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.model import Budgets, Burial, Done, Lease, Push, Retry
from scrapy_seine.frontier.opening import frontier_of
from scrapy_seine.frontier.partitions import outbox
from scrapy_seine.frontier.partitions.frontier import PartitionedFrontier
from scrapy_seine.frontier.partitions.two_looks import is_over
from tests.integration.frontier_kit import T0, TTL, join_frontier, names, page, pages

pytestmark = pytest.mark.redis

DOMAINS = [f"shop{n}.example" for n in range(24)]
N = 4


@pytest.fixture
def f(redis_client: Redis, namespace: str) -> Frontier:
    return frontier_of(redis_client, namespace, N, now_ms=T0)


def link(n: int, **more: object) -> Push:
    """The n-th page of the crawl, of the domain whose turn it is."""
    domain = DOMAINS[n % len(DOMAINS)]
    return page(f"{domain}/{n}", domain=domain, fingerprint=n, **more)


def of_part(f: Frontier, index: int, numbers: range = range(1000)) -> list[Push]:
    """Pages whose domains are of one partition."""
    return [link(n) for n in numbers if f.part(link(n).domain) is f.parts[index]]


async def one(f: Frontier, push: Push) -> Lease:
    """Push one request, and lease it."""
    await f.push([push])
    (lease,) = (await f.lease("w", 1, ttl_ms=TTL)).leases
    return lease


async def drained(f: Frontier) -> list[str]:
    """Every request that is left, in the order in which it came."""
    got: list[str] = []
    while leases := (await f.lease("w", 50, ttl_ms=TTL)).leases:
        got += [lease.blob.decode() for lease in leases]
        await f.commit([Done(lease=lease) for lease in leases])
    return got


def test_every_verb_is_said_for_partitions_too() -> None:
    """A verb that is not would run on no partition; `run` refuses that as well."""
    verbs = {name for name, _ in inspect.getmembers(Frontier, inspect.iscoroutinefunction)}
    verbs = {name for name in verbs if not name.startswith("_")}
    assert verbs <= set(vars(PartitionedFrontier))


async def test_a_crawl_of_many_domains_ends_with_every_page_once(f: Frontier) -> None:
    """Each page links to three others, anywhere; two workers and no order."""
    total, seen = 3000, Counter[int]()
    await f.push([link(0)])

    async def work(worker: str) -> None:
        while not await f.idle():
            leased = await f.lease(worker, 20, ttl_ms=TTL)
            done = []
            for lease in leased.leases:
                n = int(lease.blob.decode().rpartition("/")[2])
                seen[n] += 1
                children = [link(c) for c in (3 * n + 1, 3 * n + 2, 3 * n + 3) if c < total]
                done.append(Done(lease=lease, children=[*children, link(n // 2)]))
            assert await f.commit(done) == ["OK"] * len(done)

    await asyncio.gather(work("w1"), work("w2"))
    assert seen == Counter(range(total))
    counts = await f.counts()
    assert (counts.undone, counts.seen, counts.totals["done"]) == (0, total, total)
    assert counts.totals["sent"] == counts.totals["arrived"] > total / 2


async def test_the_keys_of_partitions_have_tags_of_their_own(f: Frontier) -> None:
    await f.push([link(n) for n in range(100)])
    for part in f.parts:
        assert await f.redis.hlen(part.keys.requests) > 10
    tags = {part.keys.prefix for part in f.parts}
    assert len(tags) == N
    assert await f.redis.exists(f.keys.requests) == 0


async def test_one_partition_is_the_frontier_as_it_was(redis_client: Redis, namespace: str) -> None:
    whole = frontier_of(redis_client, namespace, 1)
    assert type(whole) is Frontier
    await whole.push([link(1)])
    assert await redis_client.hkeys(f"{{{namespace}}}:requests") == [b"0"]


async def test_children_elsewhere_count_as_undone_from_the_ack_on(f: Frontier) -> None:
    """I3: whoever looks between commit and forward sees them."""
    lease = await one(f, of_part(f, 0)[0])
    children = [*of_part(f, 0)[1:3], *of_part(f, 1)[:2], *of_part(f, 2)[:1]]
    assert await f.parts[0].commit([Done(lease=lease, children=children)]) == ["OK"]
    counts = await f.counts()
    assert (counts.ready, counts.moving, counts.undone) == (2, 3, 5)
    assert not await f.idle()
    assert await f.forward() == 3
    counts = await f.counts()
    assert (counts.ready, counts.moving) == (5, 0)
    assert sorted(await drained(f)) == sorted(child.blob.decode() for child in children)
    assert await f.idle()


@pytest.mark.parametrize("dies", [False, True])
async def test_the_links_of_a_page_that_is_given_up_reach_their_partitions(
    f: Frontier, dies: bool
) -> None:
    """I3: also where the worker dies before it brings them over."""
    lease = await one(f, of_part(f, 0)[0])
    children = [*of_part(f, 0)[1:3], *of_part(f, 1)[:2], *of_part(f, 2)[:1]]
    burial = Burial(lease=lease, note=b"{}", children=children)
    assert await (f.parts[0] if dies else f).bury([burial]) == ["OK"]
    counts = await f.counts()
    assert (counts.dead, counts.moving, counts.undone) == (1, 3 * dies, 5)
    assert await f.forward() == 3 * dies
    assert sorted(await drained(f)) == sorted(child.blob.decode() for child in children)
    assert await f.idle()


async def test_a_lost_page_sends_nothing_on(f: Frontier) -> None:
    """I2, I3."""
    lease = await one(f, of_part(f, 0)[0])
    await f.release([lease])
    done = [Done(lease=lease, children=of_part(f, 1)[:3])]
    assert await f.commit(done) == ["LOST"]
    assert (await f.counts()).undone == 1


@pytest.mark.parametrize("fingerprinted", [True, False])
async def test_a_death_between_arrival_and_departure_brings_nothing_twice(
    f: Frontier, fingerprinted: bool
) -> None:
    """Also what no filter would catch: a child that skips it."""
    lease = await one(f, of_part(f, 0)[0])
    made = of_part(f, 1)[:3]
    children = made if fingerprinted else [page(p.blob.decode(), domain=p.domain) for p in made]
    await f.parts[0].commit([Done(lease=lease, children=children)])
    head = await f.redis.xrange(f.parts[0].keys.outbox(1))
    assert await outbox.receive(f.parts[0], f.parts[1], head[:2]) == 2  # and here it dies
    assert not await f.idle()
    assert await f.forward() == 3
    assert (await f.counts()).moving == 0
    assert sorted(await drained(f)) == sorted(child.blob.decode() for child in children)


async def test_what_cannot_be_read_in_an_outbox_keeps_nothing_behind_it(f: Frontier) -> None:
    """I8: the links behind it stayed on their way, and the crawl never ended."""
    lease = await one(f, of_part(f, 0)[0])
    box, junk = f.parts[0].keys.outbox(1), [{"x": "y"}, {"fp": "", "due": "", "stored": "junk"}]
    for number, fields in enumerate(junk, 1):
        await f.redis.xadd(box, fields, id=f"0-{number}")
    await f.parts[0].commit([Done(lease=lease, children=of_part(f, 1)[:3])])
    await f.forward()
    counts = await f.counts()
    assert (counts.undone, counts.dead, counts.moving) == (3, 0, 0), "numbers below the last"

    await f.redis.xadd(box, junk[1])
    assert await f.forward() == 1
    counts = await f.counts()
    assert (counts.undone, counts.dead, counts.moving) == (3, 1, 0)


async def test_a_slow_bearer_behind_a_quick_one_brings_nothing_twice(f: Frontier) -> None:
    first, second = of_part(f, 0)[:2]
    await f.push([first, second])
    leases = (await f.lease("w", 2, ttl_ms=TTL)).leases
    box, there = f.parts[0].keys.outbox(1), of_part(f, 1)
    await f.parts[0].commit([Done(lease=leases[0], children=there[:2])])
    slow = await f.redis.xrange(box)
    await f.forward()
    await f.parts[0].commit([Done(lease=leases[1], children=there[2:4])])
    await f.forward()
    assert await outbox.receive(f.parts[0], f.parts[1], slow) == 0
    assert (await f.counts()).undone == 4


async def test_a_heartbeat_brings_on_what_a_dead_worker_left(f: Frontier) -> None:
    lease = await one(f, of_part(f, 0)[0])
    await f.parts[0].commit([Done(lease=lease, children=of_part(f, 3)[:1])])
    await f.tend()
    assert (await f.counts()).moving == 0
    assert len(await drained(f)) == 1


async def test_more_than_one_batch_is_brought(f: Frontier) -> None:
    lease = await one(f, of_part(f, 0)[0])
    children = pages(1200, of_part(f, 1)[0].domain)
    await f.parts[0].commit([Done(lease=lease, children=children)])
    assert await f.forward() == 1200
    assert (await f.counts()).ready == 1200


async def test_a_request_that_hops_about_is_never_taken_for_the_end(f: Frontier) -> None:
    """Each look at one partition after the other finds nothing: the request is always elsewhere."""
    await f.push([hop := of_part(f, 3)[0]])

    async def deceived(n: int) -> list[tuple[int, int]]:
        seen = [await part.activity() for part in f.parts[:3]]
        (lease,) = (await f.lease("w", 1, ttl_ms=TTL)).leases
        await f.commit([Done(lease=lease, children=of_part(f, 0)[n : n + 1])])
        seen.append(await f.parts[3].activity())
        (lease,) = (await f.lease("w", 1, ttl_ms=TTL)).leases
        back = page(f"back{n}", domain=hop.domain)
        await f.commit([Done(lease=lease, children=[back])])
        return seen

    first, second = await deceived(0), await deceived(1)
    assert [undone for undone, _ in (*first, *second)] == [0] * 2 * N
    assert not is_over(first, second)
    assert not await f.idle()
    assert await drained(f) == ["back1"]
    assert await f.idle()


async def test_politeness_is_one_partitions_business(f: Frontier) -> None:
    """I5: links from everywhere to one domain keep its pause."""
    domain = DOMAINS[0]
    await f.set_delay(domain, delay_ms=100, concurrency=1)
    await f.push([of_part(f, index)[5] for index in range(N)])
    leases = (await f.lease("w", N, ttl_ms=TTL)).leases
    links = [page(f"{domain}/{i}", domain=domain, fingerprint=5000 + i) for i in range(N)]
    await f.commit([Done(lease=x, children=[y]) for x, y in zip(leases, links, strict=True)])
    slots = []
    for _ in range(200):
        for lease in (await f.lease("w", 9, ttl_ms=TTL)).leases:
            slots.append(lease.slot_ms)
            assert lease.domain == domain
            await f.commit([Done(lease=lease)])
        f.now_ms += 10
    assert len(slots) == N
    assert all(later - sooner >= 100 for sooner, later in pairwise(slots))


async def test_the_end_may_come_with_the_arrival_of_a_known_link(f: Frontier) -> None:
    """A worker that joins then is told that the crawl ended just now, and waits for nothing."""
    known, last = of_part(f, 1)[0], of_part(f, 0)[0]
    await f.commit([Done(lease=await one(f, known))])
    f.now_ms += 5000
    await f.commit([Done(lease=await one(f, last), children=[known])])
    assert (await f.counts()).ready == 0
    assert float(await f.parts[0].redis.hget(f.parts[0].keys.control, "ended")) == T0 + 5000


async def test_each_verb_finds_its_partition(f: Frontier) -> None:
    await f.configure(delay_ms=0, concurrency=16, half_window_ms=10**9)
    assert await f.push([link(n) for n in range(48)]) == ["OK"] * 48
    assert await f.push([link(3), link(99), link(4)]) == ["DUPLICATE", "OK", "DUPLICATE"]
    leases = (await f.lease("w", 8, ttl_ms=TTL)).leases
    assert len({lease.id for lease in leases}) == 8
    assert len({lease.id.partition(".")[2] for lease in leases}) == N
    a, b, c, d, *rest = leases
    assert await f.retry([Retry(lease=a, wait_ms=50_000, push=link(0))]) == ["OK"]
    assert await f.bury([Burial(lease=b, note=b"{}"), Burial(lease=c, note=b"{}")]) == ["OK"] * 2
    assert await f.release([d, a]) == ["OK", "LOST"]
    assert await f.renew("w", [*rest, b], ttl_ms=TTL, info=b"{}") == [b.id]
    counts = await f.counts()
    assert (counts.ready, counts.delayed, counts.leased, counts.dead) == (42, 1, 4, 2)
    assert counts.workers == 1
    assert await f.requeue_dead([b.id], wait_ms=50_000) == 1
    assert await f.purge([c.id]) == 1
    assert await f.forget([1, 2, 7777]) == 2
    assert await f.remember([8001, 8002, 1], DOMAINS[1:4]) == 3
    f.now_ms += TTL + 1
    assert await f.reap() == (4, 0)
    assert await f.clear_domain(DOMAINS[5]) == 2
    assert await f.clear() == 46
    assert (await f.counts()).seen == 0


async def test_a_pause_holds_every_partition(f: Frontier) -> None:
    await f.push([link(n) for n in range(48)])
    await f.pause()
    leased = await f.lease("w", 48, ttl_ms=TTL)
    assert (leased.state, leased.leases) == ("PAUSED", [])
    assert (await f.counts()).paused
    assert await f.resume()
    assert not await f.resume()
    await f.pause(DOMAINS[3])
    assert len(await drained(f)) == 46
    assert await f.resume(DOMAINS[3])
    assert len(await drained(f)) == 2


async def test_lease_takes_from_all_and_no_more_than_wanted(f: Frontier) -> None:
    await f.push(pages(40, DOMAINS[0]))
    assert len((await f.lease("w", 10, ttl_ms=TTL)).leases) == 10, "though one partition has it all"
    await f.push([link(n) for n in range(100)])
    got = names(await f.lease("w", 40, ttl_ms=TTL))
    assert len(got) == 40
    assert len({f.part(name.partition("/")[0]) for name in got}) == N


async def test_another_number_of_partitions_is_refused_and_nothing_is_lost(
    redis_client: Redis, namespace: str
) -> None:
    f = await join_frontier(redis_client, namespace, 4)
    await f.push([link(n) for n in range(20)])
    for other in (1, 2, 8):
        with pytest.raises(ConfigError, match="begun with 4"):
            await join_frontier(redis_client, namespace, other)
    found = await find_frontier(redis_client, namespace, 2)
    assert len(await drained(found)) == 20


async def test_a_crawl_from_before_is_one_partition(redis_client: Redis, namespace: str) -> None:
    await Frontier(redis_client, namespace).push([link(1)])
    with pytest.raises(ConfigError, match="begun with 1"):
        await join_frontier(redis_client, namespace, 4)
    assert (await (await join_frontier(redis_client, namespace, 1)).counts()).ready == 1


async def test_a_look_at_a_crawl_does_not_begin_it(redis_client: Redis, namespace: str) -> None:
    assert len((await find_frontier(redis_client, namespace, 3)).parts) == 3
    assert await redis_client.exists(Keys(namespace).control) == 0


async def test_waiting_requests_are_never_more_than_the_budget(f: Frontier) -> None:
    limits = {"delay_ms": 0, "concurrency": 16, "half_window_ms": 10**9}
    await f.configure(**limits, budgets=Budgets(most_pending=40, domain_pages=30))
    words = await f.push([link(n) for n in range(200)])
    counts = await f.counts()
    assert words.count("OK") == counts.ready <= 40
    assert counts.totals["over_pending"] == 200 - counts.ready


async def test_a_jobs_budget_holds_across_partitions_after_a_heartbeat(f: Frontier) -> None:
    limits = {"delay_ms": 0, "concurrency": 16, "half_window_ms": 10**9}
    await f.configure(**limits, budgets=Budgets(job_pages=30))
    jobs = Jobs(f)
    await jobs.begin("j", site_id="s", kind="full", urls=["http://shop0.example/"])
    await f.push([link(n, job="j") for n in range(20)])
    await f.tend()
    words = await f.push([link(n, job="j") for n in range(100, 300)])
    # What entered before a heartbeat is known everywhere; each partition fills up the rest.
    assert 30 - 21 <= words.count("OK") <= N * (30 - 21)
    await f.tend()
    assert set(await f.push([link(n, job="j") for n in range(300, 400)])) == {"OVER"}


@pytest.mark.parametrize("seed", range(3))
async def test_no_death_between_two_steps_loses_or_repeats(f: Frontier, seed: int) -> None:
    """A worker dies after the commit, after the arrival, or not at all; all by the dice."""
    rng, total, seen = random.Random(seed), 600, Counter[int]()
    await f.push([link(0)])
    while True:
        leases = (await f.lease("w", 10, ttl_ms=TTL)).leases
        for lease in leases:
            n = int(lease.blob.decode().rpartition("/")[2])
            seen[n] += 1
            children = [link(c) for c in (2 * n + 1, 2 * n + 2) if c < total]
            part = f.part(lease.domain)
            assert await part.commit([Done(lease=lease, children=children)]) == ["OK"]
            await fate(f, part, rng.choice(["dies", "dies later", "lives"]))
        if not leases and await f.idle():
            break
        if not leases:
            await f.tend()
    assert seen == Counter(range(total))


async def fate(f: Frontier, source: Frontier, what: str) -> None:
    if what == "lives":
        await f.forward()
    elif what == "dies later":
        for part in f.parts:
            head = await f.redis.xrange(source.keys.outbox(part.keys.index or 0), count=3)
            if head:
                await outbox.receive(source, part, head)


@pytest.mark.parametrize("junk", ["x", str(2**63 - 1), "inf"])
async def test_links_arrive_although_the_number_of_the_last_one_was_overwritten(
    f: Frontier, junk: str
) -> None:
    """I1: what a partition is thought to have is taken off its way there."""
    lease = await one(f, of_part(f, 0)[0])
    links = [*of_part(f, 1)[:3], *of_part(f, 2)[:3]]
    for part in f.parts:
        await f.redis.hset(part.keys.arrived, "0", junk)  # type: ignore[misc]
    assert await f.commit([Done(lease=lease, children=links)]) == ["OK"]
    await f.forward()
    assert sorted(await drained(f)) == sorted(link.blob.decode() for link in links)

"""What people see and do is the whole crawl, however many partitions it has."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from redis.asyncio import Redis

from crawler.catalogue.coordinator.leader import Coordinator
from crawler.catalogue.jobs.in_redis import Jobs
from scrapy_seine.frontier.encoding.codec import decode, encode
from scrapy_seine.frontier.encoding.wire import note
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Burial, Done, Push
from scrapy_seine.reads.dead_letters import Filter, one_dead, search_dead
from scrapy_seine.reads.domains import list_domains, read_domains
from scrapy_seine.reads.fleet import read_fleet
from scrapy_seine.reads.outcome_history import read_minutes, record
from scrapy_seine.reads.overview import read_overview
from scrapy_seine.reads.search import find
from tests.integration.frontier_kit import join_frontier

pytestmark = pytest.mark.redis
DOMAINS = [f"shop{n}.example" for n in range(24)]
TTL = 30_000


@pytest.fixture
async def f(redis_client: Redis, namespace: str) -> Frontier:
    made = await join_frontier(redis_client, namespace, 4)
    await made.configure(delay_ms=0, concurrency=16, half_window_ms=10**9)
    return made


def request(n: int, job: str = "") -> Push:
    url = f"http://{DOMAINS[n % 24]}/{n}"
    blob = encode({"url": url, "meta": {"created_at": time.time() - 60}})
    return Push(domain=DOMAINS[n % 24], blob=blob, fingerprint=n, job=job)


async def test_the_fleet_is_the_sum_of_its_partitions(f: Frontier) -> None:
    await f.push([request(n) for n in range(96)])
    leases = (await f.lease("w1", 8, ttl_ms=TTL)).leases
    await f.renew("w1", leases, ttl_ms=TTL, info=b'{"pid": 7}')
    await f.renew("w2", [], ttl_ms=TTL, info=b"{}")
    fleet = await read_fleet(f.redis, f.keys.crawl)
    assert (fleet.partitions, fleet.counts.ready, fleet.counts.leased) == (4, 88, 8)
    assert fleet.due_now == 88
    assert fleet.oldest_s > 50
    assert [(w.name, w.alive) for w in fleet.workers] == [("w1", True), ("w2", True)]
    assert fleet.workers[0].pid == 7
    assert fleet.counts.workers == 2
    await f.sign_off("w2")
    assert (await read_fleet(f.redis, f.keys.crawl)).counts.workers == 1


async def test_domains_of_all_partitions_are_listed_and_read(f: Frontier) -> None:
    await f.push([request(n) for n in range(48)])
    await f.set_delay(DOMAINS[7], delay_ms=700, concurrency=3)
    names = await list_domains(f.redis, f.keys, limit=50)
    assert sorted(names) == sorted(DOMAINS)
    domains = {d.name: d for d in await read_domains(f.redis, f.keys, names, time.time())}
    assert all(d.queued == 2 for d in domains.values())
    assert (domains[DOMAINS[7]].delay_ms, domains[DOMAINS[7]].concurrency) == (700, 3)
    assert domains[DOMAINS[8]].concurrency == 16


async def test_what_ended_is_counted_by_domain_and_by_minute(f: Frontier) -> None:
    now = time.time()
    ended = {name: {"done": n + 1} for n, name in enumerate(DOMAINS)}
    await record(f.redis, f.keys, ended, 5, now)
    assert (await read_minutes(f.redis, f.keys, now, 1))[-1].done == sum(range(25))
    assert (await list_domains(f.redis, f.keys, limit=2)) == [DOMAINS[23], DOMAINS[22]]
    domains = await read_domains(f.redis, f.keys, DOMAINS, now)
    assert [d.done for d in domains] == list(range(1, 25))


async def test_dead_letters_of_all_partitions_are_one_list(f: Frontier) -> None:
    await f.push([request(n) for n in range(24)])
    leases = sorted((await f.lease("w", 24, ttl_ms=TTL)).leases, key=lambda x: x.domain)
    for lease in leases:
        reason = note("5xx", lease.domain, "w")
        assert await f.bury([Burial(lease=lease, note=reason)]) == ["OK"]
    letters, complete = await search_dead(f, Filter(), limit=50)
    assert (len(letters), complete) == (24, True)
    assert [x.at for x in letters] == sorted((x.at for x in letters), reverse=True)
    assert (await search_dead(f, Filter(), limit=10))[1] is False
    (of_one,), _ = await search_dead(f, Filter(domain=DOMAINS[3]))
    letter = await one_dead(f, of_one.id)
    assert letter is not None
    assert letter[0].url == f"http://{DOMAINS[3]}/3"
    assert await one_dead(f, "0.99") is None
    overview = await read_overview(f.redis, f.keys.crawl)
    assert overview.reasons == {"5xx": 24}
    assert await f.requeue_dead([x.id for x in letters], pause_ms=10) == 24
    assert (await f.counts()).delayed == 24


async def test_a_request_is_found_wherever_it_is(f: Frontier) -> None:
    await f.push([request(n) for n in range(48)])
    (lease, *_) = (await f.lease("w", 24, ttl_ms=TTL)).leases
    for n in range(24):
        states = {x.state for x in await find(f, f"http://{DOMAINS[n]}/{n}")}
        assert states <= {"ready", "leased"}
        assert len(states) == 1
    await f.bury([Burial(lease=lease, note=b"{}")])
    (found,) = await find(f, decode(lease.blob)["url"])
    assert found.state == "dead"


async def test_a_job_counts_over_partitions_and_ends_when_it_ends(
    f: Frontier, database: str
) -> None:
    """Each page links on to the next domain; the job is over when the last one is done."""
    jobs = Jobs(f)
    coordinator = Coordinator(f.redis, f.keys.crawl, database, [], 4)
    await jobs.begin("j", site_id="s", kind="full", urls=[f"http://{DOMAINS[0]}/"])
    for n in range(30):
        (lease,) = (await f.lease("w", 1, ttl_ms=TTL)).leases
        job = await jobs.get("j")
        assert job is not None
        assert (job.total, job.done, job.left) == (n + 1, n, 1)
        await coordinator.step(datetime.now(UTC))
        part = f.part(lease.domain)
        children = [request(1000 + n, job="j")] if n < 29 else []
        assert await part.commit([Done(lease=lease, children=children)]) == ["OK"]
        on_its_way = await jobs.get("j")
        assert on_its_way is not None
        assert on_its_way.left == len(children), "also what is in an outbox is left to do"
        await f.forward()
    await coordinator.step(datetime.now(UTC) + timedelta(seconds=5))
    job = await jobs.get("j")
    assert job is not None
    assert (job.state, job.total, job.done, job.failed) == ("finished", 30, 30, 0)


async def test_a_clear_leaves_no_job_waiting(f: Frontier) -> None:
    jobs = Jobs(f)
    await jobs.begin("j", site_id="s", kind="full", urls=[f"http://{DOMAINS[0]}/"])
    (lease,) = (await f.lease("w", 1, ttl_ms=TTL)).leases
    children = [request(n, job="j") for n in range(24)]
    await f.part(lease.domain).commit([Done(lease=lease, children=children)])
    assert (await f.counts()).moving > 0
    assert await f.clear() == 24
    job = await jobs.get("j")
    assert job is not None
    assert (job.total, job.done, job.cancelled, job.failed, job.left) == (25, 1, 24, 0, 0)
    assert await f.idle()


async def test_a_cancelled_job_is_heard_of(f: Frontier) -> None:
    assert f.keys.wake in f.channels
    assert len(f.channels) == 5

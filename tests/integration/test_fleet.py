"""What is shown of the fleet is what is in Redis, at a cost that does not grow with the crawl."""

import time

import orjson
import pytest
from redis.asyncio import Redis

from crawler.dashboard.overview_plots import RANGES, read_range
from scrapy_seine.frontier.encoding.codec import encode
from scrapy_seine.frontier.encoding.wire import note
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.model import Burial, Done, Push
from scrapy_seine.reads.domains import list_domains, read_domains
from scrapy_seine.reads.fleet import MAX_WORKERS, crawl_names, read_fleet
from scrapy_seine.reads.outcome_history import (
    HOURS,
    TENS,
    pages_a_minute,
    read_minutes,
    read_steps,
    record,
)
from scrapy_seine.reads.overview import read_overview

pytestmark = pytest.mark.redis


@pytest.fixture
def frontier(redis_client, namespace):
    return Frontier(redis_client, namespace)


def a_push(n, domain="a.example", **more):
    blob = encode({"url": f"https://{domain}/{n}", "meta": {"created_at": time.time() - 60}})
    return Push(domain=domain, blob=blob, fingerprint=n, **more)


async def test_states_and_due_backlog_are_the_frontiers(frontier, redis_client, namespace):
    began = time.time()
    await frontier.configure(delay_ms=0, concurrency=4, half_window_ms=10**6)
    await frontier.push([a_push(n) for n in range(10)])
    await frontier.push([a_push(n, "b.example") for n in range(100, 102)])
    await frontier.push([a_push(50, not_before_ms=int(time.time() * 1000) + 60_000)])
    await frontier.lease("w1", 3, ttl_ms=5000)
    await frontier.renew("w1", [], ttl_ms=5000, info=orjson.dumps({"pages": 3, "host": "h"}))

    fleet = await read_fleet(redis_client, namespace)

    counts = fleet.counts
    assert (counts.ready, counts.delayed, counts.leased, counts.dead) == (9, 1, 3, 0)
    # One domain has one slot of four left, the other has none in use and two requests.
    assert fleet.due_now in {3, 4, 5}
    assert 59 < fleet.oldest_s < 61 + time.time() - began
    assert fleet.lateness_s == 0
    assert [(w.name, w.alive, w.pages) for w in fleet.workers] == [("w1", True, 3)]
    assert abs(fleet.clock_skew_s) < 1 + time.time() - began  # as exact as the trip was quick


async def test_a_living_worker_is_listed_however_many_died_within_the_hour(
    frontier, redis_client, namespace
):
    """Else the screen says that the crawl has no worker."""
    dead = {f"dead-{n}": 1000 + n for n in range(MAX_WORKERS)}
    await redis_client.zadd(frontier.keys.workers, dead)
    await frontier.renew("w1", [], ttl_ms=60_000, info=orjson.dumps({"pages": 3}))
    await redis_client.zadd(frontier.keys.workers, dead)  # a renewal removes what is an hour old
    fleet = await read_fleet(redis_client, namespace)
    assert [worker.name for worker in fleet.alive] == ["w1"]
    assert len(fleet.workers) == MAX_WORKERS


@pytest.mark.parametrize("suffix", [":2", ":2024:11", ".x"])
async def test_a_crawl_is_listed_by_its_whole_name(redis_client, namespace, suffix):
    crawl = f"{namespace}{suffix}"
    await Frontier(redis_client, crawl).begin()
    assert crawl in await crawl_names(redis_client)


async def test_a_delay_lets_one_request_of_a_domain_be_due(frontier, redis_client, namespace):
    await frontier.set_delay("a.example", delay_ms=1000)
    await frontier.push([a_push(n) for n in range(10)])

    assert (await read_fleet(redis_client, namespace)).due_now == 1


async def test_work_that_no_worker_asks_for_is_late(redis_client, namespace):
    began = time.time()
    past = Frontier(redis_client, namespace, now_ms=int(began * 1000) - 30_000)
    await past.push([a_push(1, not_before_ms=past.now_ms + 10_000)])

    fleet = await read_fleet(redis_client, namespace)

    assert 19 < fleet.lateness_s < 21 + time.time() - began
    assert fleet.due_now == 1


async def test_a_missed_heartbeat_shows(redis_client, namespace):
    past = Frontier(redis_client, namespace, now_ms=int(time.time() * 1000) - 60_000)
    await past.renew("gone", [], ttl_ms=5000, info=b"not json")

    fleet = await read_fleet(redis_client, namespace)

    assert fleet.alive == []
    assert fleet.workers[0].name == "gone"


async def test_paused_and_blocked_domains_say_so(frontier, redis_client, namespace):
    await frontier.push([a_push(1), a_push(2, "b.example"), a_push(3, "c.example")])
    await frontier.pause("a.example")
    await frontier.block_until("b.example", 60_000)
    names = ["a.example", "b.example", "c.example", "nobody.example"]

    domains = await read_domains(redis_client, frontier.keys, names, time.time())

    assert [d.state for d in domains] == ["paused", "waiting", "ready", "idle"]
    assert 58 < domains[1].due_in_s <= 60


async def test_tallies_add_up_over_workers(frontier, redis_client):
    keys, now = frontier.keys, time.time()
    for _ in range(2):
        ended = {"a.example": {"done": 3, "retry": 1}, "b.example": {"done": 1}}
        await record(redis_client, keys, ended, 5, now)

    minute = (await read_minutes(redis_client, keys, now, 3))[-1]
    domains = await read_domains(redis_client, keys, ["a.example"], now)

    assert (minute.done, minute.retry, minute.items) == (8, 2, 10)
    assert (domains[0].done, domains[0].success) == (6, 0.75)
    assert await list_domains(redis_client, keys, limit=5) == ["a.example", "b.example"]


async def test_a_domains_key_of_another_program_costs_that_domain_only(
    redis_client: Redis, namespace: str
) -> None:
    keys, now = Keys(namespace), 1_700_000_000.0
    await redis_client.set(keys.domain("a.example"), "somebody else's")
    ended = {"a.example": {"done": 2}, "b.example": {"done": 3}}
    (error,) = await record(redis_client, keys, ended, 5, now)
    assert "WRONGTYPE" in str(error)
    assert await redis_client.hget(keys.domain("b.example"), "done") == b"3"
    assert (await read_minutes(redis_client, keys, now, 1))[-1].done == 5


@pytest.mark.parametrize("junk", ["x", "1.5", str(2**63 - 1)])
async def test_a_count_that_somebody_overwrote_begins_anew_and_the_others_count_once(
    redis_client: Redis, namespace: str, junk: str
) -> None:
    keys, now = Keys(namespace), 1_800_000_000
    ended = {"a.example": {"done": 3, "retry": 1}}
    await record(redis_client, keys, ended, 5, now)
    await redis_client.hset(keys.domain("a.example"), "done", junk)  # type: ignore[misc]
    await record(redis_client, keys, ended, 5, now)
    state = await redis_client.hgetall(keys.domain("a.example"))  # type: ignore[misc]
    assert state == {b"done": b"3", b"retry": b"2"}
    [minute] = await read_minutes(redis_client, keys, now, 1)
    assert (minute.done, minute.items) == (6, 10)


async def test_tallies_are_kept_by_ten_seconds_and_by_hour_as_well(frontier, redis_client):
    keys, now = frontier.keys, 6_000_000 * 3600 + 15.0
    for ago_s in (0, 20, 3600):
        ended = {"a.example": {"done": 3}}
        await record(redis_client, keys, ended, 5, now - ago_s, answers=4, took_s=0.25)

    tens = await read_steps(redis_client, keys, TENS, now, 4)
    hours = await read_steps(redis_client, keys, HOURS, now, 3)

    assert [(step.done, step.items, step.answers, step.took_ms) for step in tens] == [
        *((0, 0, 0, 0), (3, 5, 4, 250), (0, 0, 0, 0), (3, 5, 4, 250)),
    ]
    assert [step.done for step in hours] == [0, 6, 3]
    assert 0 < await redis_client.ttl(TENS.key(keys, int(now))) <= 7200


async def test_speed_is_that_of_whole_minutes(frontier, redis_client):
    now = 6_000_000 * 60 + 30.0
    for minutes_ago, done in ((2, 40), (1, 60), (0, 1)):
        ended = {"a.example": {"done": done}}
        await record(redis_client, frontier.keys, ended, 0, now - 60 * minutes_ago)

    minutes = await read_minutes(redis_client, frontier.keys, now, 60)

    assert len(minutes) == 60
    assert pages_a_minute(minutes) == 50


async def test_the_overview_says_why_requests_were_given_up(frontier, redis_client, namespace):
    await frontier.push([a_push(n) for n in range(4)])
    leased = await frontier.lease("w1", 4, ttl_ms=5000)
    done, *lost = leased.leases
    await frontier.commit([Done(lease=done)])
    notes = [note("timeout", "x", "w1"), note("timeout", "x", "w1"), b"\xff"]
    await frontier.bury([Burial(lease=x, note=n) for x, n in zip(lost, notes, strict=True)])

    overview = await read_overview(redis_client, namespace)

    assert overview.reasons == {"timeout": 2, "unknown": 1}
    assert overview.success == 0.25
    assert overview.eta_s == 0
    assert orjson.loads(orjson.dumps(overview.plain()))["counts"]["dead"] == 3


@pytest.mark.parametrize("plot_range", RANGES, ids=lambda plot_range: plot_range.slug)
async def test_a_plot_shows_the_pages_a_minute_of_a_slow_and_steady_crawl_up_to_its_end(
    redis_client, namespace, plot_range
):
    """The last point of a day was drawn before it was over, and less than one page a step as 0."""
    keys, every_s = Keys(namespace), 30
    now_s = 1_790_000_000 // 3600 * 3600 + 670.0
    for past_s in range(0, 2 * 3600, every_s):
        await record(redis_client, keys, {"a.example": {"done": 1}}, 0, now_s - past_s)
    points = await read_range(redis_client, keys, plot_range, now_s)
    # One page each half minute is in every third step of ten seconds.
    last = [point.done for point in points[-9 if plot_range.grain is TENS else -1 :]]
    assert 60 * sum(last) / len(last) / plot_range.step_s == pytest.approx(2, rel=0.2)

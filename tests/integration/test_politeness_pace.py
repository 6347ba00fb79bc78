"""No two requests to a site closer than its pause, whatever the number of workers (I5)."""

from __future__ import annotations

import asyncio
import json
import sys
from itertools import pairwise

import pytest
from redis.asyncio import Redis

from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Push
from scrapy_seine.frontier.round_trips.lateness import late_ms
from tests.helpers import patient
from tests.integration.politeness.crawl import ROOT, Crawl, stat
from tests.integration.politeness.site import Site, serve
from tests.integration.politeness.stamped import StampedSite, serve_stamped

pytestmark = pytest.mark.redis


async def senders(n: int, redis_url: str, crawl: str) -> tuple[int, dict[str, float]]:
    """Run workers without Scrapy until nothing is left.

    Returns how many missed their time, and for how long each slept before its write.
    """
    command = [sys.executable, "-m", "tests.integration.politeness.sender", redis_url, crawl]
    processes = [
        await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
        for _ in range(n)
    ]
    try:
        ends = asyncio.gather(*(process.communicate() for process in processes))
        reports = [json.loads(out) for out, _ in await asyncio.wait_for(ends, patient(100))]
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
    slept: dict[str, float] = {}
    for report in reports:
        slept |= report["slept"]
    return sum(report["missed"] for report in reports), slept


async def fill(
    redis: Redis, crawl: str, site: Site | StampedSite, pages: int, **limits: int
) -> None:
    frontier = Frontier(redis, crawl)
    await frontier.set_delay(site.domain, **limits)
    urls = site.pages(pages)
    await frontier.push(
        [Push(domain=site.domain, blob=u.encode(), fingerprint=i) for i, u in enumerate(urls)]
    )


def gaps_of(site: StampedSite, slept: dict[str, float]) -> list[float]:
    """Pauses between arrivals, shortest first.

    A worker that the system put to sleep between its look at the clock and its write sent late
    without knowing: that sleep counts as pause, since it is the machine's doing.
    """
    arrivals = sorted(arrival for arrival in site.arrivals if arrival[1].startswith("/p/"))
    return sorted(b - a + slept.get(path, 0) for (a, path), (b, _) in pairwise(arrivals))


def rate_of(site: StampedSite) -> float:
    times = site.times()
    return (len(times) - 1) / (times[-1] - times[0])


def check(site: StampedSite, pages: int, delay_ms: int, late: float, gaps: list[float]) -> None:
    rate = rate_of(site) * delay_ms / 1000
    print(f"least pauses {gaps[:3]} s, {rate:.1%} of the permitted rate, {late:g} late")
    assert len(site.times()) == pages
    # A machine that lets workers sleep through their slots costs time, never the pause.
    assert rate >= 0.9 or late > pages / 20


@pytest.mark.alone
async def test_eight_workers_keep_the_pause_and_use_it(redis_url, redis_client, namespace):
    delay_ms, pages = 50, 120
    async with serve_stamped() as site:
        await fill(redis_client, namespace, site, pages, delay_ms=delay_ms)
        late, slept = await senders(8, redis_url, namespace)
        gaps = gaps_of(site, slept)
        check(site, pages, delay_ms, late, gaps)
        # On a busy machine the workers' clocks agree to a millisecond.
        assert gaps[0] >= 0.95 * delay_ms / 1000 - 0.001


async def test_eight_workers_never_exceed_the_concurrency(redis_url, redis_client, namespace):
    async with serve(latency_s=0.05) as site:
        await fill(redis_client, namespace, site, 120, concurrency=3)
        await senders(8, redis_url, namespace)
        assert site.most_active == 3
        assert len(site.times()) == 120


async def test_the_pause_begins_when_a_late_request_left(redis_client, namespace):
    frontier = Frontier(redis_client, namespace, now_ms=1_000_000)
    await frontier.set_delay("a", delay_ms=1000)
    await frontier.push([Push(domain="a", blob=b"x", fingerprint=n) for n in range(3)])
    (lease,) = (await frontier.lease("w", 5, ttl_ms=60_000)).leases
    assert lease.slot_ms == 1_000_000
    frontier.now_ms = 1_000_700
    assert await frontier.note_late_send("a", 1_000_600) == 1_001_600
    # A clock that is ahead stops no site, and one that is behind shortens no pause.
    assert await frontier.note_late_send("a", 9_000_000) == 1_001_700
    assert await frontier.note_late_send("a", 5) == 1_001_700
    frontier.now_ms = 1_001_699
    assert not (await frontier.lease("w", 5, ttl_ms=60_000)).leases


async def test_another_time_is_never_before_the_own_one(redis_client, namespace):
    frontier = Frontier(redis_client, namespace, now_ms=1_000_000)
    await frontier.set_delay("a", delay_ms=1000)
    await frontier.push([Push(domain="a", blob=b"x", fingerprint=n) for n in range(3)])
    await frontier.lease("w", 5, ttl_ms=60_000)
    frontier.now_ms = 1_001_000
    (ahead,) = (await frontier.lease("w", 5, ttl_ms=60_000, lead_ms=25)).leases
    assert ahead.slot_ms > 1_001_000
    _, slot_ms, delay_ms = await frontier.reschedule(ahead)
    assert (slot_ms, delay_ms) == (ahead.slot_ms, 1000)


@pytest.mark.parametrize(("slack_ms", "next_ms"), [(0, 1020), (5, 1020), (200, 1200), (9000, 1500)])
async def test_who_may_be_late_makes_the_next_one_wait_for_it(
    redis_client, namespace, slack_ms, next_ms
):
    frontier = Frontier(redis_client, namespace, now_ms=1_000_000)
    await frontier.set_delay("a", delay_ms=1000)
    await frontier.push([Push(domain="a", blob=b"x", fingerprint=n) for n in range(3)])
    leased = await frontier.lease("w", 5, ttl_ms=60_000, slack_ms=slack_ms)
    (lease,) = leased.leases
    # Sent as late as it may be, it is still a whole pause ahead of the next one.
    assert late_ms(1000, lease.slack_ms) == next_ms - 1000
    frontier.now_ms = 1_000_000 + next_ms - 1
    assert not (await frontier.lease("w", 5, ttl_ms=60_000)).leases
    frontier.now_ms += 1
    (other,) = (await frontier.lease("w", 5, ttl_ms=60_000)).leases
    assert other.slot_ms == 1_000_000 + next_ms


async def test_another_time_has_room_for_lateness_too(redis_client, namespace):
    frontier = Frontier(redis_client, namespace, now_ms=1_000_000)
    await frontier.set_delay("a", delay_ms=1000)
    await frontier.push([Push(domain="a", blob=b"x", fingerprint=n) for n in range(3)])
    (late,) = (await frontier.lease("w", 5, ttl_ms=60_000)).leases
    frontier.now_ms = 1_000_100
    assert await frontier.reschedule(late, slack_ms=300) == (1_000_100, 1_000_100, 1000)
    frontier.now_ms = 1_001_399
    assert not (await frontier.lease("w", 5, ttl_ms=60_000)).leases


@pytest.mark.alone
@pytest.mark.timeout(180)
async def test_eight_real_crawls_keep_the_pause_and_use_it(redis_url, namespace):
    settings = {"SEINE_DOMAIN_DELAY_MS": 100}
    async with serve_stamped() as site, Crawl(redis_url, namespace, settings) as crawl:
        await crawl.start(8, first=True)
        await crawl.seed(site.pages(80))
        logs = await crawl.finish()
        gaps = gaps_of(site, {})
        check(site, 80, 100, stat(logs, "seine/slots_missed"), gaps)
        # The first requests included: each waits for its time when its connection is made already.
        # On a busy machine a worker may be put to sleep between its look at the clock and its
        # write; it finds that out right after, and its next one is spaced from there.
        slept_ms = max(0.0, max(stat([log], "seine/left_late_ms") for log in logs) - 10)
        assert gaps[0] >= 0.095 - slept_ms / 1000


@pytest.mark.alone
async def test_what_is_sent_again_on_another_connection_has_a_time_of_its_own(redis_url, namespace):
    settings = {"SEINE_DOMAIN_DELAY_MS": 200}
    async with serve_stamped(each=2) as site, Crawl(redis_url, namespace, settings) as crawl:
        await crawl.start(1, first=True)
        await crawl.seed(site.pages(12))
        logs = await crawl.finish()
        paths = [path for _, path in site.arrivals if path.startswith("/p/")]
        assert len(set(paths)) == 12
        assert len(paths) > 15  # closed at each third request
        slept_ms = max(0.0, max(stat([log], "seine/left_late_ms") for log in logs) - 10)
        assert gaps_of(site, {})[0] >= 0.195 - slept_ms / 1000


async def test_a_worker_says_that_it_changes_the_crawls_pace(
    redis_client: Redis, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Of two projects with one crawl's name, the last to start decides, and says so."""
    frontier = Frontier(redis_client, namespace)
    usual: dict[str, int] = {"concurrency": 8, "half_window_ms": 1000}
    await frontier.configure(delay_ms=500, **usual)
    await frontier.configure(delay_ms=500, **usual)
    assert not caplog.messages
    await frontier.configure(delay_ms=0, **usual)
    assert caplog.messages == [
        "this worker's settings change the crawl's delay from 500 to 0 ms at least between two "
        "requests to a site, for all workers"
    ]

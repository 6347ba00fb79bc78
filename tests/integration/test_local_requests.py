"""Requests that stay in their worker are lost neither in an outage nor because there are many."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs
import pytest
from redis.asyncio import Redis
from scrapy import Request

from crawler.stores.store_endpoints import redis_client as redis_client_of
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.local_requests import LocalRequests, is_stub
from scrapy_seine.errors import DecodeError
from scrapy_seine.frontier.encoding.seal import NO_SEAL
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Budgets, Burial, Lease, Push
from tests import started
from tests.helpers import patient, serving, serving_noted, wait_until, wait_until_async
from tests.integration.frontier_kit import exchange_of

pytestmark = pytest.mark.redis
START = """
import scrapy
from scrapy_seine.engine import local_requests, member

local_requests.MAX_REQUESTS, member._MOST_UNSENT = 300, 30


class Many(scrapy.Spider):
    name = "many"

    async def start(self):
        for n in range(900):
            yield scrapy.Request(f"{self.site}/{n}", callback=lambda page: {"url": page.url})
"""

JOB = """
import scrapy


class Job(scrapy.Spider):
    name = "job"
    custom_settings = {"DOWNLOAD_DELAY": 0.3}

    async def start(self):
        yield scrapy.Request(self.site, meta={"job_id": "j"})

    def parse(self, response):
        for n in range(30):
            yield response.follow(f"/{n}", callback=lambda page: None)
"""
SLOW = """
import scrapy


class Slow(scrapy.Spider):
    name = "slow"
    custom_settings = {"DOWNLOAD_SLOTS": {"127.0.0.1": {"delay": 0.5, "concurrency": 1}}}

    async def start(self):
        for n in range(4):
            yield scrapy.Request(f"{self.site}/{n}", callback=lambda page: None)
"""
LEASE = Lease(id="1", token="t", slot_ms=0, deliveries=0, stored=b"4000 a.example\n\x01")


class Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1")
        self.end_headers()
        self.wfile.write(b"x")

    def log_message(self, *_: object) -> None: ...


def local_of(frontier: Frontier, stats: list[str], name: str = "w") -> LocalRequests:
    return LocalRequests(
        name,
        exchange_of(frontier),
        InFlightTable(),
        NO_SEAL,
        add_to_stat=stats.append,
        wake=lambda: None,
    )


def begin(
    folder: Path, spider: str, redis_url: str, crawl: str, site: str
) -> subprocess.Popen[str]:
    settings = {
        "ADDONS": '{"scrapy_seine.Addon": 500}',
        "REDIS_URL": redis_url,
        "SEINE_CRAWL": crawl,
        "LOG_LEVEL": "INFO",
    }
    words = [part for pair in settings.items() for part in ("-s", "=".join(pair))]
    command = [sys.executable, "-m", "scrapy", "runspider", spider, *words, "-a", f"site={site}"]
    return started.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)


async def settled(local: LocalRequests) -> None:
    """Wait until each request is in the frontier, or is ended."""

    async def is_settled() -> bool:
        return not local.tasks

    await wait_until_async(is_settled, 10, "the requests have entered")


@pytest.mark.parametrize("refused", ["hsetnx", "expire", "evalsha|eval", "hincrby"])
async def test_a_local_request_enters_although_redis_failed_while_it_was_claimed(
    redis_client: Redis, redis_url: str, namespace: str, refused: str
) -> None:
    commands = refused.split("|")
    await redis_client.execute_command(
        "ACL", "SETUSER", namespace, "on", "nopass", "~*", "&*", "+@all"
    )
    limited = Redis(unix_socket_path=urlsplit(redis_url).path, username=namespace, password="x")
    stats: list[str] = []
    try:
        frontier = Frontier(limited, namespace)
        await frontier.beat("w", [], ttl_ms=60_000, info=b"{}")
        local = local_of(frontier, stats)
        await redis_client.execute_command(
            "ACL", "SETUSER", namespace, *(f"-{name}" for name in commands)
        )
        refusals = await _refusals(redis_client, namespace)
        assert local.keep(Request("http://a.example/x", callback=lambda response: None), None, 7)

        async def is_refused() -> bool:
            return await _refusals(redis_client, namespace) > refusals

        await wait_until_async(is_refused, 10, "Redis refuses a command")
        await redis_client.execute_command(
            "ACL", "SETUSER", namespace, *(f"+{name}" for name in commands)
        )

        await settled(local)
        assert "duplicates" not in stats
        assert (await frontier.counts()).ready == 1
    finally:
        await limited.aclose()
        await redis_client.execute_command("ACL", "DELUSER", namespace)


async def test_a_page_does_not_wait_for_requests_beyond_a_budget(
    redis_client: Redis, namespace: str
) -> None:
    frontier, stats = Frontier(redis_client, namespace), list[str]()
    budgets = Budgets(domain_pages=2)
    await frontier.configure(delay_ms=0, concurrency=9, half_window_ms=60_000, budgets=budgets)
    local = local_of(frontier, stats)
    page = local.inflight.begin(Request("http://a.example/"), LEASE)
    for number in range(5):
        request = Request(f"http://a.example/{number}", callback=lambda response: None)
        assert local.keep(request, page, number)
    await settled(local)
    assert ((await frontier.counts()).ready, page.holds, len(local)) == (2, 2, 2)
    assert stats.count("over_budget") == 3


async def test_requests_enter_again_in_another_state_unless_their_page_is_read_again(
    redis_client: Redis, namespace: str
) -> None:
    frontier, stats = Frontier(redis_client, namespace), list[str]()
    local = local_of(frontier, stats)
    pages = [Request(f"http://a.example/page/{number}") for number in range(2)]
    kept, lost = (
        local.inflight.begin(page, attrs.evolve(LEASE, id=f"page {number}"))
        for number, page in enumerate(pages)
    )
    for number, page in enumerate((kept, kept, lost)):
        request = Request(f"http://a.example/{number}", callback=lambda response: None)
        assert local.keep(request, page, number)
    await settled(local)
    leased = (await frontier.lease("w", 1, ttl_ms=60_000)).leases[0]
    running = local.request_of(leased)
    assert running is not None
    local.inflight.begin(running, leased)
    await frontier.erase()
    local.inflight.abandon(lambda lease: lease.id in {"page 1", leased.id})
    local.restore()
    await settled(local)
    assert ((await frontier.counts()).ready, kept.holds, len(local)) == (2, 2, 2)


async def test_a_request_that_redis_still_knows_outlives_the_page_that_is_read_again(
    redis_client: Redis, namespace: str
) -> None:
    """Its worker dropped it, and the page's next reading met its fingerprint as known."""
    frontier, stats = Frontier(redis_client, namespace), list[str]()
    await frontier.beat("w", [], ttl_ms=60_000, info=b"{}")
    local = local_of(frontier, stats)
    page = local.inflight.begin(Request("http://a.example/"), LEASE)
    request = Request("http://a.example/1", callback=lambda response: None)
    assert local.keep(request, page, 1)
    await settled(local)
    local.inflight.abandon()
    local.restore()
    await settled(local)
    again = local.inflight.begin(Request("http://a.example/"), attrs.evolve(LEASE, token="u"))
    assert local.keep(request.copy(), again, 1)
    await settled(local)
    leases = (await frontier.lease("w", 9, ttl_ms=60_000)).leases
    assert len([lease for lease in leases if local.request_of(lease)]) == 1


async def test_a_request_that_took_the_last_of_a_budget_is_not_refused_when_it_is_pushed_again(
    redis_client: Redis, namespace: str
) -> None:
    """The reply may have been lost, or Redis fell back to a state that has it."""
    frontier, stats = Frontier(redis_client, namespace), list[str]()
    budgets = Budgets(domain_pages=1)
    await frontier.configure(delay_ms=0, concurrency=9, half_window_ms=60_000, budgets=budgets)
    local = local_of(frontier, stats)
    page = local.inflight.begin(Request("http://a.example/"), LEASE)
    assert local.keep(Request("http://a.example/1", callback=lambda response: None), page, 1)
    await settled(local)
    local.restore()
    await settled(local)
    (lease,) = (await frontier.lease("w", 9, ttl_ms=60_000)).leases
    assert local.request_of(lease) is not None
    assert "over_budget" not in stats


async def test_a_lease_that_is_handed_over_costs_no_look_at_each_request(
    redis_client: Redis, namespace: str
) -> None:
    """With 10,000 requests and a second worker, these were 100 million looks."""

    class Unasked(frozenset[str]):
        def __contains__(self, job: object) -> bool:
            raise AssertionError("no job is cancelled")

    local = local_of(Frontier(redis_client, namespace), [])
    assert local.keep(Request("http://a.example/", callback=lambda response: None), None, 1)
    await settled(local)
    local.fetch(Unasked())
    await settled(local)


async def test_a_push_beyond_a_budget_may_be_repeated_until_there_is_room(
    redis_client: Redis, namespace: str
) -> None:
    frontier = Frontier(redis_client, namespace)
    pushes = [Push(domain="a", blob=b"x", mark=f"{n}") for n in range(2)]
    for room, replies in (
        (1, ["OK", "OVER"]),
        (1, ["DUPLICATE", "OVER"]),
        (2, ["DUPLICATE", "OK"]),
    ):
        budgets = Budgets(domain_pages=room)
        await frontier.configure(delay_ms=0, concurrency=9, half_window_ms=60_000, budgets=budgets)
        assert await frontier.push(pushes) == replies


async def test_a_replayed_request_of_a_worker_stays_a_dead_letter_with_the_reason(
    redis_client: Redis, namespace: str
) -> None:
    """Its replay counted as done, though nobody had the request any more."""
    frontier, stats = Frontier(redis_client, namespace), list[str]()
    local = local_of(frontier, stats)
    page = local.inflight.begin(Request("http://a.example/"), LEASE)
    request = Request("http://a.example/1", callback=lambda response: None)
    assert local.keep(request, page, None)
    await settled(local)
    (lease,) = (await frontier.lease("w", 1, ttl_ms=60_000)).leases
    assert local.request_of(lease) is request
    local.release_parent(local.inflight.begin(request, lease))
    await frontier.bury([Burial(lease=lease, note=b"{}")])
    assert await frontier.requeue_dead([lease.id]) == 1
    (again,) = (await frontier.lease("another", 1, ttl_ms=60_000)).leases
    assert is_stub(again)
    for worker in (local, local_of(frontier, stats, name="another")):
        with pytest.raises(DecodeError, match=r"a\.example/1: it could not be stored"):
            worker.request_of(again)


@pytest.mark.parametrize("has_page", [True, False])
async def test_a_request_of_start_that_is_lost_with_its_worker_is_said(
    redis_client: Redis, namespace: str, caplog: pytest.LogCaptureFixture, has_page: bool
) -> None:
    """A page is read again and yields its requests again; of a start that is over nothing is."""
    frontier, stats = Frontier(redis_client, namespace), list[str]()
    dead, other = local_of(frontier, stats, name="dead"), local_of(frontier, stats, name="other")
    page = dead.inflight.begin(Request("http://a.example/"), LEASE) if has_page else None
    request = Request("http://me:secret@a.example/1", callback=lambda response: None)
    assert dead.keep(request, page, 1)
    await settled(dead)
    (lease,) = (await frontier.lease("other", 1, ttl_ms=60_000)).leases
    assert other.request_of(lease) is None
    await settled(other)
    assert ("lost with worker dead, for instance" in caplog.text) is not has_page
    assert "secret" not in caplog.text


async def test_a_request_of_start_is_sent_by_another_worker_that_made_it_too(
    redis_client: Redis, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Each worker's `start` makes it, and it was lost with the one worker that sent it."""
    frontier, stats = Frontier(redis_client, namespace), list[str]()
    first, other = local_of(frontier, stats, name="first"), local_of(frontier, stats, name="other")
    await frontier.renew("first", [], ttl_ms=60_000, info=b"{}")
    requests = [Request("http://a.example/1", callback=lambda response: None) for _ in range(2)]
    for worker, request in zip((first, other), requests, strict=True):
        assert worker.keep(request, None, 1)
        await settled(worker)
    (lease,) = (await frontier.lease("other", 1, ttl_ms=60_000)).leases
    assert len(other) == 0

    await frontier.sign_off("first")
    assert other.request_of(lease) is None
    await settled(other)
    assert other.next() is lease  # the same page, so that a feed has its items once
    assert other.request_of(lease) is requests[1]
    assert "lost" not in caplog.text


async def test_a_request_of_start_that_another_worker_sends_by_now_is_not_called_lost(
    redis_client: Redis, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A pod that is started anew makes it again, and the dead one's stub is there still."""
    frontier, stats = Frontier(redis_client, namespace), list[str]()
    dead, anew, other = (local_of(frontier, stats, name=name) for name in ("dead", "anew", "other"))
    for worker in (dead, anew, other):
        assert worker.keep(Request("http://a.example/1", callback=lambda page: None), None, 1)
        await settled(worker)
        if worker is anew:
            await frontier.renew("anew", [], ttl_ms=60_000, info=b"{}")
    (lease, _) = (await frontier.lease("other", 2, ttl_ms=60_000)).leases
    assert other.request_of(lease) is None
    await settled(other)
    assert other.next() is None
    assert "lost" not in caplog.text


async def test_a_request_of_start_outlives_a_second_worker_that_sent_it(
    redis_client: Redis, namespace: str
) -> None:
    """The worker that took it over died as well, and a third one ended it as sent by now."""
    frontier, stats = Frontier(redis_client, namespace), list[str]()
    names = ("first", "second", "third")
    workers = [local_of(frontier, stats, name=name) for name in names]
    for name, worker in zip(names, workers, strict=True):
        await frontier.renew(name, [], ttl_ms=60_000, info=b"{}")
        assert worker.keep(Request("http://a.example/1", callback=lambda page: None), None, 1)
        await settled(worker)
    for before, name, worker in zip(names, names[1:], workers[1:], strict=False):
        await frontier.sign_off(before)
        (lease,) = (await frontier.lease(name, 1, ttl_ms=60_000)).leases
        assert worker.request_of(lease) is None
        await settled(worker)
        assert worker.next() is lease
        assert await frontier.release([lease]) == ["OK"]  # its worker dies
    assert "ignored/local" not in stats


async def test_a_spare_is_kept_although_redis_failed_while_it_was_taken(
    redis_client: Redis, redis_url: str, namespace: str
) -> None:
    frontier, stats = Frontier(redis_client, namespace), list[str]()
    await redis_client.execute_command(
        "ACL", "SETUSER", namespace, "on", "nopass", "~*", "&*", "+@all"
    )
    limited = Redis(unix_socket_path=urlsplit(redis_url).path, username=namespace, password="x")
    try:
        first = local_of(frontier, stats, name="first")
        other = local_of(Frontier(limited, namespace), stats, name="other")
        await frontier.renew("first", [], ttl_ms=60_000, info=b"{}")
        for worker in (first, other):
            assert worker.keep(Request("http://a.example/1", callback=lambda page: None), None, 1)
            await settled(worker)
        await frontier.sign_off("first")
        (lease,) = (await frontier.lease("other", 1, ttl_ms=60_000)).leases
        await redis_client.execute_command("ACL", "SETUSER", namespace, "-hset")
        assert other.request_of(lease) is None
        await settled(other)
        assert other.next() is None
        assert other.exchange.endings.releases == [lease]
        await redis_client.execute_command("ACL", "SETUSER", namespace, "+hset")
        assert other.request_of(lease) is None
        await settled(other)
        assert other.next() is lease
    finally:
        await limited.aclose()
        await redis_client.execute_command("ACL", "DELUSER", namespace)


def test_a_start_waits_while_its_worker_keeps_many_requests(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    (tmp_path / "many.py").write_text(START, "utf-8")
    with serving(Site) as site:
        worker = begin(tmp_path, "many.py", redis_url, namespace, site)
        _, log = worker.communicate(timeout=patient(60))
    assert "'item_scraped_count': 900" in log, log[-3000:]
    assert "local_refused" not in log


def test_a_slots_pause_holds_for_requests_that_stay_in_their_worker(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    """I5: no other request told the frontier of it."""
    (tmp_path / "slow.py").write_text(SLOW, "utf-8")
    with serving_noted(Site) as (site, asked):
        worker = begin(tmp_path, "slow.py", redis_url, namespace, site)
        _, log = worker.communicate(timeout=patient(60))
    assert len(asked) == 4, log[-3000:]
    # Three quarters: the first one may have been late at the site.
    assert asked[-1][0] - asked[0][0] > 0.75 * 3 * 0.5


async def test_a_request_that_is_cleared_while_it_enters_is_no_duplicate_afterwards(
    redis_client: Redis, namespace: str
) -> None:
    """It claimed its URL after it was dropped, so that the next request for it ended unsent."""
    frontier, stats = Frontier(redis_client, namespace), []
    local = local_of(frontier, stats)
    send_limits = local.before

    async def clear_meanwhile(pushes: Any) -> None:
        local.clear("a.example")

    request = Request("http://a.example/x", callback=lambda response: None)
    for local.before in (clear_meanwhile, send_limits):
        assert local.keep(request, None, 7)
        await settled(local)
    assert stats == ["local"] * 2
    assert (await frontier.counts()).undone == len(local) == 1


async def cancel(frontier: Frontier, domain: str) -> None:
    """Cancel job "j" as `scrapy jobs cancel` does."""
    await mark_cancelled(frontier, domain)
    await frontier.clear_job(domain, "j")


async def mark_cancelled(frontier: Frontier, domain: str) -> None:
    """Cancel job "j", whose requests are not at a domain of its seeds."""
    client: Any = frontier.redis
    await client.sadd(frontier.keys.cancelled, "j")
    await client.publish(frontier.keys.wake, "cancel")


async def clear(frontier: Frontier, domain: str) -> None:
    await frontier.clear()


async def clear_domain(frontier: Frontier, domain: str) -> None:
    await frontier.clear_domain(domain)


async def clear_unheard(frontier: Frontier, domain: str) -> None:
    """Clear a domain while the worker's connection is cut that would tell of it."""
    client: Any = frontier.redis
    assert await client.client_kill_filter(_type="pubsub")
    await frontier.clear_domain(domain)


@pytest.mark.parametrize("act", [cancel, mark_cancelled, clear, clear_domain, clear_unheard])
def test_a_worker_ends_where_what_stays_in_it_is_cancelled_or_cleared(
    tmp_path: Path, redis_url: str, namespace: str, act: Any
) -> None:
    """The page that had yielded the requests waited for them for ever."""
    (tmp_path / "job.py").write_text(JOB, "utf-8")

    async def on_frontier(site: str) -> None:
        client = redis_client_of(redis_url)
        try:
            await act(Frontier(client, namespace), urlsplit(site).netloc)
        finally:
            await client.aclose()

    with serving_noted(Site) as (site, served):
        worker = begin(tmp_path, "job.py", redis_url, namespace, site)
        try:
            wait_until(lambda: len(served) > 1, 30, "the first request of the page is sent")
            asyncio.run(on_frontier(site))
            assert worker.wait(patient(20)) == 0
        finally:
            worker.kill()
            worker.communicate()
    assert len(served) < 30 or act is clear_unheard


async def _refusals(client: Redis, user: str) -> int:
    """How many commands of a user Redis refused lately."""
    entries: Any = await client.acl_log(1000)
    return sum(int(entry["count"]) for entry in entries if entry["username"] == user)

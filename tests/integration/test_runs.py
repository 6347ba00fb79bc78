"""Runs of a crawl: a start request of a crawl that has ended begins the next one, once."""

from __future__ import annotations

import asyncio

import pytest
from rich.console import Console

from scrapy_seine.frontier import runs
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.model import Done, Push
from scrapy_seine.frontier.runs import Latest, begins, enter, list_runs
from scrapy_seine.reads import terminal_tables
from scrapy_seine.reads.overview import read_overview
from tests.integration.frontier_kit import join_frontier

pytestmark = pytest.mark.redis


@pytest.fixture(params=[1, 3])
async def frontier(request, redis_client, namespace) -> Frontier:
    return await join_frontier(redis_client, namespace, request.param)


async def join(frontier: Frontier, name: str = "", keep: bool = False, age_ms: float = 0):
    return await enter(frontier, name=name, keep=keep, age_ms=age_ms)


async def work(frontier: Frontier, fingerprint: int) -> None:
    await frontier.push([Push(domain="shop.example", blob=b"x", fingerprint=fingerprint)])
    leased = await frontier.lease("w", 1, ttl_ms=30_000)
    await frontier.commit([Done(lease=lease) for lease in leased.leases])


async def test_the_first_of_ten_simultaneous_starters_begins_and_the_others_join(frontier):
    found = await asyncio.gather(*(join(frontier) for _ in range(10)))

    assert {number for number, _ in found} == {1}
    assert sum(began for _, began in found) == 1


async def test_a_starter_that_comes_after_the_end_begins_the_next_run(frontier):
    await join(frontier)
    await work(frontier, 1)
    await asyncio.sleep(0.01)

    found = await asyncio.gather(*(join(frontier) for _ in range(10)))

    assert {number for number, _ in found} == {2}
    assert sum(began for _, began in found) == 1


async def test_of_old_runs_not_even_the_names_stay(frontier, monkeypatch):
    """Each run's name stayed, so that the key grew by each run of a crawl for ever."""
    monkeypatch.setattr(runs, "KEPT", 2)
    for n in range(5):
        assert await join(frontier, f"day {n}") == (n + 1, True)
    kept = await frontier.redis.hkeys(Keys(frontier.keys.crawl).runs)
    assert sorted(name for name in kept if name.startswith(b"name:")) == [
        b"name:day 3",
        b"name:day 4",
    ]


async def test_a_run_is_joined_while_it_has_work_or_ended_after_the_process_began(frontier):
    await join(frontier)
    assert await join(frontier) == (1, False)  # its beginner has not pushed anything yet
    await frontier.push([Push(domain="shop.example", blob=b"x")])
    assert await join(frontier) == (1, False)
    await work(frontier, 1)
    await asyncio.sleep(0.01)

    assert await join(frontier, age_ms=60_000) == (1, False)


async def test_a_run_goes_on_while_a_live_worker_makes_start_requests(frontier):
    await join(frontier)
    await work(frontier, 1)
    await asyncio.sleep(0.01)
    await frontier.renew("slow", [], ttl_ms=30_000, info=b'{"starting": 1}')
    assert await join(frontier) == (1, False)

    await frontier.sign_off("slow")

    assert await join(frontier) == (2, True)


async def test_a_pod_that_is_restarted_never_begins_another_run(frontier):
    assert await join(frontier, keep=True) == (1, True)
    await work(frontier, 1)
    await asyncio.sleep(0.01)

    assert await join(frontier, keep=True) == (1, False)


async def test_a_named_run_begins_once_and_is_joined_by_its_name_for_ever(frontier):
    found = await asyncio.gather(*(join(frontier, "monday") for _ in range(10)))
    assert {number for number, _ in found} == {1}
    await work(frontier, 1)
    await asyncio.sleep(0.01)
    assert await join(frontier, "monday") == (1, False)
    assert await join(frontier, "tuesday") == (2, True)

    assert await join(frontier, "monday") == (1, False)


async def test_each_run_has_its_own_totals(frontier):
    await join(frontier)
    await work(frontier, 1)
    await asyncio.sleep(0.01)
    await join(frontier, "second")
    await work(frontier, 2)
    await work(frontier, 3)

    newest, first = await list_runs(frontier)

    assert (newest.number, newest.name, newest.totals["pushed"]) == (2, "second", 2)
    assert (first.number, first.name, first.totals["pushed"]) == (1, "", 1)
    assert newest.at >= first.at > 0

    overview = await read_overview(frontier.redis, frontier.keys.crawl)
    assert list(overview.runs) == [newest, first]
    assert [run["name"] for run in overview.plain()["runs"]] == ["second", ""]
    console = Console(width=120)
    with console.capture() as shown:
        console.print(terminal_tables.status(overview))
    rows = [line.split() for line in shown.get().splitlines()]
    assert ["2", "second"] in [row[:2] for row in rows]


def test_a_crawl_that_never_ended_is_not_begun_anew():
    never = Latest(number=1, begun=1000.0)
    assert not begins(never, name="", keep=False, since=2000.0)

"""The ladder's memory: counted together, moved once, remembered."""

from __future__ import annotations

import asyncio

import pytest

from crawler.access.ladder import Decision, Policy, View, decide
from crawler.access.ladder_store import LadderStore

SHOP = "shop.example"
ALL = ("plain", "tls", "pool", "browser", "browser_pool")
pytestmark = pytest.mark.redis


@pytest.fixture
def steps(redis_client, namespace):
    return LadderStore(redis_client, namespace, Policy(rest_s=60), now_ms=1_800_000_000_000)


async def climbed(steps: LadderStore) -> View:
    view = await steps.tally(SHOP, {"plain": (0, 3)})
    found = decide(view, ALL, steps.policy)
    assert found is not None
    assert await steps.move(SHOP, view, found)
    return await steps.tally(SHOP, {})


async def test_workers_count_together_and_one_of_them_moves(steps) -> None:
    views = [await steps.tally(SHOP, {"plain": (0, 1)}) for _ in range(3)]
    assert [view.bad for view in views] == [1, 2, 3]
    climb = Decision("climb", "tls", "why not")
    moved = await asyncio.gather(*(steps.move(SHOP, views[-1], climb) for _ in range(4)))
    assert sorted(moved) == [False, False, False, True]
    view = await steps.tally(SHOP, {})
    assert (view.step, view.bad, view.reason) == ("tls", 0, "why not")


async def test_answers_of_requests_sent_before_the_move_do_not_count(steps) -> None:
    await climbed(steps)
    view = await steps.tally(SHOP, {"plain": (0, 9), "tls": (2, 1)})
    assert (view.good, view.bad) == (2, 1)


async def test_old_answers_weigh_less(steps) -> None:
    await steps.tally(SHOP, {"plain": (10, 2)})
    steps.now_ms += 61_000
    view = await steps.tally(SHOP, {"plain": (0, 1)})
    assert (view.good, view.bad) == (5, 2)


async def test_a_probe_sends_as_many_requests_as_it_may_and_brings_the_domain_down(steps) -> None:
    view = await climbed(steps)
    steps.now_ms += 60_001
    probe = decide(await steps.tally(SHOP, {}), ALL, steps.policy)
    assert probe is not None
    assert (probe.kind, probe.to) == ("probe", "plain")
    await steps.move(SHOP, view, probe)
    assert [await steps.ticket(SHOP, "plain") for _ in range(5)] == [True] * 3 + [False] * 2
    view = await steps.tally(SHOP, {"plain": (3, 0), "tls": (9, 0)})
    down = decide(view, ALL, steps.policy)
    assert down is not None
    await steps.move(SHOP, view, down)
    assert (await steps.tally(SHOP, {})).step == "plain"
    places = await steps.places()
    assert [line.split()[1:3] for line in places[0].path] == [["tls", "plain"], ["plain", "tls"]]


async def test_a_failed_probe_makes_the_next_rest_longer(steps) -> None:
    view = await climbed(steps)
    steps.now_ms += 60_001
    await steps.move(SHOP, view, Decision("probe", "plain", ""))
    view = await steps.tally(SHOP, {"plain": (1, 1)})
    failed = decide(view, ALL, steps.policy)
    assert failed is not None
    assert failed.kind == "fail"
    await steps.move(SHOP, view, failed)
    view = await steps.tally(SHOP, {})
    assert (view.step, view.probe, view.rests) == ("tls", "", 1)
    assert not await steps.ticket(SHOP, "plain")


async def test_dear_pages_are_paid_from_the_hours_budget(steps) -> None:
    view = await steps.tally(SHOP, {"plain": (100, 0), "browser": (2, 1)})
    assert view.spent == 120
    steps.now_ms += 3_600_000
    assert (await steps.tally(SHOP, {})).spent == 0


async def test_a_domain_can_be_sent_back_to_the_bottom(steps) -> None:
    await climbed(steps)
    assert await steps.reset(SHOP)
    assert not await steps.reset(SHOP)
    assert await steps.places() == []


async def test_a_fleet_knows_whether_it_has_a_browser(steps) -> None:
    assert not await steps.has_browsers()
    await steps.announce_browser()
    assert await steps.has_browsers()


async def test_domains_that_need_a_browser_are_named_while_there_is_none(steps) -> None:
    await climbed(steps)
    view = await steps.tally("other.example", {"plain": (0, 9)})
    await steps.move("other.example", view, Decision("climb", "browser", "9 of 9"))
    assert await steps.waiting() == ["other.example"]
    await steps.announce_browser()
    assert await steps.waiting() == []


@pytest.mark.parametrize("junk", ["x", "1.5", str(2**63 - 1), "nan", "-1", ""])
async def test_numbers_that_somebody_overwrote_leave_a_domain_its_ladder(steps, junk: str) -> None:
    await climbed(steps)
    key = f"{steps.key}d:{SHOP}"
    fields = [f for f in await steps.redis.hkeys(key) if f not in {b"step", b"probe", b"reason"}]
    await steps.redis.hset(key, mapping=dict.fromkeys(fields, junk))
    await steps.redis.set(f"{steps.key}spent:{steps.now_ms // 3_600_000}", junk)
    for _ in range(3):
        view = await steps.tally(SHOP, {"tls": (0, 3), "browser": (0, 1)})
        if (found := decide(view, ALL, steps.policy)) is not None:
            await steps.move(SHOP, view, found)
    view = await steps.tally(SHOP, {})
    assert view.probe or view.step in ALL[2:]

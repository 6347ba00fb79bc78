"""I1 and I2 while requests get another priority, and which of them get it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from redis.asyncio import Redis

from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.change_priority import (
    CHANGED_AT_ONCE,
    Changed,
    RequestSelection,
    checked,
)
from scrapy_seine.frontier.encoding.codec import decode, encode
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Burial, Done, Lease, Push, Retry
from scrapy_seine.frontier.opening import frontier_of
from tests.integration.frontier_kit import T0

pytestmark = pytest.mark.redis
#: Each partition of three has one.
HOSTS = ("a", "b", "g")


@pytest.fixture(params=[1, 3])
def frontier(request: pytest.FixtureRequest, redis_client: Redis, namespace: str) -> Frontier:
    return frontier_of(redis_client, namespace, request.param, now_ms=T0).sealed(["s" * 32])


def push(
    frontier: Frontier,
    path: str,
    host: str = "a",
    site: str = "",
    wait_ms: int = 0,
    **more: Any,
) -> Push:
    fields = {"url": f"http://{host}/{path}", "priority": 5}
    if site:
        fields["meta"] = {"site_id": site}
    not_before = frontier.now_ms + wait_ms if wait_ms else 0
    made = Push(domain=host, blob=encode(fields), priority=5, not_before_ms=not_before, **more)
    return frontier.seal.push(made)


async def take(frontier: Frontier, n: int = 1000) -> list[Lease]:
    found = await frontier.lease("w", n, ttl_ms=30_000)
    for lease in found.leases:
        frontier.seal.check(lease.stored)
    return list(found.leases)


def paths(leases: Sequence[Lease]) -> list[str]:
    return [decode(x.blob)["url"].removeprefix("http://") for x in leases]


async def test_what_is_chosen_leaves_first_and_in_the_order_in_which_it_came(
    frontier: Frontier,
) -> None:
    await frontier.configure(delay_ms=0, concurrency=1000, half_window_ms=10**9)
    await frontier.push([push(frontier, f"{kind}/{n}") for n in range(150) for kind in "xy"])
    did = await frontier.set_priority(50, RequestSelection(url="http://*/y/*"))
    assert did == Changed(changed=150)
    assert await frontier.set_priority(50, RequestSelection(url="http://*/y/*")) == Changed(
        unchanged=150
    )
    assert paths(await take(frontier)) == [f"a/{kind}/{n}" for kind in "yx" for n in range(150)]


async def test_a_domain_that_became_more_urgent_is_served_before_others(
    frontier: Frontier,
) -> None:
    beside = next(f"h{n}" for n in range(99) if frontier.part(f"h{n}") is frontier.part("a"))
    await frontier.push([push(frontier, "1"), push(frontier, "1", beside)])
    await frontier.set_priority(6, RequestSelection(domain=beside))
    assert paths((await frontier.part("a").lease("w", 1, ttl_ms=1000)).leases) == [f"{beside}/1"]


@pytest.mark.parametrize(
    ("which", "chosen"),
    [
        (RequestSelection(domain="a"), ["a/1", "a/2", "a/3", "a/late"]),
        (RequestSelection(job="j:1"), ["a/2", "b/1"]),
        (RequestSelection(site="shop"), ["a/3", "g/1"]),
        (RequestSelection(url="http://a/*"), ["a/1", "a/2", "a/3", "a/late"]),
        (RequestSelection(url="http://a/1"), ["a/1"]),
        (RequestSelection(domain="a", job="j:1", url="http://a/2"), ["a/2"]),
        (RequestSelection(domain="b", site="shop"), []),
        (RequestSelection(domain="nobody"), []),
        (RequestSelection(), ["a/1", "a/2", "a/3", "a/late", "b/1", "g/1"]),
    ],
)
async def test_each_choice_narrows(
    frontier: Frontier, which: RequestSelection, chosen: list[str]
) -> None:
    await frontier.push(
        [
            push(frontier, "1"),
            push(frontier, "2", job="j:1"),
            push(frontier, "3", site="shop"),
            push(frontier, "late", wait_ms=1000),
            push(frontier, "1", "b", job="j:1"),
            push(frontier, "1", "g", site="shop"),
        ]
    )
    assert await frontier.set_priority(-7, which) == Changed(changed=len(chosen))
    frontier.now_ms += 2000
    leases = await take(frontier)
    assert len(leases) == 6
    changed = [x for x in leases if decode(x.blob)["priority"] == -7]
    assert sorted(paths(changed)) == chosen
    assert {x.level for x in changed} <= {4007}
    assert {x.level for x in leases if x not in changed} <= {3995}


async def test_what_is_in_flight_or_dead_stays_as_it_is(frontier: Frontier) -> None:
    await frontier.push([push(frontier, "1"), push(frontier, "2")])
    flying, dead = await take(frontier)
    await frontier.bury([Burial(lease=dead, note=b"{}")])
    assert await frontier.set_priority(9, RequestSelection()) == Changed()
    assert await frontier.commit([Done(lease=flying)]) == ["OK"]
    assert await frontier.requeue_dead([dead.id]) == 1
    assert await frontier.set_priority(9, RequestSelection(domain="a")) == Changed(changed=1)


async def test_a_further_try_keeps_it(frontier: Frontier) -> None:
    """Its worker places it by the packed request."""
    await frontier.push([push(frontier, "1")])
    await frontier.set_priority(0, RequestSelection(domain="a"))
    (lease,) = await take(frontier)
    assert "priority" not in decode(lease.blob), "as a request of priority 0 is packed"
    assert lease.level == 4000


async def test_a_request_that_a_worker_sent_back_meanwhile_is_not_overwritten(
    frontier: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    await frontier.push([push(frontier, "1"), push(frontier, "2")])
    part = frontier.part("a")
    run = part.run

    async def first_a_worker(name: str, *args: Any) -> Any:
        if name == "set_priority":
            monkeypatch.undo()
            flying, failed = await take(frontier)
            again = Push(domain="a", blob=encode({"url": "http://a/2", "meta": {"retry_count": 1}}))
            again = frontier.seal.push(again)
            await frontier.retry([Retry(lease=failed, wait_ms=0, push=again)])
            assert paths([flying]) == ["a/1"]
        return await run(name, *args)

    monkeypatch.setattr(part, "run", first_a_worker)
    assert await frontier.set_priority(9, RequestSelection(url="http:*")) == Changed()
    (back,) = await take(frontier)
    assert decode(back.blob)["meta"] == {"retry_count": 1}


async def test_what_nobody_of_the_fleet_signed_is_left_alone(frontier: Frontier) -> None:
    await frontier.push([Push(domain="a", blob=encode({"url": "http://a/1"})), push(frontier, "2")])
    await frontier.push([Push(domain="a", blob=b"junk")])
    assert await frontier.set_priority(9, RequestSelection()) == Changed(changed=1, unreadable=2)


async def test_a_command_that_dies_loses_nothing_and_is_finished_by_the_next(
    frontier: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = 3 * CHANGED_AT_ONCE
    await frontier.configure(delay_ms=0, concurrency=1000, half_window_ms=10**9)
    await frontier.push([push(frontier, str(i)) for i in range(n)])
    part, calls = frontier.part("a"), 0
    run = part.run

    async def dies(name: str, *args: Any) -> Any:
        nonlocal calls
        calls += name == "set_priority"
        if calls == 2:
            raise asyncio.CancelledError
        return await run(name, *args)

    with monkeypatch.context() as patched:
        patched.setattr(part, "run", dies)
        with pytest.raises(asyncio.CancelledError):
            await frontier.set_priority(9, RequestSelection(domain="a"))
    assert (await frontier.counts()).ready == n
    did = await frontier.set_priority(9, RequestSelection(domain="a"))
    assert did == Changed(changed=n - CHANGED_AT_ONCE, unchanged=CHANGED_AT_ONCE)
    assert paths(await take(frontier)) == [f"a/{i}" for i in range(n)]


@pytest.mark.parametrize("text", ["", "x", "4001", "-4001", "1.5", "١", "1e3", "9" * 5000])
def test_what_is_no_priority_is_refused_in_a_line(text: str) -> None:
    with pytest.raises(ConfigError, match="is no priority") as refused:
        checked(text)
    assert len(str(refused.value)) < 200

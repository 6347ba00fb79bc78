"""Which lease a worker may begin, where earlier workers died with some."""

from __future__ import annotations

import asyncio
from typing import Any

from redis.exceptions import ConnectionError as Unreachable
from scrapy import Request
from scrapy.settings import Settings

from scrapy_seine.config import FrontierConfig
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.reading import tried_alone
from scrapy_seine.frontier.model import Lease
from tests.helpers import patient


class Told:
    """A frontier that notes what it is told."""

    def __init__(self, *fails: Exception) -> None:
        self.fails, self.said = list(fails), list[str]()

    async def isolate(self, lease: Lease, *, begins: bool) -> bool:
        self.said.append(lease.id if begins else f"{lease.id} is over")
        if self.fails:
            raise self.fails.pop()
        return True


def lease(n: int, deliveries: int = 0) -> Lease:
    return Lease(id=str(n), token=f"9{n}", slot_ms=0, deliveries=deliveries, stored=b"")


class Case:
    """A worker's table, and who says what may begin."""

    def __init__(self, frontier: Any) -> None:
        self.inflight = InFlightTable()
        self.woken = asyncio.Event()
        config = FrontierConfig.from_settings(Settings({"SEINE_MAX_DELIVERIES": 5}), "spider")
        self.suspects = tried_alone.Suspects(
            frontier, self.inflight, config, self.woken.set, lambda name: None
        )

    def begin(self, of: Lease) -> Request:
        request = Request("http://site.example/")
        self.inflight.begin(request, of)
        return request

    async def told(self) -> None:
        await asyncio.wait_for(self.woken.wait(), patient(30))
        self.woken.clear()


async def test_a_suspect_waits_for_the_others_and_nothing_begins_beside_it() -> None:
    case = Case(frontier := Told())
    suspect = lease(2, deliveries=3)
    assert case.suspects.admits(lease(1, deliveries=2))
    first = case.begin(lease(1))
    assert not case.suspects.admits(suspect)
    case.inflight.record_finished(first)
    assert frontier.said == []
    assert not case.suspects.admits(suspect)  # Redis is told first
    await case.told()
    assert frontier.said == ["2"]
    assert case.suspects.admits(suspect)
    alone = case.begin(suspect)
    assert not case.suspects.admits(lease(3))
    assert not case.suspects.admits(lease(4, deliveries=4))
    case.inflight.record_finished(alone)
    local = case.begin(lease(5))  # a request that cannot be stored comes another way
    assert not case.suspects.admits(lease(3))  # a death would still be blamed on the suspect
    await case.told()
    assert frontier.said == ["2", "2 is over"]
    assert case.suspects.admits(lease(3))
    case.inflight.record_finished(local)


async def test_one_suspect_after_the_other_is_blamed_for_its_own_time() -> None:
    """The first may wait for its items' store when the second kills the worker."""
    case = Case(frontier := Told())
    for n in (1, 2):
        assert not case.suspects.admits(lease(n, deliveries=3))
        await case.told()
        assert case.suspects.admits(lease(n, deliveries=3))
        case.inflight.record_finished(case.begin(lease(n, deliveries=3)))
    assert frontier.said == ["1", "1 is over", "2"]


async def test_a_suspect_waits_for_redis(monkeypatch: Any) -> None:
    monkeypatch.setattr(tried_alone, "AGAIN_S", 0.0)
    case = Case(frontier := Told(Unreachable()))
    for said in (["7"], ["7", "7"]):
        assert not case.suspects.admits(lease(7, deliveries=3))
        await case.told()
        assert frontier.said == said
    assert case.suspects.admits(lease(7, deliveries=3))

"""Which lease a worker may begin, where earlier workers died with some."""

from __future__ import annotations

import asyncio
from typing import Any

from redis.exceptions import ConnectionError as Unreachable
from scrapy import Request
from scrapy.settings import Settings

from scrapy_seine.config import FrontierConfig
from scrapy_seine.engine import suspects
from scrapy_seine.engine.inflight import InFlightTable
from scrapy_seine.frontier.model import Lease


class Told:
    """A frontier that notes what it is told."""

    def __init__(self, *fails: Exception) -> None:
        self.fails, self.ids = list(fails), list[str]()

    async def isolate(self, lease: Lease) -> bool:
        self.ids.append(lease.id)
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
        self.suspects = suspects.Suspects(
            frontier, self.inflight, config, self.woken.set, lambda name: None
        )

    def begin(self, of: Lease) -> Request:
        request = Request("http://site.example/")
        self.inflight.begin(request, of)
        return request


async def test_a_suspect_waits_for_the_others_and_nothing_begins_beside_it() -> None:
    frontier = Told()
    case = Case(frontier)
    assert case.suspects.admits(lease(1, deliveries=2))
    first = case.begin(lease(1))
    assert not case.suspects.admits(lease(2, deliveries=3))
    assert frontier.ids == []
    case.inflight.finished(first)
    assert not case.suspects.admits(lease(2, deliveries=3))  # Redis is told first
    await case.woken.wait()
    assert frontier.ids == ["2"]
    assert case.suspects.admits(lease(2, deliveries=3))
    alone = case.begin(lease(2, deliveries=3))
    assert not case.suspects.admits(lease(3))
    assert not case.suspects.admits(lease(4, deliveries=4))
    case.inflight.finished(alone)
    local = case.begin(lease(5))  # a request that cannot be stored comes another way
    assert case.suspects.admits(lease(3))
    case.inflight.finished(local)


async def test_a_suspect_waits_for_redis(monkeypatch: Any) -> None:
    monkeypatch.setattr(suspects, "AGAIN_S", 0.0)
    frontier = Told(Unreachable())
    case = Case(frontier)
    for told in (["7"], ["7", "7"]):
        assert not case.suspects.admits(lease(7, deliveries=3))
        await case.woken.wait()
        case.woken.clear()
        assert frontier.ids == told
    assert case.suspects.admits(lease(7, deliveries=3))

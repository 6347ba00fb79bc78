"""Overruns: a domain whose pages take too long to read is paused."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from redis.exceptions import ConnectionError  # noqa: A004  # as Redis names it

from scrapy_seine.engine.reading.overrun_pause import note_overrun


class Overruns:
    """A frontier, and the counts of its domains in Redis."""

    def __init__(self) -> None:
        self.counts, self.paused = dict[str, int](), list[str]()
        self.away = False
        part = SimpleNamespace(overran="overran")
        self.keys = SimpleNamespace(part=lambda domain: part)

    async def hincrby(self, key: str, domain: str, n: int) -> int:
        if self.away:
            raise ConnectionError("Redis is away")
        self.counts[domain] = self.counts.get(domain, 0) + n
        return self.counts[domain]

    async def hdel(self, key: str, domain: str) -> None:
        del self.counts[domain]

    async def pause(self, domain: str) -> None:
        self.paused.append(domain)


async def test_a_domain_whose_pages_take_too_long_is_paused_after_the_third(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """I11: a site's pages cannot hold one worker after the other; it counts anew afterwards."""
    fleet: Any = Overruns()
    entry: Any = SimpleNamespace(lease=SimpleNamespace(domain="slow.example"))
    for paused in ([], [], ["slow.example"], ["slow.example"]):
        await note_overrun(fleet, fleet, entry)
        assert fleet.paused == paused
    assert "domain slow.example is paused: reading 3 of its pages" in caplog.text


async def test_an_overrun_that_cannot_be_counted_is_said_and_stops_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fleet: Any = Overruns()
    fleet.away = True
    entry: Any = SimpleNamespace(lease=SimpleNamespace(domain="slow.example"))
    await note_overrun(fleet, fleet, entry)
    assert "an overrun of slow.example was not counted: Redis is away" in caplog.text

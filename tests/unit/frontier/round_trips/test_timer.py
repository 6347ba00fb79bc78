"""The alarm rings once, at the earliest time asked for, on either event loop."""

from __future__ import annotations

import asyncio

import pytest
import uvloop

from scrapy_seine.frontier.round_trips.timer import Timer


async def _rings() -> list[str]:
    rung: list[str] = []
    timer = Timer(lambda: rung.append("rung"))
    timer.within(60)
    timer.within(0)
    timer.within(0.001)
    timer.within(30)
    await asyncio.sleep(0.02)
    timer.within(0.001)
    timer.cancel()
    await asyncio.sleep(0.02)
    timer.within(0)
    await asyncio.sleep(0.02)
    return rung


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_earliest_time_wins_and_a_cancelled_alarm_is_silent(run: object) -> None:
    """An alarm that is due at once has a handle without a time on uvloop."""
    assert callable(run)
    assert run(_rings()) == ["rung", "rung"]

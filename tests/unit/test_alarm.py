"""The alarm rings once, at the earliest time asked for, on either event loop."""

from __future__ import annotations

import asyncio

import pytest
import uvloop

from scrapy_seine.frontier.timer import Alarm


async def _rings() -> list[str]:
    rung: list[str] = []
    alarm = Alarm(lambda: rung.append("rung"))
    alarm.within(60)
    alarm.within(0)
    alarm.within(0.001)
    alarm.within(30)
    await asyncio.sleep(0.02)
    alarm.within(0.001)
    alarm.cancel()
    await asyncio.sleep(0.02)
    alarm.within(0)
    await asyncio.sleep(0.02)
    return rung


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_earliest_time_wins_and_a_cancelled_alarm_is_silent(run: object) -> None:
    """An alarm that is due at once has a handle without a time on uvloop."""
    assert callable(run)
    assert run(_rings()) == ["rung", "rung"]

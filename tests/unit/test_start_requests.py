"""Which run the start requests of a process belong to."""

from __future__ import annotations

from typing import Any

import pytest

from scrapy_seine.config import FrontierConfig
from scrapy_seine.engine import start_requests
from scrapy_seine.engine.start_requests import StartRequests


class Heart:
    frontier = None
    starting = 0

    async def beat_if_possible(self) -> None:
        """Tell nobody."""


async def test_the_second_crawl_of_a_script_was_asked_for_when_it_began(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the run that the same script has just ended counts as its own: nothing is crawled."""
    ages: list[float] = []

    async def enter(frontier: Any, *, age_ms: float, **rest: Any) -> tuple[int, bool]:
        ages.append(age_ms)
        return 1, True

    monkeypatch.setattr(start_requests, "enter", enter)
    monkeypatch.setattr(start_requests, "process_age_s", lambda: 50.0)
    heart: Any = Heart()
    for crawl in ("script", "script", "another"):
        config = FrontierConfig.from_settings({}, crawl)
        await StartRequests(config, heart, lambda: None).decide()
    assert [age >= 50_000 for age in ages] == [True, False, True]

"""Which run the start requests of a process belong to."""

from __future__ import annotations

from typing import Any

import pytest

from scrapy_seine.config import FrontierConfig
from scrapy_seine.engine.starting import start_requests
from scrapy_seine.engine.starting.start_requests import StartRequests


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


@pytest.mark.parametrize(
    ("theirs", "warned"), [("a", False), (None, False), ("b", True), ("", True)]
)
async def test_a_worker_with_other_arguments_than_its_run_says_that_they_share_requests(
    theirs: str | None,
    warned: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Else one worker reads the pages that another one asked for, with arguments of its own."""

    async def enter(*_: Any, **__: Any) -> tuple[int, bool]:
        return 3, False

    async def asked_for(*_: Any) -> str | None:
        return theirs

    monkeypatch.setattr(start_requests, "enter", enter)
    monkeypatch.setattr(start_requests, "asked_for", asked_for)
    heart: Any = Heart()
    starts = StartRequests(FrontierConfig.from_settings({}, "x"), heart, lambda: None, "a")
    await starts.decide()
    starts.close()
    assert ("run 3 of crawl 'x' was begun with other arguments" in caplog.text) is warned


@pytest.mark.parametrize(
    ("keep_alive", "remedy"),
    [(True, "push them as seeds"), (False, "start once more when the run has ended")],
)
def test_start_requests_that_the_run_had_before_are_logged_once(
    keep_alive: bool, remedy: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A worker that stays cannot begin a run: to start it once more would change nothing."""
    caplog.set_level("INFO")
    heart: Any = Heart()
    config = FrontierConfig.from_settings({"SEINE_KEEP_ALIVE": keep_alive}, "z")
    starts = StartRequests(config, heart, lambda: None, known_count=lambda: 2)
    starts.log_known_requests()
    starts.close()
    assert caplog.text.count("2 start requests were known") == 1
    assert remedy in caplog.text


async def test_two_spiders_of_a_process_that_share_a_crawl_say_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def enter(*_: Any, **__: Any) -> tuple[int, bool]:
        return 1, False

    async def asked_for(*_: Any) -> None:
        return None

    monkeypatch.setattr(start_requests, "enter", enter)
    monkeypatch.setattr(start_requests, "asked_for", asked_for)
    heart: Any = Heart()
    config = FrontierConfig.from_settings({}, "y")
    first, second, third = (StartRequests(config, heart, lambda: None) for _ in range(3))
    await first.decide()
    first.close()
    await second.decide()
    assert "another spider" not in caplog.text
    await third.decide()
    assert "another spider of this process works on crawl 'y'" in caplog.text
    for starts in (second, third):
        starts.close()


@pytest.mark.parametrize(
    ("program", "own"),
    [("/usr/bin/scrapy", True), ("/srv/scrapyd/runner.py", True), ("x.py", False)],
)
def test_a_command_whose_start_took_minutes_was_asked_for_when_its_process_began(
    program: str, own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the third worker of a busy machine crawls all again, after the first two ended."""
    monkeypatch.setattr(start_requests, "process_age_s", lambda: 90.0)
    monkeypatch.setattr("sys.argv", [program])
    heart: Any = Heart()
    starts = StartRequests(FrontierConfig.from_settings({}, "slow"), heart, lambda: None)
    assert (starts.age_s() >= 90) is own

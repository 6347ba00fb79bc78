"""What a user's spider, middlewares, pipelines and receivers see is what Scrapy would show them.

The same spider crawls the same site by Scrapy's engine and by the short way through it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import started
from tests.helpers import patient
from tests.integration.passing.run import KINDS, WAYS
from tests.integration.passing.spider import SCENARIOS

ROOT = Path(__file__).parents[2]
SHORT = sorted(set(WAYS) - {"scrapy"})


@pytest.fixture(scope="module")
def reports() -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.integration.passing.run"]
    run = started.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=patient(120), check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]
    loaded: dict[str, Any] = json.loads(run.stdout)
    return loaded


def of(report: dict[str, Any], scenario: str) -> dict[str, list[str]]:
    """What happened with a scenario's pages."""
    return {page: seen for page, seen in report["events"].items() if page.split()[0] == scenario}


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("way", SHORT)
@pytest.mark.parametrize("kind", ["looks", "rewrites"])
def test_each_page_is_seen_as_with_scrapy(
    reports: dict[str, Any], kind: str, way: str, scenario: str
) -> None:
    seen = of(reports[kind][way], scenario)
    assert seen
    assert seen == of(reports[kind]["scrapy"], scenario)


@pytest.mark.parametrize("way", SHORT)
@pytest.mark.parametrize("kind", KINDS)
def test_counters_and_the_reason_of_the_end_are_scrapys(
    reports: dict[str, Any], kind: str, way: str
) -> None:
    ours, scrapys = reports[kind][way], reports[kind]["scrapy"]
    assert ours["stats"] == scrapys["stats"]
    assert ours["reason"] == scrapys["reason"]


@pytest.mark.parametrize("way", WAYS)
def test_a_callback_may_close_the_spider(reports: dict[str, Any], way: str) -> None:
    assert reports["closes"][way]["reason"] == "on purpose"


@pytest.mark.parametrize(
    ("scenario", "word"),
    [
        ("drops", "dropped"),
        ("pipeline_fails", "item error"),
        ("fails", "spider error"),
        ("same_link_twice", "request_dropped"),
        ("generator", "scraped later"),
        ("pipeline_defers", "scraped {'kind': 'defer'"),
        ("unreachable_errback", "scraped {'failed'"),
        ("async_generator_fails", "spider error"),
    ],
)
def test_the_scenarios_show_what_they_are_for(
    reports: dict[str, Any], scenario: str, word: str
) -> None:
    """Else the comparison above would compare nothing with nothing."""
    seen = of(reports["looks"]["short"], scenario)
    assert any(word in event for events in seen.values() for event in events)

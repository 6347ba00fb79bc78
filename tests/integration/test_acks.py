"""Each way in which a request can end, end to end through Scrapy: one end per lease (I1-I4).

All scenarios run once, as crawls of their own in one process; the tests read its report.
"""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.integration.acks.spider import SCENARIOS

pytestmark = pytest.mark.redis
ROOT = Path(__file__).parents[2]

ONCE = ["done"]
GIVEN_UP = ["retry", "bury"]
EXPECTED: dict[str, list[str]] = {
    **dict.fromkeys(SCENARIOS, ONCE),
    "callback_error": GIVEN_UP,
    "late_callback_error": GIVEN_UP,
    "timeout": GIVEN_UP,
    "timeout_errback": GIVEN_UP,
    "pipeline_error": GIVEN_UP,
    "http_503": GIVEN_UP,
    "refused": GIVEN_UP,
    "refused_errback": GIVEN_UP,
    "redirect": ONCE * 2,
    "duplicate_child": ONCE * 2,
    "many_children": ONCE * 11,
    "meta_copied": ONCE * 4,
    "too_deep": ONCE * 3,
    "store_fails_once": ["retry", "done"],
}
#: Scenarios whose items reach the pipeline, and from which method.
FROM_ERRBACK = {
    "timeout_errback",
    "http_404_errback",
    "middleware_ignores_errback",
    "refused_errback",
}
FROM_CALLBACK = {"success", "slow_item", "slow_callback", "inline_download", "many_children"}


@pytest.fixture(scope="module")
def reports(redis_url: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.integration.acks.run", redis_url]
    namespace = f"acks-{uuid.uuid4().hex[:8]}"
    run = subprocess.run(
        [*command, namespace], cwd=ROOT, capture_output=True, text=True, timeout=90, check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]
    loaded: dict[str, Any] = json.loads(run.stdout)
    return loaded


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_lease_ends_once_and_as_it_should(reports: dict[str, Any], name: str) -> None:
    report = reports[name]
    assert "failed" not in report, report
    assert report["outcomes"] == EXPECTED[name]
    assert report["ends"] == report["dequeued"] == report["totals"]["leased"]
    assert report["dead"] == EXPECTED[name].count("bury")


@pytest.mark.parametrize("name", SCENARIOS)
def test_nothing_is_left_in_the_frontier(reports: dict[str, Any], name: str) -> None:
    """I1: what is neither done nor dead would be pending for ever."""
    assert reports[name]["undone"] == 0
    reason = "on purpose" if name == "close_spider" else "finished"
    assert reports[name]["reason"] == reason


@pytest.mark.parametrize("name", SCENARIOS)
def test_an_item_belongs_to_the_lease_of_its_own_page(reports: dict[str, Any], name: str) -> None:
    """Also from errbacks: after an HTTP error, and where no response was ever seen."""
    for item_url, lease_url in reports[name]["items"]:
        assert item_url == lease_url


@pytest.mark.parametrize("name", sorted(FROM_ERRBACK | FROM_CALLBACK))
def test_items_are_seen_at_all(reports: dict[str, Any], name: str) -> None:
    assert reports[name]["items"]


@pytest.mark.parametrize("name", ["success", "slow_item", "refused_errback", "http_404_errback"])
def test_a_lease_ends_only_after_its_item_is_stored(reports: dict[str, Any], name: str) -> None:
    """I4."""
    assert reports[name]["events"][-2:] == ["stored", "ended"]


@pytest.mark.parametrize(
    ("name", "depths"),
    [
        ("success", [0]),
        ("redirect", [0]),
        ("many_children", [1] * 10),
        ("meta_copied", [1] * 3),
        ("too_deep", [0, 1, 2]),
    ],
)
def test_depth_counts_links_not_redirects(
    reports: dict[str, Any], name: str, depths: list[int]
) -> None:
    """Also where a spider copies its page's meta; DEPTH_LIMIT holds."""
    assert reports[name]["depths"] == depths

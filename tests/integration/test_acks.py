"""Each way in which a request can end, end to end through Scrapy: one end per lease (I1-I4).

All scenarios run once, as crawls of their own in one process; the tests read its report.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests import started
from tests.helpers import patient
from tests.integration.acks.spider import SCENARIOS
from tests.integration.acks.ways import WAYS

pytestmark = pytest.mark.redis
ROOT = Path(__file__).parents[2]

ONCE = ["done"]
GIVEN_UP = ["retry", "bury"]
AT_ONCE = ["bury"]
IGNORED = ["ignored"]
HANDLED_LATE = ["retry", "done"]
EXPECTED: dict[str, list[str]] = {
    **dict.fromkeys(SCENARIOS, ONCE),
    "callback_error": AT_ONCE,
    "late_callback_error": AT_ONCE,
    "errback_error": AT_ONCE,
    "late_errback_error": AT_ONCE,
    "timeout": GIVEN_UP,
    "timeout_errback": HANDLED_LATE,
    "pipeline_error": GIVEN_UP,
    "http_503": GIVEN_UP,
    "refused": GIVEN_UP,
    "refused_by_proxy": GIVEN_UP,
    "refused_errback": HANDLED_LATE,
    "robots_forbidden": IGNORED,
    "middleware_ignores": IGNORED,
    "http_404": IGNORED,
    "http_410_class": IGNORED,
    "http_400": IGNORED,
    "unlisted_error": GIVEN_UP,
    "unlisted_error_errback": ONCE,
    "wrong_type": GIVEN_UP,
    "response_error": GIVEN_UP,
    "exception_error": GIVEN_UP,
    "unknown_lane": AT_ONCE,
    "unsendable": AT_ONCE,
    "slash_redirect": ONCE * 2,
    "cookie_redirect": ONCE * 2,
    "circle": ONCE * 2 + AT_ONCE,
    "circle_errback": ONCE * 3,
    "sent_back": ["retry", *ONCE * 20, *GIVEN_UP],
    "sent_on": [*ONCE * 20, *GIVEN_UP],
    "sent_on_once": ONCE * 50,
    "redirect_offsite": IGNORED,
    "redirect_nowhere": AT_ONCE,
    "cleared_meta": GIVEN_UP,
    "cancelled_error": AT_ONCE,
    "late_cancelled_error": AT_ONCE,
    "unsaid_error": AT_ONCE,
    "ignoring_callback": IGNORED,
    "pipeline_cancels": GIVEN_UP,
    "http_503_class": ["retry", "done"],
    "redirect": ONCE * 2,
    "duplicate_child": ONCE * 2,
    "many_children": ONCE * 11,
    "meta_copied": ONCE * 4,
    "too_deep": ONCE * 3,
    "depth_is_reset": ONCE * 3,
    "depth_of_recovered": ONCE * 3,
    "odd_child": ONCE * 2,
    "store_fails_once": ["retry", "done"],
    "close_spider": ["retry"],
}
KEYS = [f"{way} {name}" for way in WAYS for name in SCENARIOS]
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
    run = started.run(
        [*command, namespace],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=patient(180),
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    loaded: dict[str, Any] = json.loads(run.stdout)
    return loaded


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("way", WAYS)
def test_each_lease_ends_once_and_as_it_should(
    reports: dict[str, Any], way: str, name: str
) -> None:
    """I10, I2: by one outcome that was stated, where our code and where Scrapy's reads the page."""
    report = reports[f"{way} {name}"]
    assert "failed" not in report, report
    ends = [outcome for outcome in report["outcomes"] if outcome != "release"]
    if name == "close_spider" and not ends:
        assert report["undone"] == 1  # its worker ended before it, and handed it back
        return
    assert ends == EXPECTED[name]
    assert report["ends"] == report["dequeued"] == report["totals"]["leased"]
    assert report["dead"] == EXPECTED[name].count("bury")


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_left_in_the_frontier(reports: dict[str, Any], way: str, name: str) -> None:
    """I1: what is neither done nor dead would be pending for ever.

    A page that closed the spider waits for another worker: it was not read to its end.
    """
    report = reports[f"{way} {name}"]
    closed = name == "close_spider"
    assert report["undone"] == closed
    assert report["reason"] == ("on purpose" if closed else "finished")


@pytest.mark.parametrize("name", KEYS)
def test_an_item_belongs_to_the_lease_of_its_own_page(reports: dict[str, Any], name: str) -> None:
    """Also from errbacks: after an HTTP error, and where no response was ever seen."""
    for item_url, lease_url in reports[name]["items"]:
        assert item_url == lease_url


@pytest.mark.parametrize("name", sorted(FROM_ERRBACK | FROM_CALLBACK))
@pytest.mark.parametrize("way", WAYS)
def test_items_are_seen_at_all(reports: dict[str, Any], way: str, name: str) -> None:
    assert reports[f"{way} {name}"]["items"]


@pytest.mark.parametrize("name", ["success", "slow_item", "refused_errback", "http_404_errback"])
@pytest.mark.parametrize("way", WAYS)
def test_a_lease_ends_only_after_its_item_is_stored(
    reports: dict[str, Any], way: str, name: str
) -> None:
    """I4."""
    assert reports[f"{way} {name}"]["events"][-2:] == ["stored", "ended"]


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("http_404", {"ignored/gone": 1}),
        ("http_410_class", {"ignored/gone": 1}),
        ("http_400", {"ignored/http status": 1}),
        ("robots_forbidden", {"ignored/robots": 1}),
        ("redirect_offsite", {"ignored/offsite": 1}),
        ("middleware_ignores", {"ignored/filter": 1, "ignored/filter/IgnoreRequest": 1}),
        ("http_404_errback", {"handled": 1}),
        ("refused_errback", {"handled": 1, "retries/connection": 1}),
        ("http_503_class", {"handled": 1, "retries/5xx": 1}),
        ("callback_error", {"buried/parse": 1}),
        ("pipeline_error", {"retries/item": 1, "buried/item": 1}),
        ("unlisted_error", {"retries/internal": 1, "buried/internal": 1}),
        ("unknown_lane", {"buried/lane": 1}),
        ("unsendable", {"buried/internal": 1}),
        ("redirect_nowhere", {"buried/address": 1}),
        ("circle", {"buried/redirects": 1}),
        ("circle_errback", {"handled": 1}),
        ("redirect_nowhere_errback", {"handled": 1}),
        ("close_spider", {"retries/closed": 1}),
    ],
)
def test_each_outcome_is_counted_by_its_rule_or_kind(
    reports: dict[str, Any], name: str, counted: dict[str, int]
) -> None:
    """I10: who looks at the stats sees why a page was not read."""
    groups = ("seine/ignored/", "seine/handled", "seine/retries/", "seine/buried/")
    found = reports[f"looks {name}"]["stats"]
    ends = {k.removeprefix("seine/"): n for k, n in found.items() if k.startswith(groups)}
    # What closes the spider may end the worker before its outcome is told: it is handed back.
    assert ends == counted or (name == "close_spider" and not ends)


@pytest.mark.parametrize("name", ["unlisted_error", "unsaid_error", "wrong_type"])
def test_a_dead_letter_names_the_exception(reports: dict[str, Any], name: str) -> None:
    (letter,) = reports[f"looks {name}"]["letters"]
    assert re.match(r"\w+(Error|Output)\b", letter["error"])


def test_a_dead_letter_names_the_proxy_that_cannot_be_reached(reports: dict[str, Any]) -> None:
    """One that the environment names, nobody thinks of."""
    (letter,) = reports["looks refused_by_proxy"]["letters"]
    assert "the proxy http://127.0.0.1:9: " in letter["error"]


@pytest.mark.parametrize(
    ("name", "depths"),
    [
        ("success", [0]),
        ("redirect", [0]),
        ("many_children", [1] * 10),
        ("meta_copied", [1] * 3),
        ("too_deep", [0, 1, 2]),
        ("depth_is_reset", [0, 0, 1]),
        ("depth_of_recovered", [0, 1, 1]),
    ],
)
def test_depth_counts_links_not_redirects(
    reports: dict[str, Any], name: str, depths: list[int]
) -> None:
    """Also where a spider copies its page's meta; DEPTH_LIMIT holds."""
    assert reports[f"looks {name}"]["depths"] == depths

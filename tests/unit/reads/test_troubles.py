"""The first page says in words what is wrong, and what to do about it."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.reads.troubles import troubles
from scrapy_seine.frontier.model import Counts
from scrapy_seine.reads.fleet import Fleet, Worker
from scrapy_seine.reads.outcome_history import Minute
from scrapy_seine.reads.overview import Overview


def now(**changes: Any) -> Overview:
    counts: dict[str, Any] = {
        **dict.fromkeys(("ready", "delayed", "leased", "dead", "seen", "workers"), 0),
        "domains_ready": 0,
        "domains_waiting": 0,
        "paused": False,
        "totals": {},
    }
    fleet: dict[str, Any] = {
        "crawl": "c",
        "partitions": 1,
        "at": 0.0,
        "workers": [],
        "due_now": 0,
        **dict.fromkeys(("oldest_s", "lateness_s", "clock_skew_s", "read_s"), 0.0),
        "memory_bytes": 0,
        "memory_limit_bytes": 0,
    }
    reasons, minutes = changes.pop("reasons", {}), changes.pop("minutes", [])
    fleet["workers"] = changes.pop("hands", [])
    for name, value in changes.items():
        (counts if name in counts else fleet)[name] = value
    made = Fleet(counts=Counts(**counts), **fleet)
    return Overview(fleet=made, minutes=minutes, domains=[], reasons=reasons)


def test_a_crawl_that_is_well_has_no_troubles() -> None:
    assert troubles(now(minutes=[Minute(at=0, done=100, retry=5)])) == []
    assert troubles(now()) == []


@pytest.mark.parametrize(
    ("state", "text", "fix"),
    [
        ({"ready": 3}, "Work waits, 3 requests, and no worker runs", "scrapy crawl catalog"),
        ({"ready": 1, "paused": True}, "paused", "resume"),
        ({"dead": 2, "reasons": {"5xx": 2}}, "2 requests given up, most because: 5xx", "why"),
        ({"minutes": [Minute(at=0, done=10, retry=30)]}, "75.0 % of the tries", "by which site"),
        ({"memory_bytes": 90, "memory_limit_bytes": 100}, "90.0 % of its memory", "SEINE_SEEN"),
        ({"clock_skew_s": -5.0}, "clock is 5.0 s apart", "NTP"),
    ],
)
def test_what_is_wrong_is_said_with_its_fix(state: dict[str, Any], text: str, fix: str) -> None:
    said = [(one.text, one.fix) for one in troubles(now(**state))]

    assert any(text in words and fix in deed for words, deed in said), said


def test_three_failures_are_no_alarm() -> None:
    assert troubles(now(minutes=[Minute(at=0, done=0, retry=3)])) == []


HAND = Worker(name="w", alive=True, expires_in_s=5.0)


@pytest.mark.parametrize(
    ("state", "is_told"),
    [
        ({"ready": 1, "hands": [HAND]}, False),
        ({"ready": 1, "hands": [Worker(name="w", alive=False, expires_in_s=-5.0)]}, True),
        ({"paused": True}, False),  # there is nothing that would go on
        ({"minutes": [Minute(at=0, done=80, retry=20)]}, False),
        ({"minutes": [Minute(at=0, done=79, bury=21)]}, True),
        ({"minutes": [Minute(at=0, done=15, retry=4)]}, False),  # too few tries
        ({"minutes": [Minute(at=0, done=15, retry=5)]}, True),
        ({"minutes": [Minute(at=0, retry=99), *[Minute(at=n, done=9) for n in range(10)]]}, False),
        ({"memory_bytes": 85, "memory_limit_bytes": 100}, False),
        ({"memory_bytes": 86, "memory_limit_bytes": 100}, True),
        ({"memory_bytes": 86}, False),  # it has no limit
        ({"clock_skew_s": -2.0}, False),
        ({"clock_skew_s": 2.1}, True),
        ({"lateness_s": 30.0, "hands": [HAND]}, False),
        ({"lateness_s": 30.1, "hands": [HAND]}, True),
        ({"lateness_s": 30.1}, False),  # nobody is there to be late
        ({"lateness_s": 30.1, "hands": [HAND], "paused": True}, False),
    ],
)
def test_what_is_wrong_is_told_from_its_limit_on(state: dict[str, Any], is_told: bool) -> None:
    assert bool(troubles(now(**state))) is is_told

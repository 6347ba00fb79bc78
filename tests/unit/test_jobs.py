"""Schedules, periods, estimates: what the coordinator decides by."""

from __future__ import annotations

import doctest
import math
import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crawler.catalogue.coordinator.recrawl
import crawler.catalogue.coordinator.schedule
import crawler.catalogue.jobs.model
import scrapy_seine.reads.progress
from crawler.catalogue.coordinator.recrawl import SHORTEST_S, Known, change_rate, due, period_s
from crawler.catalogue.coordinator.schedule import check, last_due
from scrapy_seine.errors import ConfigError
from scrapy_seine.reads.progress import Estimate, estimate, follow, simple_eta_s

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
DAY = 86_400.0


def known(days_ago: float, changes: int = 0, url: str = "u") -> Known:
    """A product that is known for a month, with so many changes seen in equal steps."""
    steps = [30 * DAY / max(1, changes)] * changes
    return Known(url, NOW - timedelta(days=days_ago), 30 * DAY, steps)


@pytest.mark.parametrize(
    "module",
    [
        crawler.catalogue.coordinator.recrawl,
        crawler.catalogue.coordinator.schedule,
        crawler.catalogue.jobs.model,
        scrapy_seine.reads.progress,
    ],
)
def test_the_examples_in_the_docstrings_hold(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("schedule", "now", "expected"),
    [
        ("0 4 * * *", "2026-11-21T04:00:00", "2026-11-21T04:00:00"),
        ("0 4 * * *", "2026-11-21T03:59:59", "2026-11-20T04:00:00"),
        ("*/15 * * * *", "2026-11-21T12:44:10", "2026-11-21T12:30:00"),
        ("0 0 1 1 *", "2026-11-21T12:00:00", "2026-01-01T00:00:00"),
    ],
)
def test_a_schedule_names_one_run_whenever_it_is_looked_at(schedule, now, expected):
    at = last_due(schedule, datetime.fromisoformat(now).replace(tzinfo=UTC))
    assert at == datetime.fromisoformat(expected).replace(tzinfo=UTC)


def test_a_bad_schedule_is_refused_by_name():
    with pytest.raises(ConfigError, match=r"site shop: schedule='every day'"):
        check("every day", "shop")


def test_what_changes_more_often_comes_sooner():
    week = 7 * DAY
    assert period_s(known(1, 0), week) == week
    assert DAY / 4 < period_s(known(1, 30), week) < DAY
    assert DAY < period_s(known(1, 4), week) < 4 * DAY
    assert period_s(known(1, 10_000), week) == SHORTEST_S


@pytest.mark.parametrize(("looks", "changes"), [(10, 0), (10, 3), (10, 9), (1, 1), (16, 16)])
def test_the_change_rate_of_regular_looks_is_cho_and_garcia_molinas(looks, changes):
    rate = change_rate([DAY] * changes, (looks - changes) * DAY) * DAY
    expected = -math.log((looks - changes + 0.5) / (looks + 0.5))
    assert rate == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("rate", [0.05, 0.3, 1.0])
def test_the_change_rate_is_found_again_from_irregular_looks(rate):
    """Changes as Poisson events, looks at random times: only whether it changed is seen."""
    dice, calm, changed = random.Random(7), 0.0, []
    for _ in range(4000):
        gap = dice.uniform(0.2, 5.0)
        if dice.random() < 1 - math.exp(-rate * gap):
            changed.append(gap * DAY)
        else:
            calm += gap * DAY
    assert change_rate(changed, calm) * DAY == pytest.approx(rate, rel=0.08)


@given(st.lists(st.floats(0, 1e8), min_size=1, max_size=16), st.floats(-1e6, 1e9))
def test_the_change_rate_solves_its_equation_whatever_the_looks(changed, calm_s):
    rate = change_rate(changed, calm_s)
    times = [max(1.0, seconds) for seconds in changed]
    calm = max(0.0, calm_s) + 0.5 * sum(times) / len(times)
    more = sum(t / math.expm1(min(700.0, rate * t)) for t in times)
    assert more == pytest.approx(calm, rel=1e-5)


def test_a_new_product_is_looked_at_soon_and_then_ever_less_often():
    looks = [Known("u", NOW, observed) for observed in (0, DAY, 2 * DAY, 4 * DAY, 30 * DAY)]
    assert [period_s(k, 7 * DAY) / DAY for k in looks] == [1, 1, 2, 4, 7]
    assert [period_s(k, 7 * DAY, watched=True) / DAY for k in looks] == [7] * 5


def test_under_a_budget_the_most_overdue_come_first():
    products = [known(8, 0, "calm"), known(3, 60, "lively"), known(1, 0, "fresh")]
    assert [k.url for k in due(products, 7 * DAY, NOW, 10)] == ["lively", "calm"]
    assert [k.url for k in due(products, 7 * DAY, NOW, 1)] == ["lively"]


def watched(*looks: tuple[float, int, int]) -> Estimate:
    """Judge a job by its looks: time, total, ended."""
    pace = None
    for at_s, total, ended in looks:
        pace = follow(pace, at_s, total, ended, 0.0)
    assert pace is not None
    return estimate(pace)


def test_the_first_look_knows_the_average_only():
    assert watched((10, 100, 25)).eta_s == simple_eta_s(100, 25, 10) == 30.0


def test_an_estimate_says_when_the_end_still_moves_away():
    growing = watched((10, 100, 10), *((10 + 5 * n, 100 + 50 * n, 10 + 25 * n) for n in range(50)))
    assert growing.growing
    calm = watched((10, 1000, 10), *((10 + 5 * n, 1000, 10 + 5 * n) for n in range(50)))
    assert not calm.growing
    assert calm.eta_s == pytest.approx(745, rel=0.01)


def test_an_estimate_forgets_how_fast_it_was_long_ago():
    fast = [(10.0 * n, 10_000, 100 * n) for n in range(1, 11)]
    slow = [(100 + 10.0 * n, 10_000, 1000 + 10 * n) for n in range(1, 61)]
    assert watched(*fast).rate == pytest.approx(10)
    assert watched(*fast, *slow).rate == pytest.approx(1, rel=0.1)


def test_what_moves_no_more_has_no_end():
    assert watched((10, 100, 0)).eta_s is None
    assert watched((10, 100, 100)).eta_s == 0.0

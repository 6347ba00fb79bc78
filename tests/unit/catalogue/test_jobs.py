"""Schedules, periods, estimates: what the coordinator decides by."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest

from crawler.catalogue.jobs.cron_times import check, last_due
from scrapy_seine.errors import ConfigError
from scrapy_seine.reads.progress import Estimate, Pace, estimate, follow


@pytest.mark.parametrize(
    ("schedule", "now", "expected"),
    [
        ("0 4 * * *", "2026-11-21T04:00:00", "2026-11-21T04:00:00"),
        ("0 4 * * *", "2026-11-21T03:59:59", "2026-11-20T04:00:00"),
        ("*/15 * * * *", "2026-11-21T12:44:10", "2026-11-21T12:30:00"),
        ("0 0 1 1 *", "2026-11-21T12:00:00", "2026-01-01T00:00:00"),
        ("0 4 29 2 *", "2026-11-21T12:00:00", "2024-02-29T04:00:00"),
        ("0 0 1 1 * 0 2020", "2026-11-21T12:00:00", "2020-01-01T00:00:00"),
        ("0 0 1 1 * 0 2026-2030", "2026-01-01T00:00:00", "2026-01-01T00:00:00"),
    ],
)
def test_a_schedule_names_one_run_whenever_it_is_looked_at(schedule, now, expected):
    at = last_due(schedule, datetime.fromisoformat(now).replace(tzinfo=UTC))
    assert at == datetime.fromisoformat(expected).replace(tzinfo=UTC)


def test_a_bad_schedule_is_refused_by_name():
    with pytest.raises(ConfigError, match=r"site shop: schedule='every day'"):
        check("every day", "shop")


@pytest.mark.parametrize("schedule", ["0 0 31 2,4,6 *", "30 2 30 2 *", "0 0 1 1 * 0 2099"])
def test_a_schedule_that_never_fires_is_refused(schedule):
    """In a site's file it ended the coordinator of all sites with a traceback."""
    with pytest.raises(ConfigError, match=r"site shop: .* never fires"):
        check(schedule, "shop")


@pytest.mark.parametrize("schedule", ["R * * * *", "R(0-30) 4 * * *", "r/2 * * * *"])
def test_a_random_schedule_is_refused(schedule):
    """Each look had another time, and might start a further full crawl."""
    with pytest.raises(ConfigError, match="is no cron expression"):
        check(schedule, "shop")


def watched(*looks: tuple[float, int, int]) -> Estimate:
    """Judge a job by its looks: time, total, ended."""
    pace = None
    for at_s, total, ended in looks:
        pace = follow(pace, at_s, total, ended, 0.0)
    assert pace is not None
    return estimate(pace)


def test_the_first_look_knows_the_average_only():
    assert watched((10, 100, 25)).eta_s == 30.0


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


def test_a_job_that_stands_still_slows_down_to_nothing():
    first = follow(None, 10.0, 100, 50, 0.0)
    again = follow(first, 10.0 + 120.0, 100, 50, 0.0)
    assert again.rate == pytest.approx(5.0 / math.e)


@pytest.mark.parametrize(
    ("total", "growth", "growing"), [(51, 2.6, True), (51, 2.5, False), (50, 9.0, False)]
)
def test_a_total_grows_where_it_gains_more_than_half_of_what_ends(total, growth, growing):
    assert estimate(Pace(0.0, total, 50, 5.0, growth)).growing is growing

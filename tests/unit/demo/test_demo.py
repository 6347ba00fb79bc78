"""The demo judges honestly: what is missing, wrong or too much is named."""

import io
from decimal import Decimal

import pytest
from rich.console import Console

from crawler.demo.catalogue import catalogue
from crawler.demo.judge import judge
from crawler.demo.progress import Meter, Progress, line
from crawler.demo.screen import Screen


@pytest.fixture
def rows():
    return [product.expected() for product in catalogue(20)]


def test_rows_as_the_shop_has_them_pass(rows):
    verdict = judge(catalogue(20), rows)

    assert verdict.passed
    assert verdict.line(6.7) == "20 products expected, 20 stored, 0 missing, 0 wrong, 7 s"


def test_a_missing_row_is_named(rows):
    gone = rows.pop(3)

    verdict = judge(catalogue(20), rows)

    assert verdict.missing == [gone["sku"]]
    assert not verdict.passed


@pytest.mark.parametrize("field", ["name", "price", "currency", "availability", "brand", "sku"])
def test_a_wrong_field_is_named_with_both_values(rows, field):
    right, rows[0][field] = rows[0][field], Decimal("0.01")

    verdict = judge(catalogue(20), rows)

    assert not verdict.passed
    assert f"{field} is 0.01, not {right}" in verdict.wrong[0]


def test_a_row_too_many_and_a_row_stored_twice_do_not_pass(rows):
    stranger = {**rows[0], "external_id": "X-1"}

    assert judge(catalogue(20), [*rows, stranger]).wrong == ["X-1: not in the shop"]
    assert not judge(catalogue(20), [*rows, rows[0]]).passed


def test_speed_is_that_of_the_last_seconds_and_given_up_pages_count_as_done():
    meter = Meter(started=100.0)
    meter.read(100.0, {"pushed": 1}, {})
    for second in range(1, 11):
        last = meter.read(100.0 + second, {"pushed": 900, "done": second**2, "buried": 1}, {})

    assert (last.done, last.total, last.seconds) == (101, 900, 10.0)
    assert last.speed == pytest.approx((100 - 49) / 3)
    assert last.eta_s == pytest.approx((900 - 101) / 17)


def test_without_a_speed_there_is_no_eta():
    progress = Progress(seconds=0, done=0, total=1, speed=0, shares={})

    assert progress.eta_s is None
    assert line(progress) == "0 of 1 pages done | 0 pages/s"


def test_away_from_a_terminal_the_screen_prints_plain_lines():
    out = io.StringIO()
    progress = Progress(seconds=1, done=5, total=10, speed=5, shares={"1": 3, "2": 2})

    with Screen(Console(file=out, width=200)) as screen:
        screen.report("off we go")
        screen.show(progress)
        screen.table([{"external_id": "A-1", "price": Decimal("9.90"), "name": "[b]Lamp"}])

    text = out.getvalue()
    assert "\x1b" not in text
    assert "demo: 5 of 10 pages done | 5 pages/s | workers 1: 60 % 2: 40 % | 1 s left" in text
    assert "[b]Lamp" in text

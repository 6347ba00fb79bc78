"""A change that makes Seine 30 % slower beside plain Scrapy fails the suite."""

from __future__ import annotations

import pytest

from tests.benchmarks.guard import Bar, burn, judge, judge_reading
from tests.benchmarks.reading_cost import SIZES

#: CPU time is what counts; how long it takes is up to whatever else the machine does.
pytestmark = [pytest.mark.timeout(400), pytest.mark.alone]


def test_a_page_costs_no_more_than_the_bar_allows() -> None:
    bar = Bar.read()

    found, passed = judge(bar)

    assert passed, (
        f"Seine's CPU a page by plain Scrapy's is {found.ratio:.3f}, measured twice; "
        f"the limit is {bar.limit:.3f} (tests/benchmarks/bar.json). {found}"
    )


@pytest.mark.parametrize("kilobytes", SIZES)
def test_reading_a_saved_page_costs_no_more_than_the_bar_allows(
    kilobytes: str,
) -> None:
    """A pattern tried at each byte of others' pages took half of their time, unseen by crawls."""
    bar = Bar.read()

    found, passed = judge_reading(bar, kilobytes)

    assert passed, f"reading takes {found:.3f} of the fixed work; the bar is {bar.reading_ratio}"


@pytest.mark.slow
def test_a_millisecond_more_a_page_is_noticed() -> None:
    found, passed = judge(Bar.read(), burn(1))

    assert not passed, f"{found.ratio:.3f}: {found}"

"""Retry rules and backoff: how often and how late a request is tried again, by kind of failure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_seine.frontier.retry_rules import DEFAULT, RULES, decide


@pytest.mark.parametrize("kind", [*RULES, "never heard of"])
def test_a_kind_has_its_own_number_of_tries(kind: str) -> None:
    rule = RULES.get(kind, DEFAULT)
    assert decide(kind, rule.retries - 1) is not None
    assert decide(kind, rule.retries) is None


@given(kind=st.sampled_from(list(RULES)), count=st.integers(0, 900), draw=st.floats(0, 1))
def test_a_wait_stays_between_zero_and_the_cap(kind: str, count: int, draw: float) -> None:
    wait = decide(kind, count, draw=draw)
    if count < RULES[kind].retries:
        assert wait is not None
        assert 0 <= wait <= RULES[kind].cap_s
    else:
        assert wait is None


def test_the_bound_doubles() -> None:
    assert [decide("connection", n, draw=1) for n in range(4)] == [1, 2, 4, 8]


def test_a_request_may_allow_fewer_tries_but_not_more() -> None:
    assert decide("429", 2, max_retries=2) is None
    assert decide("timeout", 3, max_retries=50) is None


def test_what_the_site_asks_for_is_obeyed() -> None:
    assert decide("429", 0, wait_s=77.5) == 77.5
    assert decide("429", 8, wait_s=77.5) is None

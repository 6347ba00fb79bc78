"""Which known products are looked at again: by age, rate of change, importance and budget."""

from __future__ import annotations

import logging
import math
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.catalogue.coordinator import importance as bounds
from crawler.catalogue.coordinator.change_rate import (
    ANY_SITE,
    Belief,
    Looks,
    belief,
    priors,
    worth,
)
from crawler.catalogue.coordinator.importance import importance
from crawler.catalogue.coordinator.known_product import KnownProduct
from crawler.catalogue.coordinator.recrawl import (
    MIN_PERIOD_S,
    SWEEP_SHARE,
    allowance,
    due_products_of,
    period_s,
)
from crawler.catalogue.jobs.model import Plan

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
DAY, WEEK = 86_400.0, 7 * 86_400.0
PLAN = Plan(site_id="shop", recrawl_s=WEEK)


def known(days_ago: float, changes: int = 0, url: str = "u", **more: Any) -> KnownProduct:
    """A product that is known for a month, each look of which found a change, if there are any."""
    seen = NOW - timedelta(days=days_ago)
    return KnownProduct(url, seen, 30 * DAY, changes, 30 * DAY * (changes > 0), **more)


def urls(found: list[KnownProduct]) -> list[str]:
    return [each.url for each in found]


def test_what_changes_more_often_comes_sooner() -> None:
    assert period_s(known(1, 0), WEEK) == WEEK
    assert DAY / 4 < period_s(known(1, 30), WEEK) < DAY
    assert DAY < period_s(known(1, 4), WEEK) < 4 * DAY
    assert period_s(known(1, 10**9), WEEK) == MIN_PERIOD_S


def test_what_matters_more_comes_sooner() -> None:
    assert period_s(known(1, 4), WEEK, weight=4) == period_s(known(1, 4), WEEK) / 2
    assert period_s(known(1, 0), WEEK, weight=0.25, watched=True) == 2 * WEEK


@pytest.mark.parametrize("rate", [0.05, 0.3, 1.0])
def test_the_rate_is_found_again_from_irregular_looks(rate: float) -> None:
    """Changes as Poisson events, looks at random times: only whether it changed is seen."""
    dice, looks = random.Random(7), Looks()
    for _ in range(4000):
        gap = dice.uniform(0.2, 5.0) * DAY
        changed = dice.random() < 1 - math.exp(-rate * gap / DAY)
        looks += Looks(1, gap, 0.0) if changed else Looks(0, 0.0, gap)
    # Looks that found a change count as equally long, which costs some at the highest rate.
    assert belief(looks).rate * DAY == pytest.approx(rate, rel=0.2)


@given(
    st.integers(0, 10**9),
    st.floats(0, 1e12),
    st.floats(-1e12, 1e12),
    st.floats(0, 1e10),
    st.sampled_from([ANY_SITE, Belief(1.0, 1e-3), Belief(1.0, 1e12)]),
)
def test_a_belief_and_a_worth_are_numbers_whatever_the_looks(
    changes: int, changed_s: float, calm_s: float, waited_s: float, prior: Belief
) -> None:
    found = belief(Looks(changes, changed_s, calm_s), prior)
    assert found.shape > 0
    assert 0 < found.rate < math.inf
    assert 0 <= worth(found, waited_s) < math.inf or waited_s <= 0


def test_worth_is_the_mean_over_the_distribution() -> None:
    dice, known_rate = random.Random(3), Belief(1.5, 2 * DAY)
    rates = [dice.gammavariate(1.5, 1 / (2 * DAY)) for _ in range(100_000)]
    mean = sum((1 - math.exp(-r * DAY) * (1 + r * DAY)) / r for r in rates) / len(rates)
    assert worth(known_rate, DAY) == pytest.approx(mean, rel=0.02)
    assert worth(Belief(1.0, DAY), DAY) == pytest.approx(worth(Belief(1.00001, DAY), DAY), rel=1e-3)


def test_a_new_product_is_looked_at_soon_and_then_ever_less_often() -> None:
    looks = [KnownProduct("u", NOW, observed) for observed in (0, DAY, 2 * DAY, 4 * DAY, 30 * DAY)]
    assert [period_s(k, WEEK) / DAY for k in looks] == [1, 1, 2, 4, 7]
    assert [period_s(k, WEEK, watched=True) / DAY for k in looks] == [7] * 5


def test_a_category_tells_what_to_expect_of_a_new_product() -> None:
    groups = [("Phones", Looks(300, 300 * DAY, 100 * DAY)), ("Books", Looks(1, DAY, 900 * DAY))]
    groups.append(("New", Looks()))
    expected = priors(groups)
    new = KnownProduct("u", NOW)
    period = {name: period_s(new, WEEK, prior=expected[name]) for name in expected}
    assert period["Phones"] < period[""] < period["Books"]
    assert period["New"] == pytest.approx(period[""])
    old = [KnownProduct(n, NOW - timedelta(days=2), category=n) for n in ("Books", "Phones", "?")]
    plan = Plan(site_id="shop", recrawl_s=DAY)
    assert urls(due_products_of(old, plan, NOW, 3, expected)) == ["Phones", "?", "Books"]


def test_under_a_budget_the_worthiest_come_first() -> None:
    products = [known(8, 0, "calm"), known(3, 6, "lively"), known(1, 0, "fresh")]
    assert urls(due_products_of(products, PLAN, NOW, 10)) == ["lively", "calm"]
    assert urls(due_products_of(products, PLAN, NOW, 1)) == ["lively"]


def test_a_price_that_no_budget_can_follow_is_left_for_others() -> None:
    products = [known(8, 3000, f"wild {n}") for n in range(5)] + [known(8, 3, "steady")]
    assert urls(due_products_of(products, PLAN, NOW, 1)) == ["steady"]


def test_a_share_of_the_budget_goes_to_who_waited_longest() -> None:
    wild = [known(40 + n / 10, 3000, f"wild {n}") for n in range(20)]
    products = wild + [known(8, 3, f"steady {n}") for n in range(200)]
    found = urls(due_products_of(products, PLAN, NOW, 100))
    assert len(found) == 100
    assert {url for url in found if "wild" in url} == {"wild 19", "wild 18", "wild 17"}
    assert round(100 * SWEEP_SHARE) == 3
    one_by_one = [
        urls(due_products_of(products, PLAN, NOW, 1, sent_count=n))[0] for n in range(100)
    ]
    assert sum("wild" in url for url in one_by_one) == 3


def test_a_watch_list_comes_before_the_site_files_rule() -> None:
    plan = Plan(site_id="shop", recrawl_s=WEEK, importance=lambda k: 10 if k.brand == "A" else 1)
    products = [known(8, 3, "plain"), known(8, 3, "brand", brand="A")]
    assert urls(due_products_of(products, plan, NOW, 1)) == ["brand"]
    products.append(known(8, 3, "listed", brand="A", watched=20.0))
    assert urls(due_products_of(products, plan, NOW, 1)) == ["listed"]


@pytest.mark.parametrize("given", [math.nan, "much", None, True, ValueError("no")])
def test_a_rule_that_gives_no_number_counts_as_one_and_is_told_of(
    given: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def rule(product: KnownProduct) -> Any:
        if isinstance(given, Exception):
            raise given
        return given

    with caplog.at_level(logging.WARNING):
        assert importance(known(1), rule) == 1.0
    assert ("importance of u" in caplog.text) == (given is not None)


@pytest.mark.parametrize("given", [-5, 0, 1e99, math.inf, -math.inf])
def test_importance_stays_within_its_bounds(given: float) -> None:
    assert bounds.MIN_IMPORTANCE <= importance(known(1), lambda _: given) <= bounds.MAX_IMPORTANCE


@given(st.integers(1, 5000), st.integers(1, 200))
def test_a_days_looks_are_the_budget_exactly_however_often_it_is_asked(
    budget: int, steps: int
) -> None:
    spent = 0
    for step in range(steps):
        spent += allowance(budget, spent, (step + 1) * DAY / steps)
        assert spent <= math.ceil(budget * (step + 1) / steps + 1e-6)
    assert spent == budget

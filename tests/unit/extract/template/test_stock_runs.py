"""Runs of pages in one stock state: which are a lost state, and which are the products' news."""

import random
from collections.abc import Iterable

import pytest

from crawler.extract.template.mass_changes import Contrast
from crawler.extract.template.stock_runs import StockRuns

STATES = ("OutOfStock", "InStock")


def turned(pages: Iterable[tuple[bool, bool]], runs: StockRuns | None = None) -> list[int]:
    """Compare pages (available when stored, available now); the counts that are too many."""
    runs = StockRuns() if runs is None else runs
    counts = []
    for was, now in pages:
        runs.note(now)
        counts.append(runs.compare(now, was))
    return [count for count in counts if count]


def shop(pages: int, sold_out: float = 0.15, seed: int = 1) -> list[bool]:
    rng = random.Random(seed)
    return [rng.random() >= sold_out for _ in range(pages)]


@pytest.mark.parametrize("now", [True, False])
def test_a_state_that_is_lost_shows_in_products_that_had_the_other_one(now: bool) -> None:
    before = shop(200)
    found = turned([(was, was) for was in before] + [(was, now) for was in shop(100, seed=2)])
    assert found
    assert found[0] < 10


@pytest.mark.parametrize("now", [True, False])
def test_without_pages_before_ten_products_are_necessary(now: bool) -> None:
    assert not turned([(not now, now)] * 9)
    assert turned([(not now, now), (now, now)] * 10)[0] == 10


def test_products_that_stay_sold_out_between_end_the_run() -> None:
    pages = [(was, was or number % 8 != 0) for number, was in enumerate(shop(400, 0.5))]
    assert not turned(pages)


@pytest.mark.parametrize("seed", range(8))
def test_restocked_products_of_a_listing_with_sold_out_ones_at_its_end_are_news(seed: int) -> None:
    before, runs = shop(300, seed=seed), StockRuns()
    assert not turned([(was, was) for was in before], runs)
    now = [(was, was or number % 8 == 0) for number, was in enumerate(before)]
    assert not turned(sorted(now, key=lambda pair: not pair[1]), runs)
    assert runs.is_sorted


def test_products_that_were_all_in_stock_are_no_listing_s_order() -> None:
    runs = StockRuns()
    turned([(was, was) for was in shop(200)], runs)
    turned([(True, False)] * 20, runs)
    assert not runs.is_sorted


def test_a_shop_that_was_closed_is_open_again() -> None:
    assert not turned([(False, True)] * 40)


def test_states_that_were_learned_earlier_count_as_pages_before() -> None:
    runs = StockRuns()
    runs.begin({"InStock": 850, "OutOfStock": 150})
    found = turned([(was, True) for was in shop(100, seed=2)], runs)
    assert 5 <= found[0] < 10


def test_a_page_of_each_long_run_is_compared() -> None:
    contrast = Contrast()
    for was in shop(200):
        contrast.needs_comparison(sampled=False, stock=STATES[was])
    compared = [contrast.needs_comparison(sampled=False, stock="InStock") for _ in range(40)]
    assert not compared[0]
    assert all(compared[30:])
    compared = [contrast.needs_comparison(sampled=False, stock="OutOfStock") for _ in range(10)]
    assert all(compared[5:])


def test_a_state_that_is_lost_is_said_once() -> None:
    contrast, changes = Contrast(), []
    for was, now in [(w, w) for w in shop(200)] + [(w, True) for w in shop(100, seed=3)]:
        contrast.needs_comparison(sampled=True, stock=STATES[now])
        changes += contrast.note({"availability": STATES[now]}, {}, {"availability": STATES[was]})
    assert [change.field for change in changes] == ["availability"]
    assert "products in a row could not be had, and all are" in contrast.changed["availability"]

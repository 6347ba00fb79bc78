"""Runs of pages in one stock state: which are a lost state, and which are the products' news."""

import random
from collections.abc import Iterable
from itertools import count

import pytest

from crawler.extract.template.mass_changes import Change, Contrast
from crawler.extract.template.stock_runs import StockRuns

STATES = ("OutOfStock", "InStock")
_NUMBERS = count()
#: By page: whether its product was available when it was stored.
_STORED: dict[str, bool] = {}


def turned(pages: Iterable[tuple[bool, bool]], runs: StockRuns | None = None) -> list[int]:
    """Compare pages (available when stored, available now); the counts that are too many."""
    runs = StockRuns() if runs is None else runs
    counts = []
    for was, now in pages:
        url = f"https://shop.example/{next(_NUMBERS)}"
        _STORED[url] = was
        runs.note(now, url)
        if url not in runs.requested:
            counts.append(runs.compare(now, was))
        while runs.requested:
            url, is_available = runs.requested.popitem()
            if is_available is now:
                counts.append(runs.compare(is_available, _STORED[url]))
            else:
                runs.note_kept(is_available, _STORED[url])
    return [count for count in counts if count]


def shop(pages: int, sold_out: float = 0.15, seed: int = 1) -> list[bool]:
    rng = random.Random(seed)
    return [rng.random() >= sold_out for _ in range(pages)]


@pytest.mark.parametrize("now", [True, False])
def test_a_state_that_is_lost_shows_in_products_that_had_the_other_one(now: bool) -> None:
    before = shop(200)
    found = turned([(was, was) for was in before] + [(was, now) for was in shop(100, seed=2)])
    assert found
    assert found[0] < 10 if now else found[0] == 20


@pytest.mark.parametrize(("now", "least"), [(True, 10), (False, 20)])
def test_without_pages_before_more_products_are_necessary(now: bool, least: int) -> None:
    assert not turned([(not now, now)] * (least - 1))
    assert turned([(not now, now), (now, now)] * least)[0] == least


@pytest.mark.parametrize("seed", range(8))
def test_products_that_sell_out_by_the_half_or_by_the_category_are_news(seed: int) -> None:
    before, rng = shop(300, seed=seed), random.Random(seed)
    assert not turned((was, was and rng.random() < 0.5) for was in before)
    pages = [(was, was and not 100 <= number < 118) for number, was in enumerate(before)]
    assert not turned(pages)


def test_products_that_stay_sold_out_between_end_the_run() -> None:
    pages = [(was, was or number % 8 != 0) for number, was in enumerate(shop(400, 0.5))]
    assert not turned(pages)


@pytest.mark.parametrize("seed", range(8))
def test_restocked_products_of_a_listing_with_sold_out_ones_at_its_end_are_news(seed: int) -> None:
    before, runs = shop(300, seed=seed), StockRuns()
    assert not turned([(was, was) for was in before], runs)
    now = [(was, was or number % 8 == 0) for number, was in enumerate(before)]
    assert not turned(sorted(now, key=lambda pair: not pair[1]), runs)


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


@pytest.mark.parametrize("now", [True, False])
def test_few_products_in_a_row_are_reported_if_the_ones_before_kept_their_state(now: bool) -> None:
    runs, run = StockRuns(), shop(30, sold_out=0.15 if now else 0.85, seed=2)
    turned([(was, was) for was in shop(200, 0.15 if now else 0.85)], runs)
    assert not runs.is_reportable
    turned([(was, now) for was in run], runs)
    assert runs.turned >= 4
    assert runs.is_reportable


def test_a_run_in_which_no_product_changed_is_not_reported() -> None:
    runs = StockRuns()
    turned([(was, was) for was in shop(200)], runs)
    turned([(True, True)] * 60, runs)
    assert not runs.is_reportable


def test_products_that_change_before_the_run_as_often_are_not_reported() -> None:
    runs = StockRuns()
    turned([(was, not was) for was in shop(200)], runs)
    turned([(False, True)] * 4 + [(True, True)] * 30, runs)
    assert not runs.is_reportable


def test_the_stored_states_of_a_long_run_are_requested_once_in_a_while() -> None:
    runs, requested = StockRuns(), 0
    turned([(was, was) for was in shop(200)], runs)
    for number in range(100):
        runs.note(True, f"https://shop.example/n{number}")
        requested += len(runs.requested)
        runs.requested.clear()
    assert 10 < requested < 60


def test_a_run_that_may_be_a_delivery_is_said_and_believed() -> None:
    contrast, changes, stored = Contrast(), [], {}
    pages = [(was, was) for was in shop(200)] + [(was, True) for was in shop(30, seed=2)]
    for number, (was, now) in enumerate(pages):
        url = f"https://shop.example/{number}"
        stored[url] = {"availability": STATES[was]}
        if contrast.needs_comparison(sampled=False, stock=STATES[now], url=url):
            contrast.stock.requested.pop(url, None)
            changes += contrast.note({"availability": STATES[now]}, {}, stored[url])
        for requested in list(contrast.stock.requested):
            changes += contrast.note_requested(requested, stored[requested])
    assert [(change.field, change.believed) for change in changes[:1]] == [("availability", True)]
    assert not contrast.changed


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_wave_of_sold_out_products_after_which_both_states_stay_is_no_lost_state(
    is_lost: bool,
) -> None:
    contrast, changes = Contrast(), list[Change]()
    before = shop(200)
    run = [(True, False)] * 24
    after = [(was, was and not is_lost) for was in shop(40, seed=2)]
    for was, now in [(was, was) for was in before] + run + after:
        contrast.needs_comparison(sampled=True, stock=STATES[now])
        changes += contrast.note({"availability": STATES[now]}, {}, {"availability": STATES[was]})
    assert [change.over for change in changes] == ([False] if is_lost else [False, True])
    assert ("availability" in contrast.changed) is is_lost

"""Under a budget, prices are nearly as right as by the best plan, which knows all rates."""

from __future__ import annotations

from tests.benchmarks.freshness import measure, optimum, parsed, share_right, world


def test_the_optimum_is_above_every_look_spread_evenly() -> None:
    items = world(50, 1)
    for every in (0.5, 3.0, 21.0):
        total = sum(item.weight for item in items)
        even = sum(item.weight * share_right(item.rate, every) for item in items) / total
        assert even < optimum(items, len(items) / every) < 1


def test_a_tight_budget_is_spent_nearly_as_well_as_if_all_rates_were_known() -> None:
    arguments = ["--products", "150", "--seeds", "1", "--budgets", "21"]
    rows = measure(parsed(arguments))

    assert len(rows) == 2
    assert [row for row in rows if row["missed"]] == []

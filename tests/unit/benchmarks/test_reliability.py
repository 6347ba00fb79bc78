"""The groups of a reliability plot, and what they are drawn from."""

from tests.benchmarks.reliability import GROUPS, grouped, of_saved_pages, of_shops, write


def test_each_value_is_in_one_group():
    values = [(chance / 1000, chance % 3 == 0) for chance in range(1000)]
    groups = grouped(values)
    assert [group["from"] for group in groups] == list(GROUPS)
    assert sum(group["values"] for group in groups) == len(values)
    assert all(group["from"] <= group["confidence"] for group in groups)


def test_groups_without_values_are_left_out():
    assert [group["from"] for group in grouped([(0.96, True), (0.99, True)])] == [0.95, 0.98]


def test_the_series_hold_values_of_all_judged_fields():
    assert len(list(of_shops(1))) > 100
    assert len(list(of_saved_pages())) > 500


def test_a_plot_is_the_same_for_the_same_figures(tmp_path):
    found = {"shops": {"groups": grouped([(0.6, True), (0.99, False)])}}
    for name in ("one.svg", "two.svg"):
        write(found, tmp_path / name)
    assert (tmp_path / "one.svg").read_text() == (tmp_path / "two.svg").read_text()
    assert "generated shops" in (tmp_path / "one.svg").read_text()

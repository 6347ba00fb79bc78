"""The judge of the edges finds what it is there for, and a short form of the faults is clean."""

from __future__ import annotations

from decimal import Decimal

import attrs
import pytest

from tests.benchmarks.edges.__main__ import SHORT, play_all
from tests.benchmarks.edges.judge import FIGURES, Evidence, Expected, judge, totals
from tests.benchmarks.edges.site import Thing

URL = "http://127.0.0.2:1/p/1"
THING = Thing("A-1", "1.50")
ROW = {"name": "Thing A-1", "price": Decimal("1.50"), "availability": "InStock", "gone_at": None}
NOTHING = Evidence(answered=frozenset(), read=frozenset(), rows={}, rejected={}, dead={})
HERE = frozenset({URL})


@pytest.mark.parametrize(
    ("fate", "found", "figures"),
    [
        ("stored", {"rows": {URL: ROW}}, []),
        ("stored", {}, ["lost_pages"]),
        ("stored", {"answered": HERE}, ["lost_items"]),
        ("stored", {"dead": {URL: "internal"}}, ["lost_pages"]),
        ("stored", {"rows": {URL: {**ROW, "price": Decimal(2)}}}, ["wrong_rows"]),
        ("stored", {"rows": {URL: {**ROW, "gone_at": "today"}}}, ["false_gone"]),
        ("dead", {"dead": {URL: "internal"}}, []),
        ("dead", {"dead": {URL: ""}}, ["lost_pages"]),
        ("dead", {"dead": {URL: "broken"}, "rows": {URL: ROW}}, ["wrong_rows"]),
        ("read", {"read": HERE}, []),
        ("read", {"answered": HERE}, ["lost_pages"]),
        ("ignored", {}, []),
        ("ignored", {"read": HERE}, ["wrong_rows"]),
        ("rejected", {"rejected": {URL: "P0001"}}, []),
        ("rejected", {"read": HERE}, ["lost_items"]),
        ("said", {"dead": {URL: "lane"}}, []),
        ("said", {}, ["lost_pages"]),
    ],
)
def test_what_a_page_came_to_is_judged_from_outside(fate, found, figures):
    expected = [Expected(fault="some", url=URL, fate=fate, thing=THING)]
    findings = judge(expected, attrs.evolve(NOTHING, **found))

    assert [finding.figure for finding in findings] == figures
    assert totals(findings) == {figure: figures.count(figure) for figure in FIGURES}


@pytest.mark.acceptance
def test_a_short_form_of_the_faults_is_clean(tmp_path):
    faults, findings = play_all(SHORT, tmp_path)

    assert findings == []
    assert faults >= 50

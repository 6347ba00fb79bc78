"""Nothing is lost, whatever dies (I1, I3, I4, I5)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crawler.stores import embedded
from tests.chaos.run import FULL, SHORT, Chaos, Plan
from tests.chaos.sides import Seine
from tests.helpers import server_folder

NOTHING = ("lost_pages", "lost_items", "wrong_items", "politeness_violations", "stuck")


def run(plan: Plan, namespace: str, folder: Path, partitions: int = 1) -> dict[str, Any]:
    with server_folder() as data:
        servers = embedded.start(data)
        side = Seine(servers, namespace, plan.delay_ms, partitions=partitions)
        return Chaos(plan, side, servers, folder).run()


@pytest.mark.alone
@pytest.mark.acceptance
@pytest.mark.timeout(150)
def test_a_short_storm_loses_nothing(namespace, tmp_path, capsys):
    lose_nothing(run(SHORT, namespace, tmp_path), capsys)


@pytest.mark.chaos
@pytest.mark.timeout(150)
def test_a_short_storm_over_four_partitions_loses_nothing(namespace, tmp_path, capsys):
    lose_nothing(run(SHORT, namespace, tmp_path, partitions=4), capsys)


def lose_nothing(figures, capsys):
    with capsys.disabled():
        print(f"\n{json.dumps(figures)}")
    assert {name: figures[name] for name in NOTHING} == dict.fromkeys(NOTHING, 0), figures
    assert figures["kills"] == SHORT.kills


@pytest.mark.chaos
@pytest.mark.timeout(600)
def test_a_long_storm_loses_nothing(namespace, tmp_path, capsys):
    figures = run(FULL, namespace, tmp_path)
    with capsys.disabled():
        print(f"\n{json.dumps(figures)}")
    assert {name: figures[name] for name in NOTHING} == dict.fromkeys(NOTHING, 0), figures
    assert figures["pages"] >= 5000
    assert figures["kills"] == FULL.kills

"""No byte from outside stops, freezes or steers a worker (I8, I9, I11)."""

from __future__ import annotations

import json
import random

import pytest

from tests.benchmarks.hostile.bars import failed
from tests.benchmarks.hostile.kinds import Canaries
from tests.benchmarks.hostile.plan import FULL, SHORT, Inputs
from tests.benchmarks.hostile.run import attack
from tests.benchmarks.hostile.stored import stored


@pytest.fixture
def canaries(tmp_path):
    inside = ["http://127.3.0.1:9", "http://127.3.0.2:9"]
    return Canaries(tmp_path / "canary.txt", tmp_path / "touched", "pw-canary", inside)


def test_a_seed_makes_the_same_inputs_again_and_another_makes_others(canaries):
    one, same, other = (
        Inputs.made(SHORT, n, canaries, "http://127.1.6.10:1", "t") for n in (1, 1, 2)
    )

    assert one == same
    assert one.seeds != other.seeds
    assert one.pages != other.pages


def test_the_long_form_has_as_many_inputs_as_it_says(canaries):
    made = Inputs.made(FULL, 1, canaries, "http://127.1.6.10:1", "t")
    good = [{"url": "http://127.1.5.10:1/x", "meta": {"depth": 1}}]
    items = stored(random.Random(1), "http://127.1.5.10:1", good, canaries)
    blobs = [item.data for item in items.take(FULL.stored)]

    assert len({seed.data for seed in made.seeds}) >= 400
    assert len(set(blobs)) >= 400
    assert len(made.answers) >= 300
    assert len(made.pages) + len(made.shops) >= 300
    assert len(made.asks) >= 60


@pytest.mark.acceptance
@pytest.mark.timeout(180)
def test_a_short_attack_costs_at_most_itself(tmp_path, capsys):
    figures = attack(SHORT, 16, print, tmp_path)
    examples = figures.pop("examples")
    with capsys.disabled():
        print(f"\n{json.dumps(figures)}")

    # A few seconds on a busy machine say nothing of the pace; the long form measures it.
    assert failed(figures, pace=False) == {}, examples

"""What is deployed keeps a day's backlog bounded, and does not swing."""

from __future__ import annotations

import attrs
import pytest

from tests.benchmarks.autoscale import FAULTS, day, draw, judge, no_data, replay
from tests.benchmarks.autoscaler import Autoscaler, Fallback, Policy, Rules, hpa, keda
from tests.unit.deploy.manifests import ROOT

STEADY = Policy(window_s=0, rules=[("Pods", 100, 15)])


def test_the_documented_formula() -> None:
    rules = Rules(target=10, least=1, most=50, up=STEADY, down=STEADY)
    assert Autoscaler(rules, 4).decide(0, 95) == 10, "desired = ceil(metric / target)"
    assert Autoscaler(rules, 4).decide(0, 43) == 4, "within a tenth nothing changes"
    assert Autoscaler(rules, 4).decide(0, 5) == 1
    assert Autoscaler(rules, 4).decide(0, 5000) == 50


def test_a_fall_waits_for_its_window_and_a_rise_is_limited() -> None:
    slow = Policy(window_s=300, rules=[("Percent", 50, 60)])
    quick = Policy(window_s=0, rules=[("Percent", 100, 60), ("Pods", 4, 60)])
    scaler = Autoscaler(Rules(target=10, least=1, most=50, up=quick, down=slow), 2)
    assert scaler.decide(0, 400) == 6, "four more, which is more than twice as many"
    assert scaler.decide(15, 10) == 6
    assert scaler.decide(400, 10) == 3, "half of them"


@pytest.mark.parametrize("rules", [hpa(), keda()], ids=["hpa", "keda"])
def test_a_day_of_backlog_is_worked_off_without_swinging(rules: Rules) -> None:
    verdict = judge(replay(rules))
    assert verdict.backlog_at_end == 0
    # 800,000 pages at the 200 to 280 a second that their sites allow take 3,600 s and more.
    assert verdict.longest_backlog_s < 4500
    assert verdict.reversals <= 4
    assert verdict.changes <= 30
    assert verdict.most_workers <= 12
    assert (verdict.asleep_s > 0) == (rules.least == 0)


def test_a_target_of_all_that_a_worker_holds_would_swing() -> None:
    """Why the target is what runs, and not what is leased: the model can tell the two apart."""
    assert judge(replay(attrs.evolve(hpa(), target=64))).reversals > 50


def test_the_plot_is_current() -> None:
    drawn = draw(replay(keda()), "A day of a fleet that KEDA scales")
    text = (ROOT / "docs" / "autoscale.svg").read_text("utf-8")
    assert text == drawn, "run: python -m tests.benchmarks.autoscale --svg docs/autoscale.svg"


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("rules", [hpa(), keda()], ids=["hpa", "keda"])
def test_no_fault_of_the_data_takes_a_worker_that_holds_leases(rules: Rules, fault: str) -> None:
    verdict = judge(replay(rules, *FAULTS[fault]))
    assert verdict.scaled_below_leases == 0
    assert verdict.lost_pages == 0
    assert verdict.backlog_at_end == 0


def test_the_replay_sees_a_missing_value_that_counts_as_zero() -> None:
    """What KEDA's Prometheus trigger does unless `ignoreNullValues` is false."""
    verdict = judge(replay(keda(), day, lambda now, metric: no_data(now, metric) or 0.0))
    assert verdict.scaled_below_leases > 0


def test_the_replay_sees_a_fallback_that_takes_workers_away() -> None:
    """What KEDA does unless `fallback.behavior` says otherwise."""
    static = attrs.evolve(keda(), fallback=Fallback(after=4, replicas=2, keep_higher=False))
    assert judge(replay(static, *FAULTS["no data"])).scaled_below_leases > 0

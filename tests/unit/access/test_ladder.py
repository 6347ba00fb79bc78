"""When a domain climbs, probes and gives up."""

from __future__ import annotations

import pytest

from crawler.access.ladder import Decision, Policy, View, decide, step_within, steps_for
from scrapy_seine.errors import ConfigError

ALL = ("plain", "tls", "pool", "browser", "browser_pool")
HOUR = 3_600_000


def decided(ways: tuple[str, ...] = ALL, policy: Policy | None = None, **view: object) -> str:
    found = decide(View(**view), ways, policy or Policy())  # type: ignore[arg-type]
    return f"{found.kind} {found.to}" if found else ""


@pytest.mark.parametrize(
    ("good", "bad", "expected"),
    [
        (0, 1, ""),
        (0, 2, ""),
        (0, 3, "climb tls"),
        (3, 3, "climb tls"),
        (4, 3, ""),
        (1000, 3, ""),
        (10, 0, ""),
    ],
)
def test_a_domain_climbs_on_a_share_and_never_on_one(good: int, bad: int, expected: str) -> None:
    assert decided(good=good, bad=bad) == expected


def test_a_domain_climbs_one_step_at_a_time_over_what_there_is() -> None:
    assert decided(step="tls", bad=9) == "climb pool"
    assert decided(("plain", "browser"), bad=9) == "climb browser"
    assert decided(("plain", "tls"), step="pool", bad=9) == ""


def test_on_top_a_domain_is_left_alone_when_nearly_everything_is_bad() -> None:
    top = {"step": "browser_pool"}
    assert decided(**top, bad=19) == ""
    assert decided(**top, good=5, bad=20) == ""
    assert decided(**top, good=2, bad=20) == "stuck browser_pool"


def test_after_a_rest_the_step_below_is_probed_and_rests_grow() -> None:
    assert decided(step="browser", since=1, now=HOUR) == ""
    assert decided(step="browser", since=1, now=HOUR + 1) == "probe pool"
    assert decided(step="browser", since=1, now=HOUR + 1, rests=1) == ""
    assert decided(step="browser", since=1, now=2 * HOUR + 1, rests=1) == "probe pool"
    assert decided(step="browser", since=1, now=24 * HOUR + 1, rests=30) == "probe pool"
    assert decided(step="plain", since=1, now=9 * HOUR) == ""


def test_a_probe_decides_on_the_step_below() -> None:
    probe = {"step": "browser", "probe": "pool", "probed": 1}
    assert decided(**probe, pgood=2) == ""
    assert decided(**probe, pgood=3) == "down pool"
    assert decided(**probe, pgood=2, pbad=1) == "fail pool"
    assert decided(**probe, now=600_001) == "fail pool"


def test_the_budget_keeps_domains_from_dear_steps_only() -> None:
    policy = Policy(budget=100)
    assert decided(policy=policy, spent=100, bad=9) == "climb tls"
    assert decided(policy=policy, spent=99, step="tls", bad=9) == "climb pool"
    assert decided(policy=policy, spent=100, step="tls", bad=9) == ""


def test_the_ways_follow_what_is_allowed_and_what_there_is() -> None:
    everything = {"pretend": True, "better_pool": True, "cap": "browser_pool"}
    assert steps_for(**everything) == ALL  # type: ignore[arg-type]
    assert steps_for(**{**everything, "pretend": False}) == ("plain", "browser")  # type: ignore[arg-type]
    assert steps_for(**{**everything, "better_pool": False}) == ("plain", "tls", "browser")  # type: ignore[arg-type]
    assert steps_for(**{**everything, "cap": "tls"}) == ("plain", "tls")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="helicopter"):
        steps_for(**{**everything, "cap": "helicopter"})  # type: ignore[arg-type]


def test_a_step_that_is_no_longer_there_falls_to_the_next_below() -> None:
    assert step_within("browser_pool", ("plain", "tls")) == "tls"
    assert step_within("tls", ("plain", "browser")) == "plain"
    assert step_within("gone", ALL) == "plain"


def test_a_decision_says_why() -> None:
    assert decide(View(good=1, bad=4), ALL, Policy()) == Decision(
        "climb", "tls", "4 of 5 answers were bad"
    )

"""The ladder: a domain is asked by the cheapest means that works. Pure decisions; Redis remembers.

plain → TLS of a browser → through better proxies → a browser → a browser through better proxies.
A domain climbs when a share of its answers in a window is bad, never because of one. After a rest
a few requests probe one step down. On top, there is nothing left but to leave it alone for a while.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs

from crawler.access.ladder_budget import is_spent
from scrapy_seine.config import SettingsLike, number
from scrapy_seine.errors import ConfigError
from scrapy_seine.records import Value

Kind = Literal["climb", "down", "probe", "fail", "stuck"]


@attrs.frozen(eq=False, repr=False)
class Step(Value):
    """One rung."""

    name: str
    lane: str
    """Lane of the download handler: `plain`, `tls` or `browser`."""
    better_pool: bool
    """Through the pool of better proxies."""
    cost: int
    """Of one page, in pages of the plain lane."""


#: From cheap to dear. The costs are rough: CPU for a browser, money for residential traffic.
STEPS = {
    step.name: step
    for step in (
        Step("plain", "plain", False, 1),
        Step("tls", "tls", False, 1),
        Step("pool", "tls", True, 10),
        Step("browser", "browser", False, 40),
        Step("browser_pool", "browser", True, 100),
    )
}


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Policy(Value):
    """When a domain climbs, probes and gives up."""

    window_s: float = 60.0
    """Answers weigh half after this many seconds."""
    bad: int = 3
    """Bad answers in the window, at least, before it climbs."""
    share: float = 0.5
    """Share of bad answers, at least."""
    stuck_bad: int = 20
    """Bad answers on the top step before the domain is left alone."""
    stuck_share: float = 0.9
    probes: int = 3
    """Requests that probe one step down; each must be good."""
    rest_s: float = 3600.0
    """Seconds on a step before the lower one is probed; doubled with each failed probe."""
    longest_rest_s: float = 86400.0
    probe_s: float = 600.0
    """A probe without result is over after this many seconds."""
    budget: int = 0
    """Cost of expensive steps in an hour, for the fleet, in plain pages; 0: no limit."""
    pause_s: float = 600.0
    """For how long a domain is left alone whose top step fails, or whose hour's budget is spent."""

    @classmethod
    def from_settings(cls, settings: SettingsLike) -> Policy:
        """Read the settings.

        Raises:
            ConfigError: one is wrong.
        """
        return cls(
            window_s=number(settings, "SEINE_LADDER_WINDOW_SECONDS", 60, low=1),
            bad=int(number(settings, "SEINE_LADDER_BAD", 3, low=1)),
            share=number(settings, "SEINE_LADDER_SHARE", 0.5),
            rest_s=number(settings, "SEINE_LADDER_REST_SECONDS", 3600, low=0.1),
            budget=int(number(settings, "SEINE_LADDER_BUDGET", 0)),
            pause_s=number(settings, "SEINE_LADDER_PAUSE_SECONDS", 600),
        )


@attrs.frozen(kw_only=True, eq=False, repr=False)
class View(Value):
    """A domain's place, as Redis tells it. Times in ms."""

    now: int = 0
    spent: int = 0
    """Cost of expensive pages in this hour, of the fleet."""
    step: str = "plain"
    since: int = 0
    good: int = 0
    bad: int = 0
    probe: str = ""
    """Step that is probed, '' = none."""
    pgood: int = 0
    pbad: int = 0
    probed: int = 0
    """When the probe began."""
    rests: int = 0
    """Probes that failed in a row."""
    reason: str = ""
    stuck: int = 0
    """Since when the top step fails; 0: it does not."""


@attrs.frozen(eq=False, repr=False)
class Decision(Value):
    """What is to be done about a domain."""

    kind: Kind
    to: str
    reason: str


def ways_for(*, pretend: bool, better_pool: bool, cap: str) -> tuple[str, ...]:
    """Steps that a site's requests may use, from cheap to dear.

    *pretend*: the site may be asked under a browser's name; else the robot keeps its own on every
    step, and only a browser can give it more. *better_pool*: there are better proxies; *cap*: the
    highest step. Whether a worker has a browser changes nothing: the site waits for one that has.

    >>> ways_for(pretend=False, better_pool=True, cap="browser_pool")
    ('plain', 'browser')
    """
    if cap not in STEPS:
        raise ConfigError(f"the ladder has no step {cap!r}; its steps are {', '.join(STEPS)}")
    found = []
    for name, step in STEPS.items():
        honest = name in ("plain", "browser")
        if (honest or pretend) and (better_pool or not step.better_pool):
            found.append(name)
        if name == cap:
            break
    return tuple(found)


def place(step: str, ways: Sequence[str]) -> str:
    """Give the step that is used where *step* is not among the *ways*: the next one below it."""
    if step in ways:
        return step
    names = list(STEPS)
    rank = names.index(step) if step in STEPS else 0
    below = [way for way in ways if names.index(way) <= rank]
    return below[-1] if below else ways[0]


def decide(view: View, ways: Sequence[str], policy: Policy) -> Decision | None:
    """Say what is to be done about a domain now; None: nothing."""
    at = ways.index(place(view.step, ways))
    if view.probe:
        return _judge_probe(view, policy)
    total = view.good + view.bad
    if view.bad >= policy.bad and view.bad >= policy.share * total:
        if at + 1 < len(ways):
            return _climb(view, ways[at + 1], policy)
        if view.bad >= policy.stuck_bad and view.bad >= policy.stuck_share * total:
            return Decision("stuck", view.step, f"{view.bad} of {total} answers are bad on top")
        return None
    rest_s = min(policy.rest_s * 2 ** min(max(view.rests, 0), 30), policy.longest_rest_s)
    if at > 0 and view.since and view.now - view.since >= rest_s * 1000:
        return Decision("probe", ways[at - 1], f"after {rest_s:g} s")
    return None


def _climb(view: View, to: str, policy: Policy) -> Decision | None:
    if is_spent(STEPS[to].cost, view.spent, policy.budget):
        return None
    return Decision("climb", to, f"{view.bad} of {view.good + view.bad} answers were bad")


def _judge_probe(view: View, policy: Policy) -> Decision | None:
    if view.pbad:
        return Decision("fail", view.probe, "the lower step is still refused")
    if view.pgood >= policy.probes:
        return Decision("down", view.probe, f"{view.pgood} of {view.pgood} probes were good")
    if view.now - view.probed >= policy.probe_s * 1000:
        return Decision("fail", view.probe, "the probe brought no result")
    return None

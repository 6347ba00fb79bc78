"""The ladder: each domain is crawled by the cheapest step that works. Pure; Redis has the state.

plain → TLS of a browser → through better proxies → a browser → a browser through better proxies.
A domain climbs if a share of its responses in a window is bad, never because of a single one. After
a rest a few requests probe the next lower step. A domain whose top step fails is paused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import attrs

from crawler.access.ladder_budget import is_spent
from scrapy_seine.attrs_bases import Value
from scrapy_seine.config import SettingsLike, number
from scrapy_seine.errors import ConfigError

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
    """Cost of one page, in pages of the plain lane."""


#: From cheap to expensive. The costs are rough: CPU of a browser, money for residential traffic.
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
    """When a domain climbs, probes a lower step and pauses."""

    window_s: float = 60.0
    """Seconds after which the counts of responses are halved."""
    bad: int = 3
    """Least number of bad responses in the window for a climb."""
    share: float = 0.5
    """Least share of bad responses for a climb."""
    stuck_bad: int = 20
    """Bad responses on the top step after which the domain pauses."""
    stuck_share: float = 0.9
    probes: int = 3
    """Requests that probe the next lower step; all must be good."""
    rest_s: float = 3600.0
    """Seconds on a step before the lower one is probed; doubled with each failed probe."""
    longest_rest_s: float = 86400.0
    probe_s: float = 600.0
    """A probe without a result ends after this many seconds."""
    budget: int = 0
    """The fleet's budget for expensive steps in an hour, in plain pages; 0: no limit."""
    pause_s: float = 600.0
    """Seconds for which a domain pauses if its top step fails or the hour's budget is spent."""
    cap: str = "browser_pool"
    """The highest step of a site."""
    caps: Mapping[str, str] = attrs.Factory(dict)
    """Other caps, by domain."""

    def cap_of(self, domain: str) -> str:
        """Return the highest step that a domain's requests may use."""
        return str(self.caps.get(domain) or self.cap)

    @classmethod
    def from_settings(cls, settings: SettingsLike, caps: Mapping[str, str] | None = None) -> Policy:
        """Read the settings; *caps* is the table SEINE_LADDER_CAPS.

        Raises:
            ConfigError: a setting is invalid.
        """
        return cls(
            window_s=number(settings, "SEINE_LADDER_WINDOW_SECONDS", 60, low=1),
            bad=int(number(settings, "SEINE_LADDER_BAD", 3, low=1)),
            share=number(settings, "SEINE_LADDER_SHARE", 0.5),
            rest_s=number(settings, "SEINE_LADDER_REST_SECONDS", 3600, low=0.1),
            budget=int(number(settings, "SEINE_LADDER_BUDGET", 0)),
            pause_s=number(settings, "SEINE_LADDER_PAUSE_SECONDS", 600),
            cap=str(settings.get("SEINE_LADDER_CAP", cls().cap)),
            caps=caps or {},
        )


@attrs.frozen(kw_only=True, eq=False, repr=False)
class View(Value):
    """A domain's state on the ladder, as read from Redis. Times in ms."""

    now: int = 0
    spent: int = 0
    """The fleet's cost of expensive pages in this hour."""
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
    """Time since which the top step fails; 0: it does not."""


@attrs.frozen(eq=False, repr=False)
class Decision(Value):
    """A move of a domain on the ladder."""

    kind: Kind
    to: str
    reason: str


def steps_for(*, pretend: bool, better_pool: bool, cap: str) -> tuple[str, ...]:
    """Return the steps that a site's requests may use, from cheap to expensive.

    *pretend*: requests may have a browser's identity; otherwise the robot keeps its own on every
    step, so that only a real browser can help. *better_pool*: there are better proxies; *cap*: the
    highest step. Browser steps are included even if this worker has no browser.

    >>> steps_for(pretend=False, better_pool=True, cap="browser_pool")
    ('plain', 'browser')
    """
    if cap not in STEPS:
        raise ConfigError(f"the ladder has no step {cap!r}; its steps are {', '.join(STEPS)}")
    names = []
    for name, step in STEPS.items():
        is_honest = name in ("plain", "browser")
        if (is_honest or pretend) and (better_pool or not step.better_pool):
            names.append(name)
        if name == cap:
            break
    return tuple(names)


def step_within(step: str, steps: Sequence[str]) -> str:
    """Return *step*, or the next one below it if it is not among the *steps*."""
    if step in steps:
        return step
    names = list(STEPS)
    rank = names.index(step) if step in STEPS else 0
    lower_ways = [way for way in steps if names.index(way) <= rank]
    return lower_ways[-1] if lower_ways else steps[0]


def decide(view: View, steps: Sequence[str], policy: Policy) -> Decision | None:
    """Decide a domain's move; None: it stays."""
    index = steps.index(step_within(view.step, steps))
    if view.probe:
        return _judge_probe(view, policy)
    total = view.good + view.bad
    if view.bad >= policy.bad and view.bad >= policy.share * total:
        if index + 1 < len(steps):
            return _climb(view, steps[index + 1], policy)
        if view.bad >= policy.stuck_bad and view.bad >= policy.stuck_share * total:
            return Decision("stuck", view.step, f"{view.bad} of {total} answers are bad on top")
        return None
    rest_s = min(policy.rest_s * 2 ** min(max(view.rests, 0), 30), policy.longest_rest_s)
    if index > 0 and view.since and view.now - view.since >= rest_s * 1000:
        return Decision("probe", steps[index - 1], f"after {rest_s:g} s")
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

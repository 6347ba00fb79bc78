"""Replay a day's backlog against the autoscalers' documented formula, and draw what happens.

`python -m tests.benchmarks.autoscale [--json] [--svg docs/autoscale.svg]`

The formula is that of the HorizontalPodAutoscaler (KEDA makes one): every 15 s,
desired = ceil(metric / target), unchanged within a tolerance of 10 %, held by the stabilisation
windows and limited by the policies; KEDA adds zero, after a cool-down. The numbers are read from
k8s/components, so that what is simulated is what is deployed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import yaml

COMPONENTS = Path(__file__).parents[2] / "k8s" / "components"
DAY_S = 86_400
STEP_S = 1
SYNC_S = 15
TOLERANCE = 0.1
#: Requests that a worker holds: read ahead, and running.
IN_HAND = 64
#: From the decision until a pod works: scheduled, started, first lease.
START_S = 30
#: Age of the metric that is acted upon: scrape interval and query.
STALE_S = 20
#: Requests that a worker has running at a time.
RUNNING = 32
#: Seconds from a request to its commit.
LATENCY_S = 1.0
#: Pages a second of one worker.
PAGES_S = RUNNING / LATENCY_S


@attrs.frozen(kw_only=True)
class Policy:
    """One direction of `behavior`."""

    window_s: float
    rules: Sequence[tuple[str, float, float]]
    """Kind (Percent or Pods), value, period in seconds; the most generous one counts."""


@attrs.frozen(kw_only=True)
class Rules:
    """What one autoscaler is told."""

    target: float
    least: int
    most: int
    up: Policy
    down: Policy
    cooldown_s: float = 0.0
    """Until the last worker goes, where *least* is 0."""


def _policy(raw: dict[str, Any]) -> Policy:
    rules = [(p["type"], float(p["value"]), float(p["periodSeconds"])) for p in raw["policies"]]
    return Policy(window_s=raw["stabilizationWindowSeconds"], rules=rules)


def hpa() -> Rules:
    """Read the HorizontalPodAutoscaler that is deployed."""
    spec = yaml.safe_load((COMPONENTS / "autoscale-hpa" / "hpa.yaml").read_text())["spec"]
    return Rules(
        target=float(spec["metrics"][0]["external"]["target"]["averageValue"]),
        least=spec["minReplicas"],
        most=spec["maxReplicas"],
        up=_policy(spec["behavior"]["scaleUp"]),
        down=_policy(spec["behavior"]["scaleDown"]),
    )


def keda() -> Rules:
    """Read the ScaledObject that is deployed."""
    text = (COMPONENTS / "autoscale-keda" / "scaledobject.yaml").read_text()
    spec = next(yaml.safe_load_all(text))["spec"]
    behavior = spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    return Rules(
        target=float(spec["triggers"][0]["metadata"]["threshold"]),
        least=spec["minReplicaCount"],
        most=spec["maxReplicaCount"],
        up=_policy(behavior["scaleUp"]),
        down=_policy(behavior["scaleDown"]),
        cooldown_s=float(spec["cooldownPeriod"]),
    )


@attrs.define
class Autoscaler:
    """The documented decision, with its memory."""

    rules: Rules
    replicas: int
    _wishes: deque[tuple[float, int]] = attrs.Factory(deque)
    _sizes: deque[tuple[float, int]] = attrs.Factory(deque)
    _active_s: float = 0.0

    def decide(self, now: float, metric: float) -> int:
        """Return the number of replicas from now on."""
        if metric > 0:
            self._active_s = now
        if self.replicas == 0:
            self.replicas = 1 if metric > 0 else 0
        elif self.rules.least == 0 and now - self._active_s >= self.rules.cooldown_s:
            self.replicas = 0
        else:
            self.replicas = self._scale(now, metric)
        self._sizes.append((now, self.replicas))
        return self.replicas

    def _scale(self, now: float, metric: float) -> int:
        ratio = metric / (self.rules.target * self.replicas)
        steady = abs(ratio - 1) <= TOLERANCE
        lease_request = self.replicas if steady else math.ceil(metric / self.rules.target)
        lease_request = min(max(lease_request, self.rules.least, 1), self.rules.most)
        self._wishes.append((now, lease_request))
        while self._wishes[0][0] < now - max(self.rules.up.window_s, self.rules.down.window_s):
            self._wishes.popleft()
        lowest = min(self._within(now, self.rules.up.window_s))
        highest = max(self._within(now, self.rules.down.window_s))
        if lowest > self.replicas:
            return min(lowest, self._limit(now, self.rules.up, up=True))
        if highest < self.replicas:
            return max(highest, self._limit(now, self.rules.down, up=False))
        return self.replicas

    def _within(self, now: float, window_s: float) -> Iterator[int]:
        return (lease_request for at, lease_request in self._wishes if at >= now - window_s)

    def _limit(self, now: float, policy: Policy, *, up: bool) -> int:
        reached = []
        for kind, value, period_s in policy.rules:
            past = [size for at, size in self._sizes if at >= now - period_s] or [self.replicas]
            start = min(past) if up else max(past)
            change = value if kind == "Pods" else start * value / 100
            reached.append(math.ceil(start + change) if up else math.floor(start - change))
        return max(reached) if up else min(reached)


@attrs.frozen(kw_only=True)
class Moment:
    """One step of the day."""

    at_s: float
    backlog: float
    """Requests not done yet."""
    metric: float
    workers: int
    """Replicas asked for."""
    ready: int
    """Workers that work."""
    needed: float
    """Workers that the sites' politeness could keep busy."""


def day(at_s: float) -> tuple[float, float]:
    """Return new requests a second, and requests a second that the sites allow together.

    A full crawl of 800,000 pages comes at 01:15, recrawls all day with a hump at noon, a burst of
    seeds at 18:00, and nothing from 22:00; the number of sites that may be asked varies.
    """
    hour = at_s / 3600
    arriving = 0.0
    if 1.25 <= hour < 1.75:
        arriving += 800_000 / 1800
    if 6 <= hour < 22:
        arriving += 25 + 45 * max(0.0, math.sin(math.pi * (hour - 8) / 10)) ** 2
    if 18 <= hour < 18.1:
        arriving += 60_000 / 360
    allowed = 240 + 80 * math.sin(2 * math.pi * hour / 3) + 40 * math.sin(2 * math.pi * hour / 0.37)
    return arriving, allowed


def replay(rules: Rules, curve: Callable[[float], tuple[float, float]] = day) -> list[Moment]:
    """Run a day; returns each step."""
    scaler = Autoscaler(rules, max(rules.least, 0))
    backlog, moments = 0.0, []
    starting: deque[tuple[float, int]] = deque()
    ready, seen = scaler.replicas, deque([(0.0, 0.0)])
    for step in range(DAY_S // STEP_S):
        now = float(step * STEP_S)
        arriving, allowed = curve(now)
        backlog += arriving * STEP_S
        while starting and starting[0][0] <= now:
            ready = min(scaler.replicas, starting.popleft()[1])
        ready = min(ready, scaler.replicas)
        # Sites that allow n requests a second have room for n times the latency, and what a
        # worker has read ahead takes room as well.
        room = min(backlog, allowed * LATENCY_S)
        leased = min(room, ready * IN_HAND)
        due_now = room - leased
        metric = leased + due_now
        needed = min(backlog / STEP_S, allowed) / PAGES_S
        backlog -= min(leased / LATENCY_S, ready * PAGES_S) * STEP_S
        backlog = 0.0 if backlog < 1e-6 else backlog
        seen.append((now, metric))
        while len(seen) > 1 and seen[1][0] <= now - STALE_S:
            seen.popleft()
        if now % SYNC_S == 0:
            before = scaler.replicas
            if scaler.decide(now, seen[0][1]) > before:
                starting.append((now + START_S, scaler.replicas))
        moments.append(
            Moment(
                at_s=now,
                backlog=backlog,
                metric=metric,
                workers=scaler.replicas,
                ready=ready,
                needed=needed,
            )
        )
    return moments


@attrs.frozen(kw_only=True)
class Verdict:
    """How a day went."""

    most_workers: int
    changes: int
    """How often the number of workers changed."""
    reversals: int
    """How often it rose within ten minutes of a fall, or fell within ten minutes of a rise."""
    longest_backlog_s: float
    """The longest time for which anything was waiting."""
    backlog_at_end: float
    idle_share: float
    """Worker time beyond what the sites could have kept busy, of all worker time."""
    asleep_s: float
    """Time with no worker at all."""
    worker_hours: float


def judge(moments: Sequence[Moment]) -> Verdict:
    """Look a day over."""
    turns = [(b.at_s, b.workers - a.workers) for a, b in pairwise(moments)]
    turns = [(at, by) for at, by in turns if by]
    reversals = sum(
        (one > 0) != (two > 0) and t2 - t1 < 600 for (t1, one), (t2, two) in pairwise(turns)
    )
    longest = running = 0.0
    for moment in moments:
        running = running + STEP_S if moment.backlog > 0 else 0.0
        longest = max(longest, running)
    total = sum(m.ready for m in moments)
    idle = sum(max(0.0, m.ready - math.ceil(m.needed)) for m in moments)
    return Verdict(
        most_workers=max(m.workers for m in moments),
        changes=len(turns),
        reversals=reversals,
        longest_backlog_s=longest,
        backlog_at_end=moments[-1].backlog,
        idle_share=round(idle / total, 3) if total else 0.0,
        asleep_s=sum(STEP_S for m in moments if m.ready == 0),
        worker_hours=round(total * STEP_S / 3600, 1),
    )


def draw(moments: Sequence[Moment], title: str) -> str:
    """Draw backlog and workers over the day as SVG."""
    width, height, left = 900, 150, 60
    picked = moments[:: max(1, len(moments) // 720)]
    top = max(m.backlog for m in picked) or 1
    most = max(m.workers for m in picked) or 1

    def line(values: Sequence[float], high: float, y0: int, look: str) -> str:
        points = " ".join(
            f"{left + width * i / len(values):.1f},{y0 + height - height * v / high:.1f}"
            for i, v in enumerate(values)
        )
        return f'<polyline fill="none" {look} points="{points}"/>'

    backlog = line([m.backlog for m in picked], top, 42, 'stroke="#1f6feb" stroke-width="1.5"')
    asked = [float(m.workers) for m in picked]
    workers = line(asked, most, 222, 'stroke="#c2410c" stroke-width="1.5"')
    needed = line([min(m.needed, most) for m in picked], most, 222, 'stroke="#a3a3a3"')
    hours = "".join(
        f'<text x="{left + width * h / 24:.0f}" y="392">{h:02d}:00</text>' for h in range(0, 25, 3)
    )
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 990 400" font-family="sans-serif"
 font-size="12">
<rect width="990" height="400" fill="#fff"/>
<text x="{left}" y="16" font-size="14">{title}</text>
<text x="{left}" y="36" fill="#1f6feb">backlog (requests), at most {top:,.0f}</text>
{backlog}
<text x="{left}" y="214" fill="#c2410c">workers asked for, at most {most}</text>
<text x="{left + 250}" y="214" fill="#737373">workers that the sites could keep busy</text>
{needed}
{workers}
<g fill="#525252" text-anchor="middle">{hours}</g>
</svg>
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay both, and print or draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--svg", type=Path)
    given = parser.parse_args(arguments)
    days = {"hpa": replay(hpa()), "keda": replay(keda())}
    found = {name: attrs.asdict(judge(moments)) for name, moments in days.items()}
    if given.svg:
        given.svg.write_text(draw(days["keda"], "A day of a fleet that KEDA scales"), "utf-8")
    if given.json:
        print(json.dumps(found))
    else:
        for name, verdict in found.items():
            print(name, *(f"{key}={value}" for key, value in verdict.items()), sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())

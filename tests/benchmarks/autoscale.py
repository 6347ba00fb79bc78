"""Replay a day's backlog against the autoscalers' documented formula, and draw what happens.

`python -m tests.benchmarks.autoscale [--json] [--svg docs/autoscale.svg]`

The numbers are read from k8s/components, so that what is simulated is what is deployed. The day is
replayed without faults, without data, and with all requests delayed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import attrs

from tests.benchmarks.autoscaler import Autoscaler, Rules, hpa, keda

DAY_S = 86_400
STEP_S = 1
SYNC_S = 15
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
    leased: float
    """Requests that workers hold."""
    arrived: float
    """Requests since the day's begin."""
    done: float


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


#: In the middle of the full crawl, and again at noon, seconds of the day.
_AWAY = ((2.0 * 3600, 2.5 * 3600), (12.0 * 3600, 13.0 * 3600))


def _away(now: float) -> bool:
    return any(begin <= now < end for begin, end in _AWAY)


def delayed_day(at_s: float) -> tuple[float, float]:
    """Return the same day, but twice all requests wait for their time, and none may be sent."""
    arriving, allowed = day(at_s)
    return arriving, 0.0 if _away(at_s) else allowed


def no_data(now: float, metric: float) -> float | None:
    """Give no value twice a day: Prometheus, the adapter or the exporter does not answer."""
    return None if _away(now) else metric


def no_data_by_night(now: float, metric: float) -> float | None:
    """Give no value from the crawl's begin until it is due to be over."""
    return None if 3600 <= now < 3 * 3600 else metric


Curve = Callable[[float], tuple[float, float]]
#: What the autoscaler is told at a time instead of a metric; None: nothing.
Source = Callable[[float, float], float | None]


def _honest(_now: float, metric: float) -> float | None:
    return metric


FAULTS: dict[str, tuple[Curve, Source]] = {
    "no data": (day, no_data),
    "no data when work begins": (day, no_data_by_night),
    "all delayed": (delayed_day, _honest),
    "all delayed, no data": (delayed_day, no_data),
}


def replay(rules: Rules, curve: Curve = day, source: Source = _honest) -> list[Moment]:
    """Run a day; returns each step."""
    scaler = Autoscaler(rules, max(rules.least, 0))
    backlog = arrived = done = 0.0
    moments: list[Moment] = []
    starting: deque[tuple[float, int]] = deque()
    ready, seen = scaler.replicas, deque([(0.0, 0.0)])
    for step in range(DAY_S // STEP_S):
        now = float(step * STEP_S)
        arriving, allowed = curve(now)
        backlog += arriving * STEP_S
        arrived += arriving * STEP_S
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
        ended = min(leased / LATENCY_S, ready * PAGES_S) * STEP_S
        backlog, done = backlog - ended, done + ended
        backlog = 0.0 if backlog < 1e-6 else backlog
        seen.append((now, metric))
        while len(seen) > 1 and seen[1][0] <= now - STALE_S:
            seen.popleft()
        if now % SYNC_S == 0:
            before = scaler.replicas
            if scaler.decide(now, source(now, seen[0][1])) > before:
                starting.append((now + START_S, scaler.replicas))
        moments.append(
            Moment(
                at_s=now,
                backlog=backlog,
                metric=metric,
                workers=scaler.replicas,
                ready=ready,
                needed=needed,
                leased=leased,
                arrived=arrived,
                done=done,
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
    lost_pages: int
    """Requests that came in, and were neither done nor would be: none waits where nobody comes."""
    scaled_below_leases: int
    """Decisions that left fewer workers than those that the leases need."""


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
        lost_pages=_lost(moments[-1]),
        scaled_below_leases=sum(
            after.workers < before.workers and after.workers < math.ceil(before.leased / RUNNING)
            for before, after in pairwise(moments)
        ),
    )


def _lost(end: Moment) -> int:
    """Count what is missing at the end of a day, and what nobody is there for."""
    stranded = end.backlog if end.workers == 0 else 0.0
    return round(end.arrived - end.done - end.backlog + stranded)


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
    for name, rules in {"hpa": hpa(), "keda": keda()}.items():
        for fault, (curve, source) in FAULTS.items():
            found[f"{name}: {fault}"] = attrs.asdict(judge(replay(rules, curve, source)))
    if given.svg:
        given.svg.write_text(draw(days["keda"], "A day of a fleet that KEDA scales"), "utf-8")
    if given.json:
        totals = {
            total: sum(verdict[total] for verdict in found.values())
            for total in ("lost_pages", "scaled_below_leases")
        }
        print(json.dumps({**found, **totals}))
    else:
        for name, verdict in found.items():
            print(name, *(f"{key}={value}" for key, value in verdict.items()), sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())

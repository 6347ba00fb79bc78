"""The autoscalers' documented formula, with the numbers that are deployed.

The formula is that of the HorizontalPodAutoscaler (KEDA makes one): every 15 s,
desired = ceil(metric / target), unchanged within a tolerance of 10 %, held by the stabilisation
windows and limited by the policies; without a value nothing changes. KEDA adds zero, after a
cool-down, and what to do when its trigger fails for some time.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import yaml

COMPONENTS = Path(__file__).parents[2] / "k8s" / "components"
TOLERANCE = 0.1


@attrs.frozen(kw_only=True)
class Policy:
    """One direction of `behavior`."""

    window_s: float
    rules: Sequence[tuple[str, float, float]]
    """Kind (Percent or Pods), value, period in seconds; the most generous one counts."""


@attrs.frozen(kw_only=True)
class Fallback:
    """What KEDA does while its trigger fails."""

    after: int
    """Failures in a row before it acts."""
    replicas: int
    keep_higher: bool
    """More workers than *replicas* stay (`currentReplicasIfHigher`)."""


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
    fallback: Fallback | None = None
    """None: without a value the number of workers stays, as the HorizontalPodAutoscaler does."""


def _policy(raw: dict[str, Any]) -> Policy:
    rules = [(p["type"], float(p["value"]), float(p["periodSeconds"])) for p in raw["policies"]]
    return Policy(window_s=raw["stabilizationWindowSeconds"], rules=rules)


def hpa() -> Rules:
    """Read the HorizontalPodAutoscaler that is deployed."""
    spec = yaml.safe_load((COMPONENTS / "hpa" / "hpa.yaml").read_text())["spec"]
    return Rules(
        target=float(spec["metrics"][0]["external"]["target"]["averageValue"]),
        least=spec["minReplicas"],
        most=spec["maxReplicas"],
        up=_policy(spec["behavior"]["scaleUp"]),
        down=_policy(spec["behavior"]["scaleDown"]),
    )


def keda() -> Rules:
    """Read the ScaledObject that is deployed."""
    text = (COMPONENTS / "keda" / "scaledobject.yaml").read_text()
    spec = next(yaml.safe_load_all(text))["spec"]
    behavior = spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    return Rules(
        target=float(spec["triggers"][0]["metadata"]["targetValue"]),
        least=spec["minReplicaCount"],
        most=spec["maxReplicaCount"],
        up=_policy(behavior["scaleUp"]),
        down=_policy(behavior["scaleDown"]),
        cooldown_s=float(spec["cooldownPeriod"]),
        fallback=Fallback(
            after=spec["fallback"]["failureThreshold"],
            replicas=spec["fallback"]["replicas"],
            keep_higher=spec["fallback"].get("behavior") == "currentReplicasIfHigher",
        ),
    )


@attrs.define
class Autoscaler:
    """The documented decision, with its memory."""

    rules: Rules
    replicas: int
    _wishes: deque[tuple[float, int]] = attrs.Factory(deque)
    _sizes: deque[tuple[float, int]] = attrs.Factory(deque)
    _active_s: float = 0.0
    _failures: int = 0

    def decide(self, now: float, metric: float | None) -> int:
        """Return the number of replicas from now on; no *metric*: the source did not answer."""
        if metric is None:
            self.replicas = self._without_a_value()
            self._sizes.append((now, self.replicas))
            return self.replicas
        self._failures = 0
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

    def _without_a_value(self) -> int:
        self._failures += 1
        fallback = self.rules.fallback
        if fallback is None or self._failures < fallback.after:
            return self.replicas
        kept = self.replicas if fallback.keep_higher else 0
        return max(kept, fallback.replicas)

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

"""Every domain's place on the ladder, in Redis: the fleet climbs as one, and remembers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from redis.asyncio import Redis

from crawler.access.ladder import STEPS, Decision, Policy, View
from crawler.access.ladder_budget import EXPENSIVE
from crawler.access.shared_state import prefix, run, text
from scrapy_seine.lenient import whole
from scrapy_seine.records import Value

#: Milliseconds for which a browser worker counts as alive after it said so.
BROWSERS_MS = 180_000
#: The reason why a domain waits.
NO_BROWSER = (
    "needs a browser worker; none is alive: start one with SEINE_BROWSER=1, "
    "or set SEINE_LADDER_CAP to pool"
)
#: Domains, at most, among which those that wait for a browser are looked for.
_LATEST = 1000
_TEXT = frozenset({"step", "probe", "reason"})


@attrs.frozen(eq=False, repr=False)
class Place(Value):
    """Where a domain stands, for people."""

    domain: str
    view: View
    path: tuple[str, ...]
    """Its last moves, newest first: time in ms, from, to, reason."""


def needs_browser(step: str) -> bool:
    """Whether only a worker with a browser can take a step."""
    return step in STEPS and STEPS[step].lane == "browser"


class LadderStore:
    """The ladder of one fleet. Stateless: any number may exist in any process."""

    def __init__(
        self, redis: Redis, fleet: str, policy: Policy | None = None, *, now_ms: int = 0
    ) -> None:
        self.redis = redis
        self.key = prefix(fleet) + "ladder:"
        self.policy = policy or Policy()
        #: 0 asks the server's clock; tests pass their own time.
        self.now_ms = now_ms

    async def tally(self, domain: str, counts: Mapping[str, tuple[int, int]]) -> View:
        """Add good and bad answers by step; returns where the domain stands."""
        args: list[Any] = []
        for step, (good, bad) in counts.items():
            cost = STEPS[step].cost
            args += (step, good, bad, cost * (good + bad) if cost >= EXPENSIVE else 0)
        window = int(self.policy.window_s * 1000)
        return _view(
            await run(self.redis, "count_verdicts", self.key, self.now_ms, domain, window, *args)
        )

    async def move(self, domain: str, seen: View, decision: Decision) -> bool:
        """Act on a decision; False: somebody else was faster."""
        reply = await run(
            self.redis,
            "ladder_move",
            self.key,
            self.now_ms,
            domain,
            seen.step,
            seen.probe,
            decision.kind,
            decision.to,
            decision.reason,
            self.policy.probes,
        )
        return text(reply) == "OK"

    async def ticket(self, domain: str, probe: str) -> bool:
        """Whether one more request may probe the lower step."""
        return (
            text(await run(self.redis, "probe_ticket", self.key, self.now_ms, domain, probe))
            == "OK"
        )

    async def announce_browser(self) -> None:
        """Say that a worker with a browser is there; to be repeated."""
        await self.redis.set(self.key + "browsers", "1", px=BROWSERS_MS)

    async def has_browsers(self) -> bool:
        """Whether a worker with a browser was there lately."""
        return bool(await self.redis.exists(self.key + "browsers"))

    async def waiting(self) -> list[str]:
        """Domains that only a browser can ask, while no worker with one is there; the latest."""
        if await self.has_browsers():
            return []
        names: Any = await self.redis.zrevrange(self.key + "domains", 0, _LATEST - 1)
        pipe = self.redis.pipeline(transaction=False)
        for name in map(text, names):
            pipe.hget(f"{self.key}d:{name}", "step")
        found = zip(map(text, names), await pipe.execute(), strict=True)
        return sorted(name for name, step in found if step and needs_browser(text(step)))

    async def places(self) -> list[Place]:
        """Every domain that the ladder knows; for people."""
        names: Any = await self.redis.zrange(self.key + "domains", 0, -1)
        found = []
        for name in sorted(map(text, names)):
            view = await self.tally(name, {})
            path: Any = await self.redis.lrange(f"{self.key}path:{name}", 0, -1)
            found.append(Place(name, view, tuple(map(text, path))))
        return found

    async def reset(self, domain: str) -> bool:
        """Forget a domain; it starts at the bottom."""
        await self.redis.zrem(self.key + "domains", domain)
        return bool(await self.redis.delete(f"{self.key}d:{domain}", f"{self.key}path:{domain}"))


def _view(reply: list[Any]) -> View:
    names = [field.name for field in attrs.fields(View)]
    values: dict[str, Any] = {}
    for name, raw in zip(names, reply, strict=True):
        value = text(raw)
        values[name] = value if name in _TEXT else whole(value)
    values["step"] = values["step"] or "plain"
    return View(**values)

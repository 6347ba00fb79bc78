"""The domains' states on the ladder, in Redis, so that all workers of a fleet use the same step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from redis.asyncio import Redis

from crawler.access.ladder import STEPS, Decision, Policy, View
from crawler.access.ladder_budget import EXPENSIVE
from crawler.access.shared_state import prefix, run
from scrapy_seine.attrs_bases import Value
from scrapy_seine.lenient_parsing import whole_number, word

#: How long a browser worker counts as alive after its announcement, ms.
BROWSERS_MS = 180_000
#: The reason that is shown for a domain that waits.
NO_BROWSER = (
    "needs a browser worker; none is alive: start one with SEINE_BROWSER=1, "
    "or set SEINE_LADDER_CAP to pool"
)
#: Most domains that are searched for those that wait for a browser.
_MAX_SEARCHED = 1000
_TEXT = frozenset({"step", "probe", "reason"})


@attrs.frozen(eq=False, repr=False)
class Place(Value):
    """A domain's state on the ladder, for operators."""

    domain: str
    view: View
    path: tuple[str, ...]
    """Its last moves, newest first: time in ms, old step, new step, reason."""


def needs_browser(step: str) -> bool:
    """Whether a step needs a worker with a browser."""
    return step in STEPS and STEPS[step].lane == "browser"


class LadderStore:
    """The ladder of one fleet. Stateless: any number may exist in any process."""

    def __init__(
        self, redis: Redis, fleet: str, policy: Policy | None = None, *, now_ms: int = 0
    ) -> None:
        self.redis = redis
        self.key = prefix(fleet) + "ladder:"
        self.policy = policy or Policy()
        #: 0: the server's clock is used; tests set a time.
        self.now_ms = now_ms

    async def tally(self, domain: str, counts: Mapping[str, tuple[int, int]]) -> View:
        """Add good and bad responses by step; return the domain's state."""
        args: list[Any] = []
        for step, (good, bad) in counts.items():
            cost = STEPS[step].cost
            args += (step, good, bad, cost * (good + bad) if cost >= EXPENSIVE else 0)
        window = int(self.policy.window_s * 1000)
        return _view(
            await run(self.redis, "count_verdicts", self.key, self.now_ms, domain, window, *args)
        )

    async def move(self, domain: str, view: View, decision: Decision) -> bool:
        """Apply a decision; False: another worker was faster."""
        reply = await run(
            self.redis,
            "ladder_move",
            self.key,
            self.now_ms,
            domain,
            view.step,
            view.probe,
            decision.kind,
            decision.to,
            decision.reason,
            self.policy.probes,
        )
        return word(reply) == "OK"

    async def ticket(self, domain: str, probe: str) -> bool:
        """Whether one more request may probe the lower step."""
        return (
            word(await run(self.redis, "probe_ticket", self.key, self.now_ms, domain, probe))
            == "OK"
        )

    async def announce_browser(self) -> None:
        """Announce a worker with a browser; to be repeated within `BROWSERS_MS`."""
        await self.redis.set(self.key + "browsers", "1", px=BROWSERS_MS)

    async def has_browsers(self) -> bool:
        """Whether a worker with a browser is alive."""
        return bool(await self.redis.exists(self.key + "browsers"))

    async def waiting(self) -> list[str]:
        """Return the latest domains that need a browser, if no worker with a browser is alive."""
        if await self.has_browsers():
            return []
        names: Any = await self.redis.zrevrange(self.key + "domains", 0, _MAX_SEARCHED - 1)
        pipe = self.redis.pipeline(transaction=False)
        for name in map(word, names):
            pipe.hget(f"{self.key}d:{name}", "step")
        steps = zip(map(word, names), await pipe.execute(), strict=True)
        return sorted(name for name, step in steps if step and needs_browser(word(step)))

    async def places(self) -> list[Place]:
        """Return the states of all domains, for operators."""
        names: Any = await self.redis.zrange(self.key + "domains", 0, -1)
        places = []
        for name in sorted(map(word, names)):
            view = await self.tally(name, {})
            path: Any = await self.redis.lrange(f"{self.key}path:{name}", 0, -1)
            places.append(Place(name, view, tuple(map(word, path))))
        return places

    async def reset(self, domain: str) -> bool:
        """Delete a domain's state; it starts at the lowest step."""
        await self.redis.zrem(self.key + "domains", domain)
        return bool(await self.redis.delete(f"{self.key}d:{domain}", f"{self.key}path:{domain}"))


def _view(reply: list[Any]) -> View:
    names = [field.name for field in attrs.fields(View)]
    values: dict[str, Any] = {}
    for name, raw in zip(names, reply, strict=True):
        value = word(raw)
        values[name] = value if name in _TEXT else whole_number(value)
    values["step"] = values["step"] or "plain"
    return View(**values)

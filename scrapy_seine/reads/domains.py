"""Domains: limits, place in the frontier, and outcomes of their requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import attrs
from redis.asyncio import Redis
from redis.exceptions import RedisError

from scrapy_seine.attrs_bases import Value
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.lenient_parsing import real, whole_number, word
from scrapy_seine.reads.outcome_history import OUTCOMES, is_wrong_type

State = Literal["ready", "waiting", "paused", "busy", "idle"]
_ASKED = ("robots", "measured")
_FIELDS = (
    "delay",
    "cap",
    "jitter",
    "site_delay",
    "site_cap",
    *_ASKED,
    "due",
    "blocked",
    "active",
    "paused",
    *OUTCOMES,
)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Domain(Value):
    """One domain at one moment."""

    name: str
    state: State
    """ready: may be served; waiting: not before its time; busy: all slots in use; idle: no work."""
    queued: int
    """Requests ready in its queue, without delayed ones."""
    active: int
    """Requests in flight."""
    delay_ms: int
    """The shortest pause, ms: the largest of the configured, the site's and the measured one."""
    concurrency: int
    due_in_s: float
    """Seconds until it may be served; 0: now."""
    paused: bool
    delay_max_ms: int = 0
    """The longest pause, ms, where pauses are random; less than `delay_ms` where they are not."""
    done: int = 0
    retry: int = 0
    bury: int = 0

    @property
    def ended(self) -> int:
        """Attempts that ended, with any outcome."""
        return self.done + self.retry + self.bury

    @property
    def success(self) -> float | None:
        """Share of attempts that ended well."""
        return self.done / self.ended if self.ended else None


def free_slots(domain: Domain) -> int:
    """Requests that the domain would lease at once: one if it has a delay."""
    slots = 1 if domain.delay_ms > 0 else max(0, domain.concurrency - domain.active)
    return min(domain.queued, slots)


def state_of(*, queued: int, active: int, cap: int, paused: bool, due_in_s: float) -> State:
    """Return a domain's state, by the rules of the frontier's `place`.

    >>> state_of(queued=3, active=0, cap=2, paused=False, due_in_s=0.4)
    'waiting'
    """
    if paused:
        return "paused"
    if not queued:
        return "busy" if active else "idle"
    if active >= cap:
        return "busy"
    return "waiting" if due_in_s > 0 else "ready"


async def read_domains(
    redis: Redis, keys: Keys, names: Sequence[str], now_s: float
) -> list[Domain]:
    """Read the named domains, in that order, in one round trip."""
    pipe = redis.pipeline(transaction=False)
    pipe.hmget(keys.control, "delay", "cap", "jitter")
    for name in names:
        pipe.hmget(keys.domain(name), _FIELDS)
        pipe.zcard(keys.queue(name))
    control, *replies = map(_readable, await pipe.execute(raise_on_error=False))
    delay, cap, jitter = control or (None, None, None)
    defaults = {"delay": whole_number(delay), "cap": whole_number(cap, 16), "jitter": real(jitter)}
    no_fields = (None,) * len(_FIELDS)
    rows = zip(names, replies[::2], replies[1::2], strict=True)
    return [
        _domain(name, fields or no_fields, queued or 0, defaults, now_s)
        for name, fields, queued in rows
    ]


def _readable(reply: Any) -> Any:
    """Return a reply, None of a key of the wrong type: the other domains are shown.

    Raises:
        RedisError: the reply is another error.
    """
    if isinstance(reply, RedisError) and not is_wrong_type(reply):
        raise reply
    return None if isinstance(reply, RedisError) else reply


def _domain(
    name: str, fields: Sequence[bytes | None], queued: int, defaults: dict[str, Any], now_s: float
) -> Domain:
    raw = dict(zip(_FIELDS, fields, strict=True))
    values = {field: whole_number(value) for field, value in raw.items() if value}
    until_ms = max(values.get("due", 0), values.get("blocked", 0))
    due_in_s = round(max(0.0, until_ms / 1000 - now_s), 3)
    delay = values.get("delay", values.get("site_delay", defaults["delay"]))
    asked = max(values.get(name, 0) for name in _ASKED)
    is_fixed = asked or "delay" in values or "site_delay" in values
    jitter = real(raw["jitter"]) if raw["jitter"] else 0.0 if is_fixed else defaults["jitter"]
    cap = values.get("cap", values.get("site_cap", defaults["cap"]))
    active = values.get("active", 0)
    paused = raw["paused"] is not None
    return Domain(
        name=name,
        state=state_of(queued=queued, active=active, cap=cap, paused=paused, due_in_s=due_in_s),
        queued=queued,
        active=active,
        delay_ms=max(delay, asked),
        delay_max_ms=round(max(delay, asked) * (1 + jitter)),
        concurrency=cap,
        due_in_s=due_in_s,
        paused=paused,
        **{outcome: values.get(outcome, 0) for outcome in OUTCOMES},
    )


async def list_domains(redis: Redis, keys: Keys, *, limit: int, start: int = 0) -> list[str]:
    """Return names, the busiest first; then those with work that no worker has reported yet."""
    pipe = redis.pipeline(transaction=False)
    pipe.zrevrange(keys.busiest, start, start + limit - 1)
    if start == 0:
        for part in keys.parts:
            pipe.zrange(part.ready, 0, limit - 1)
        for part in keys.parts:
            pipe.zrange(part.waiting, 0, limit - 1)
    names = [word(name) for reply in await pipe.execute() for name in reply]
    return list(dict.fromkeys(names))[:limit]

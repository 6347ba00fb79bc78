"""Outcomes of requests, by domain and by minute: workers add to it, the dashboard reads it.

| key | type | what it holds | lifetime |
|---|---|---|---|
| busiest | sorted set | domains by requests ended | permanent |
| d:<domain> | hash | `done retry bury` beside the domain's limits | permanent |
| minutes:<hour> | hash | `<minute> <outcome>` of one Unix hour, items and answers | two days |
| tens:<hour> | hash | the same by ten seconds | two hours |
| hours:<day> | hash | the same by hour, of one day (Unix day) | nine days |

A worker that is killed loses at most its last ten seconds: these numbers are for people. The
frontier's own counters are exact.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from scrapy_seine.attrs_bases import Value
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.lenient_parsing import whole_number, word

OUTCOMES = ("done", "retry", "bury")
#: Counts of each step of time: outcomes, items, responses and their total time.
STEP_FIELDS = (*OUTCOMES, "items", "answers", "took_ms")
_KEEP_S = 2 * 86400
_HOUR_S = 3600
_MINUTE_S = 60
_DAY_S = 86400


@attrs.frozen(eq=False, repr=False)
class Grain(Value):
    """The resolution of counts, and how long they are kept."""

    name: str
    step_s: int
    bucket_s: int
    """Time that one hash covers."""
    keep_s: int

    def key(self, keys: Keys, at_s: int) -> str:
        """Return the hash that contains a Unix time."""
        return f"{keys.prefix}{self.name}:{at_s // self.bucket_s}"


TENS = Grain("tens", 10, _HOUR_S, 2 * _HOUR_S)
MINUTES = Grain("minutes", _MINUTE_S, _HOUR_S, _KEEP_S)
HOURS = Grain("hours", _HOUR_S, _DAY_S, 9 * _DAY_S)
GRAINS = (TENS, MINUTES, HOURS)

Ended = Mapping[str, Mapping[str, int]]
"""Ended requests: outcome to number, by domain."""


@attrs.frozen(eq=False, repr=False)
class Minute(Value):
    """One minute of the fleet, or another step of time."""

    at: int
    """Unix time of its beginning, seconds."""
    done: float = 0
    """A whole number, as each count, unless it is an average."""
    retry: float = 0
    bury: float = 0
    items: float = 0
    answers: float = 0
    """Responses whose time was measured."""
    took_ms: float = 0
    """Their total time, ms."""


def totals(ended: Ended) -> dict[str, int]:
    """Sum over domains."""
    return {name: sum(counts.get(name, 0) for counts in ended.values()) for name in OUTCOMES}


async def record(
    redis: Redis,
    keys: Keys,
    ended: Ended,
    items: int,
    now_s: float,
    *,
    answers: int = 0,
    took_s: float = 0.0,
) -> list[ResponseError]:
    """Add one worker's counts since its last report, in one round trip.

    *answers* responses arrived, with a total time of *took_s*. Returns the errors of keys of the
    wrong type, whose counts are lost: repeating the call would count all other keys twice.

    Raises:
        RedisError: possibly nothing was written.
    """
    counts_by_name = {**totals(ended), "items": items}
    counts_by_name |= {"answers": answers, "took_ms": round(took_s * 1000)}
    adds = [
        (keys.domain(domain), outcome, n)
        for domain, counts in ended.items()
        for outcome, n in counts.items()
    ]
    grains = [(g.key(keys, int(now_s)), int(now_s) // g.step_s * g.step_s, g) for g in GRAINS]
    adds += [
        (key, f"{step_start} {name}", n)
        for key, step_start, _ in grains
        for name, n in counts_by_name.items()
        if n
    ]
    # A crawl in partitions has its domains in several slots, and a transaction covers only one.
    pipe = redis.pipeline(transaction=keys.of == 1)
    for key, field, n in adds:
        pipe.hincrby(key, field, n)
    for domain, counts in ended.items():
        pipe.zincrby(keys.busiest, sum(counts.values()), domain)
    for key, _, grain in grains:
        pipe.expire(key, grain.keep_s)
    replies = await pipe.execute(raise_on_error=False)
    spoilt = [add for add, reply in zip(adds, replies, strict=False) if _is_spoilt(reply)]
    refused = [reply for reply in replies if is_wrong_type(reply)]
    for reply in replies:
        if isinstance(reply, Exception) and not (_is_spoilt(reply) or reply in refused):
            raise reply
    for key, field, n in spoilt:  # repeating the call would count other fields twice
        await redis.hset(key, field, str(n))
    return refused


def is_wrong_type(reply: Any) -> bool:
    """Whether a reply says that a key has another type than the call is for."""
    return isinstance(reply, ResponseError) and "WRONGTYPE" in str(reply)


def _is_spoilt(reply: Any) -> bool:
    """Whether a count is no number any more, or exceeds Redis' range."""
    return isinstance(reply, ResponseError) and bool(re.search("integer|overflow", str(reply)))


async def read_minutes(redis: Redis, keys: Keys, now_s: float, minutes: int) -> list[Minute]:
    """Return the last *minutes* minutes, oldest first, the current one last, with empty ones."""
    return await read_steps(redis, keys, MINUTES, now_s, minutes)


async def read_steps(
    redis: Redis, keys: Keys, grain: Grain, now_s: float, steps: int
) -> list[Minute]:
    """Return the last *steps* steps, oldest first, the current one last, with empty ones."""
    last_start = int(now_s) // grain.step_s * grain.step_s
    first_start = last_start - (steps - 1) * grain.step_s
    pipe = redis.pipeline(transaction=False)
    for bucket in range(first_start // grain.bucket_s, last_start // grain.bucket_s + 1):
        pipe.hgetall(grain.key(keys, bucket * grain.bucket_s))
    counts: dict[int, dict[str, int]] = {}
    for reply in await pipe.execute():
        for field, n in reply.items():
            start, _, name = word(field).partition(" ")
            if name in STEP_FIELDS:
                counts.setdefault(whole_number(start), {})[name] = whole_number(n)
    return [
        Minute(start, **counts.get(start, {}))
        for start in range(first_start, last_start + 1, grain.step_s)
    ]


def pages_a_minute(minutes: list[Minute]) -> float:
    """Return pages done per minute, over the last complete minutes (at most five) with work."""
    complete = minutes[:-1][-5:]
    began = next((i for i, m in enumerate(complete) if m.done), None)
    if began is None:
        return float(minutes[-1].done) if minutes else 0.0
    return sum(m.done for m in complete[began:]) / len(complete[began:])

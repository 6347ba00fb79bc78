"""What became of requests, by domain and by minute: workers add to it, the dashboard reads it.

| key | type | what it holds | lifetime |
|---|---|---|---|
| busiest | sorted set | domains by requests ended | permanent |
| d:<domain> | hash | `done retry bury` beside the domain's limits | permanent |
| minutes:<hour> | hash | `<minute> <outcome>` of one hour (Unix hour) | two days |

A worker that is killed takes at most its last ten seconds with it: these numbers are for people.
The frontier's own counters are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from redis.asyncio import Redis

from scrapy_seine.frontier.keys import Keys
from scrapy_seine.lenient import whole, word

OUTCOMES = ("done", "retry", "bury")
#: What is kept of each minute: how requests ended, and items.
MINUTE_FIELDS = (*OUTCOMES, "items")
_KEEP_S = 2 * 86400
_HOUR_S = 3600
_MINUTE_S = 60

Ended = Mapping[str, Mapping[str, int]]
"""Ended requests: outcome to number, by domain."""


@attrs.frozen
class Minute:
    """One minute of the fleet."""

    at: int
    """Unix time of its beginning, seconds."""
    done: int = 0
    retry: int = 0
    bury: int = 0
    items: int = 0


def totals(ended: Ended) -> dict[str, int]:
    """Sum over domains."""
    return {name: sum(counts.get(name, 0) for counts in ended.values()) for name in OUTCOMES}


async def record(redis: Redis, keys: Keys, ended: Ended, items: int, now_s: float) -> None:
    """Add what one worker saw since it last did; one round trip.

    Raises:
        RedisError: nothing is known to be written.
    """
    # The domains of a crawl in partitions are in several slots, which no transaction is over.
    pipe = redis.pipeline(transaction=keys.of == 1)
    for domain, counts in ended.items():
        for outcome, n in counts.items():
            pipe.hincrby(keys.domain(domain), outcome, n)
        pipe.zincrby(keys.busiest, sum(counts.values()), domain)
    hour = minutes_key(keys, int(now_s))
    minute = int(now_s) // _MINUTE_S * _MINUTE_S
    for name, n in {**totals(ended), "items": items}.items():
        if n:
            pipe.hincrby(hour, f"{minute} {name}", n)
    pipe.expire(hour, _KEEP_S)
    await pipe.execute()


def minutes_key(keys: Keys, at_s: int) -> str:
    """Hash of the hour that holds a Unix time."""
    return f"{keys.prefix}minutes:{at_s // _HOUR_S}"


async def read_minutes(redis: Redis, keys: Keys, now_s: float, minutes: int) -> list[Minute]:
    """Last *minutes* minutes, oldest first, the current one last; empty minutes included."""
    last = int(now_s) // _MINUTE_S * _MINUTE_S
    first = last - (minutes - 1) * _MINUTE_S
    pipe = redis.pipeline(transaction=False)
    for hour in range(first // _HOUR_S, last // _HOUR_S + 1):
        pipe.hgetall(minutes_key(keys, hour * _HOUR_S))
    counts: dict[int, dict[str, int]] = {}
    for reply in await pipe.execute():
        for field, n in reply.items():
            at, _, name = word(field).partition(" ")
            if name in MINUTE_FIELDS:
                counts.setdefault(whole(at), {})[name] = whole(n)
    return [Minute(at, **counts.get(at, {})) for at in range(first, last + 1, _MINUTE_S)]


def pages_a_minute(minutes: list[Minute]) -> float:
    """Pages done a minute, over the last whole minutes (at most five) that saw any work."""
    whole = minutes[:-1][-5:]
    began = next((i for i, m in enumerate(whole) if m.done), None)
    if began is None:
        return float(minutes[-1].done) if minutes else 0.0
    return sum(m.done for m in whole[began:]) / len(whole[began:])


def success_rate(counts: Mapping[str, Any]) -> float | None:
    """Share of attempts that ended well, 0 to 1; None: there was none.

    >>> success_rate({"done": 9, "retry": 1, "bury": 0}), success_rate({})
    (0.9, None)
    """
    done = int(counts.get("done", 0))
    ended = sum(int(counts.get(name, 0)) for name in OUTCOMES)
    return done / ended if ended else None

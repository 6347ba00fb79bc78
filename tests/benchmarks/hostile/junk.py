"""Junk written straight into the Redis keys of one hostile domain, and into what screens show."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from scrapy_seine.frontier.keys import Keys
from tests.benchmarks.hostile.kinds import STRINGS

_FIELDS = (
    "delay",
    "cap",
    "jitter",
    "robots",
    "measured",
    "latency",
    "lane",
    "spread",
    "due",
    "slot",
)
_MORE = ("active", "paused", "blocked", "pause", "served", "pages", "no such field")
_VALUES = ("x", "", "-1", "nan", "inf", "-inf", "1e999", "9" * 40, "0x10", "\0", "é", "{}", "[")


def writes(keys: Keys, domains: Sequence[str]) -> list[Callable[[Redis], Any]]:
    """One write a list's entry; each domain has its own kind of trouble."""
    found: list[Callable[[Redis], Any]] = []

    def add(*command: Any) -> None:
        def write(redis: Redis) -> Any:
            return redis.execute_command(*command)

        found.append(write)

    wide = iter(domains)
    for field in (*_FIELDS, *_MORE):
        place = next(wide)
        for value in _VALUES[:4]:
            add("HSET", keys.domain(place), field, value)
    for score, name in (
        ("inf", "no-such-id"),
        ("-inf", "-1"),
        ("5", "x\0y"),
        ("1e300", "999999999"),
    ):
        place = next(wide)
        add("ZADD", keys.queue(place), score, name)
        add("ZADD", keys.ready, 0, place)
    for id_ in ("junk-1", "junk-2", "8.1.2", "é", ""):
        place = next(wide)
        add("HSET", keys.requests, id_, f"{place} junk")
        add("HSET", keys.held, id_, "x y z")
        add("ZADD", keys.leases, 1, id_)
        add("ZADD", keys.queue(place), 1, id_)
        add("ZADD", keys.ready, 0, place)
    for text in STRINGS[8:20]:
        shown = text.encode("utf-8", "replace")[:200]
        add("HSET", keys.worker_info, b"worker-" + shown, shown)
        add("LPUSH", keys.actions, shown)
        add("ZINCRBY", keys.busiest, 1, shown)
        add("ZADD", keys.waiting, 1, b"hostile " + shown)
        add("HSET", keys.autopsy, b"junk-" + shown, shown)
    for text in (b"[]", b"5", b"null", b"{", b'{"at": "x"}', b'{"who": [], "at": 1e400}'):
        add("LPUSH", keys.actions, text)
        add("HSET", keys.worker_info, b"json-" + text, text)
    return found


def write_all(redis: Redis, keys: Keys, domains: Sequence[str], dice: random.Random) -> int:
    """Write all of it in any order; returns how many writes the server took."""
    done = 0
    made = writes(keys, domains)
    dice.shuffle(made)
    for write in made:
        try:
            write(redis)
            done += 1
        except RedisError:
            continue
    return done

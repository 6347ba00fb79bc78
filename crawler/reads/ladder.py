"""Read the ladder's step of each domain (plain, tls, pool, browser …) for display."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import attrs
from redis.asyncio import Redis

from crawler.access.ladder import STEPS
from crawler.access.ladder_store import LadderStore
from scrapy_seine.attrs_bases import Value
from scrapy_seine.lenient_parsing import moment_of, whole_number, word

#: Largest number of domains in the metrics: those with the latest changes.
MAX_DOMAINS = 1000


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Rung(Value):
    """The step of one domain."""

    step: str
    reason: str
    stuck: bool
    """Whether even the top step fails, so that the domain is not requested for a while."""
    moves: Sequence[str] = ()
    """The domain's last moves in words, newest first."""


async def read_rungs(redis: Redis, fleet: str, names: Sequence[str]) -> dict[str, Rung]:
    """Read the steps of the named domains in one round trip; domains without one are left out."""
    key, pipe = LadderStore(redis, fleet).key, redis.pipeline(transaction=False)
    for name in names:
        pipe.hmget(f"{key}d:{name}", "step", "reason", "stuck")
    rows = zip(names, await pipe.execute(), strict=True)
    return {
        name: Rung(step=word(step), reason=word(reason or b""), stuck=(stuck or b"0") != b"0")
        for name, (step, reason, stuck) in rows
        if step
    }


async def read_rung(redis: Redis, fleet: str, name: str) -> Rung | None:
    """Read the step of one domain, and its last moves."""
    rung = (await read_rungs(redis, fleet, [name])).get(name)
    if rung is None:
        return None
    pipe = redis.pipeline(transaction=False)
    pipe.lrange(f"{LadderStore(redis, fleet).key}path:{name}", 0, 19)
    (path,) = await pipe.execute()
    return attrs.evolve(rung, moves=[in_words(word(line)) for line in path])


def in_words(line: str) -> str:
    """Describe one move.

    >>> in_words("0 plain tls 3 of 4 answers were bad")
    '1970-01-01 00:00 UTC: plain to tls, 3 of 4 answers were bad'
    """
    millis, step_before, step_after, reason = [*line.split(" ", 3), "", "", ""][:4]
    moment = moment_of(whole_number(millis) / 1000)
    return f"{moment:%Y-%m-%d %H:%M} UTC: {step_before} to {step_after}, {reason}"


async def count_steps(redis: Redis, fleet: str) -> dict[str, int]:
    """Count domains by step, among those with the latest changes."""
    pipe = redis.pipeline(transaction=False)
    pipe.zrevrange(f"{LadderStore(redis, fleet).key}domains", 0, MAX_DOMAINS - 1)
    (names,) = await pipe.execute()
    rungs = await read_rungs(redis, fleet, [word(name) for name in names])
    counts = Counter(rung.step for rung in rungs.values())
    return {step: counts[step] for step in STEPS} if rungs else {}

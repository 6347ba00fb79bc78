"""The overview: is the fleet healthy, how fast is it, what is stuck. For terminal and browser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import orjson
from redis.asyncio import Redis

from scrapy_seine.attrs_bases import Value
from scrapy_seine.frontier import find as find_frontier
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.runs import Run, list_runs
from scrapy_seine.reads.domains import Domain, list_domains, read_domains
from scrapy_seine.reads.fleet import Fleet, read_fleet
from scrapy_seine.reads.outcome_history import Minute, pages_a_minute, read_minutes

#: Newest dead letters whose reasons are counted.
REASONS_OF = 200
#: Latest runs that are shown.
RUNS = 5
_MINUTE_S = 60


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Overview(Value):
    """All that the first screen shows."""

    fleet: Fleet
    minutes: Sequence[Minute]
    """Oldest first; the last one is still running."""
    domains: Sequence[Domain]
    """The busiest ones."""
    reasons: Mapping[str, int]
    """Why requests were given up, among the newest dead letters."""
    runs: Sequence[Run] = ()
    """The latest ones, newest first; none where all came of seeds."""

    @property
    def pages_a_minute(self) -> float:
        """Pages done per minute, lately."""
        return pages_a_minute(list(self.minutes))

    @property
    def success(self) -> float | None:
        """Share of attempts since the crawl began that succeeded; None: there was none."""
        totals = self.fleet.counts.totals
        done = totals.get("done", 0)
        attempts = done + totals.get("retried", 0) + totals.get("buried", 0)
        return done / attempts if attempts else None

    @property
    def eta_s(self) -> float | None:
        """Seconds until nothing is left at the present speed; None: unknown."""
        undone, rate = self.fleet.counts.undone, self.pages_a_minute
        if not undone:
            return 0.0
        return _MINUTE_S * undone / rate if rate else None

    def plain(self) -> dict[str, Any]:
        """Everything as plain data, for JSON."""
        fleet = attrs.asdict(self.fleet)
        fleet["counts"]["undone"] = self.fleet.counts.undone
        return {
            **fleet,
            "pages_a_minute": round(self.pages_a_minute, 1),
            "success": self.success,
            "eta_s": self.eta_s,
            "minutes": [attrs.asdict(minute) for minute in self.minutes],
            "domains": [attrs.asdict(domain) for domain in self.domains],
            "dead_reasons": dict(self.reasons),
            "runs": [attrs.asdict(run) for run in self.runs],
        }


async def read_overview(
    redis: Redis, crawl: str, *, minutes: int = 60, domains: int = 10
) -> Overview:
    """Read all that the first screen shows.

    Raises:
        RedisError: Redis does not answer.
    """
    fleet = await read_fleet(redis, crawl)
    keys = Keys(crawl, fleet.partitions)
    names = await list_domains(redis, keys, limit=domains)
    return Overview(
        fleet=fleet,
        minutes=await read_minutes(redis, keys, fleet.at, minutes),
        domains=await read_domains(redis, keys, names, fleet.at),
        reasons=await _reasons(redis, keys),
        runs=await list_runs(await find_frontier(redis, crawl), limit=RUNS),
    )


async def _reasons(redis: Redis, keys: Keys) -> dict[str, int]:
    client: Any = redis
    notes: list[bytes | None] = []
    for part in keys.parts:
        ids = await client.zrevrange(part.dead, 0, REASONS_OF // len(keys.parts) - 1)
        notes += await client.hmget(part.autopsy, ids) if ids else []
    return dict(Counter(reason_of(note) for note in notes).most_common())


def reason_of(note: bytes | None) -> str:
    """Reason in a dead letter's note; `unknown` where there is none to read."""
    try:
        fields = orjson.loads(note or b"{}")
    except orjson.JSONDecodeError:
        return "unknown"
    return str(fields.get("reason") or "unknown") if isinstance(fields, dict) else "unknown"

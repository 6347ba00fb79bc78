"""The runs of a crawl: a start request of a crawl that has ended begins the next run.

Within a run no URL is fetched twice; the next run fetches it again. A run begins by one atomic step
on the number that its beginner has read, so that of workers that start together the first one
begins it and the others join. Seeds from Redis belong to no run: the window applies to them (M6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import orjson
from redis.exceptions import ResponseError

from scrapy_seine.attrs_bases import Value
from scrapy_seine.fingerprint import fingerprint, within
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.live_workers import live_workers
from scrapy_seine.frontier.round_trips.server_clock import server_time_s
from scrapy_seine.lenient_parsing import record, whole_number, word
from scrapy_seine.meta import RUN, run_of

#: Newest runs whose beginnings a crawl keeps.
KEPT = 1000


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Latest(Value):
    """A crawl's latest run, as a worker that may begin the next one sees it. Times in Unix ms."""

    number: int
    """0: there was none."""
    name: str = ""
    begun: float = 0.0
    ended: float = 0.0
    """When it was last complete; 0: never."""
    undone: int = 0
    starting: bool = False
    """A live worker is still making start requests."""

    @property
    def running(self) -> bool:
        """Whether it has requests left, or its beginner is still starting."""
        return self.undone > 0 or self.starting or self.ended < self.begun


def begins(latest: Latest, *, name: str, keep: bool, since: float) -> bool:
    """Whether a process that started at *since*, and has a start request, begins the next run.

    >>> ended = Latest(number=3, begun=1000, ended=5000)
    >>> begins(ended, name="", keep=False, since=6000)
    True
    >>> begins(ended, name="", keep=False, since=4000)  # it ended while the process started
    False
    >>> begins(ended, name="", keep=True, since=6000)  # a pod that was restarted
    False
    """
    if name:  # the atomic step reports whether another run has the name
        return name != latest.name
    if latest.number == 0:
        return True
    return not keep and not latest.running and latest.ended < since


async def enter(
    frontier: Frontier, *, name: str, keep: bool, age_ms: float, asked: str = ""
) -> tuple[int, bool]:
    """Begin a run, or join the present one; returns its number, and whether it began here.

    *asked* distinguishes the run's arguments from those of other runs (`asked_for`).

    Raises:
        RedisError: Redis does not answer.
    """
    while True:
        latest, now = await _latest(frontier)
        if not begins(latest, name=name, keep=keep, since=now - age_ms):
            return latest.number, False
        start = {"name": name, "totals": (await frontier.counts()).totals, "asked": asked}
        whole_crawl = Frontier(frontier.redis, frontier.keys.crawl)
        number, reply = await whole_crawl.run(
            "begin_run", latest.number, name, orjson.dumps(start), KEPT
        )
        if word(reply) != "JOINED" or not name:  # else another run began first: try again
            return int(number), word(reply) == "BEGAN"


async def latest_number(frontier: Frontier) -> int:
    """Return the number of a crawl's latest run; 0: there was none.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = frontier.redis
    return whole_number(await client.hget(Keys(frontier.keys.crawl).control, "run"))


async def asked_for(frontier: Frontier, number: int) -> str | None:
    """Return the *asked* that a run began with; None if there is none.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = frontier.redis
    try:
        start = await client.hget(Keys(frontier.keys.crawl).runs, number)
    except ResponseError:  # of another type: `enter` reports that
        return None
    asked = record(start).get("asked")
    return asked if isinstance(asked, str) else None


@attrs.frozen(eq=False, repr=False)
class Closed(Value):
    """The end of a crawl by its own code."""

    at_ms: float
    """When, Unix ms on the server's clock."""
    reason: str


async def close_run(frontier: Frontier, reason: str) -> None:
    """Record that the crawl's own code ended the latest run for all workers.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = frontier.redis
    keys = Keys(frontier.keys.crawl)
    now_ms = int(1000 * await server_time_s(client))
    await client.hset(keys.control, "closed", f"{now_ms} {reason}")
    number = await latest_number(frontier)
    await client.hset(keys.runs, f"closed:{number}", reason)


async def last_close(frontier: Frontier) -> tuple[Closed | None, float]:
    """Return the last end by the crawl's own code, None where there was none, and the time, ms.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = frontier.redis
    at_ms, _, reason = word(
        await client.hget(Keys(frontier.keys.crawl).control, "closed") or b""
    ).partition(" ")
    now_ms = 1000 * await server_time_s(client)
    return (Closed(int(at_ms), reason) if at_ms.isdecimal() else None), now_ms


async def forget_pages(frontier: Frontier, urls: Sequence[str]) -> int:
    """Forget that pages were seen, by links and within the latest run; returns how many.

    Raises:
        FrontierError: the memory is a Bloom filter.
        RedisError: Redis does not answer.
        ValueError: an address is no http(s) URL.
    """
    numbers = [fingerprint(url) for url in urls]
    forgotten = await frontier.forget(numbers)
    # Start requests, and what they lead to, are remembered by run.
    if run := run_of({RUN: await latest_number(frontier)}):
        forgotten += await frontier.forget([within(run, number) for number in numbers])
    return min(forgotten, len(numbers))


async def _latest(frontier: Frontier) -> tuple[Latest, float]:
    """Return the latest run, and the server's time, ms."""
    client: Any = frontier.redis
    now_ms = 1000 * await server_time_s(client)
    control = await client.hmget(Keys(frontier.keys.crawl).control, "run", "run_at", "run_name")
    number = whole_number(control[0])
    # Undone requests are read before the end, because both may change meanwhile.
    undone, _ = await frontier.activity()
    ends = [await client.hget(part.keys.control, "ended") for part in frontier.parts]
    workers = await live_workers(frontier)
    latest = Latest(
        number=number,
        name=word(control[2] or b""),
        begun=whole_number(control[1]),
        ended=max(map(whole_number, ends)),
        undone=undone,
        starting=any(info.get("starting") == number for info in workers),
    )
    return latest, now_ms


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Run(Value):
    """One run, for people."""

    number: int
    name: str
    at: float
    """When it began, Unix seconds."""
    totals: Mapping[str, int]
    """Outcomes of requests from its beginning to the next run's, by word."""
    closed: str = ""
    """Why the crawl's own code ended it; '' if it did not."""


async def list_runs(frontier: Frontier, *, limit: int = 10) -> list[Run]:
    """List the latest runs, the newest first.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = frontier.redis
    fields: Mapping[bytes, bytes] = await client.hgetall(Keys(frontier.keys.crawl).runs)
    numbers = sorted((int(name) for name in fields if name.isdigit()), reverse=True)
    until, runs = (await frontier.counts()).totals, []
    for number in numbers[:limit]:
        start = record(fields[b"%d" % number])
        since = start.get("totals")
        since = since if isinstance(since, dict) else {}
        totals = {name: n - whole_number(since.get(name)) for name, n in until.items()}
        began_s = whole_number(fields.get(b"at:%d" % number)) / 1000
        name = str(start.get("name") or "")
        reason = word(fields.get(b"closed:%d" % number) or b"")
        runs.append(Run(number=number, name=name, at=began_s, totals=totals, closed=reason))
        until = {name: whole_number(n) for name, n in since.items()}
    return runs

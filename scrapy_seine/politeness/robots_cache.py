"""robots.txt of each site, fetched by one worker and stored in Redis for all.

`robots:{origin}` is a hash: state, body (deflated), failures in a row, until (ms), and whether the
site was at a public address. It is kept longer than it is valid, so that failures are counted.
`robots:{origin}:lock` names the fetching worker, which renews it; it expires soon after that
worker's death. All crawls share them.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import attrs
from redis.asyncio import Redis
from redis.exceptions import RedisError

from scrapy_seine.attrs_bases import Value
from scrapy_seine.config import SettingsLike, number
from scrapy_seine.lua_scripts import call, load_script
from scrapy_seine.politeness.robots_rules import SIZE_LIMIT
from scrapy_seine.politeness.robots_status import State

#: How long a lock outlives its worker, s: longer than a worker's event loop is ever blocked.
LOCK_S = 10.0
_STATES: dict[bytes, State] = {b"rules": "rules", b"free": "free", b"away": "away"}


def lifetime_s(settings: SettingsLike) -> float:
    """Read how long a fetched robots.txt is valid for the fleet, s (SEINE_ROBOTS_SECONDS)."""
    return number(settings, "SEINE_ROBOTS_SECONDS", 86400, low=1)


@attrs.frozen(eq=False, repr=False)
class FetchedRobots(Value):
    """A robots.txt that the fleet has."""

    state: State
    body: bytes
    left_s: float
    """For how long it is valid, s."""
    was_public: bool = False
    """Whether a worker reached the site at a public address."""


@attrs.frozen(eq=False, repr=False)
class FetchNeeded(Value):
    """No worker has it: the caller has to fetch it, and to store the result."""

    failures: int
    was_public: bool = False


@attrs.frozen(eq=False, repr=False)
class FetchRunning(Value):
    """Another worker is fetching it."""


class SharedRobots:
    """The fleet's cache of robots.txt files."""

    def __init__(
        self, redis: Redis, token: str, *, lock_s: float = LOCK_S, now_ms: int = 0
    ) -> None:
        self.redis = redis
        self.token = token
        self.lock_s = lock_s
        #: 0 asks the server's clock; tests pass their own time.
        self.now_ms = now_ms

    async def lookup(self, origin: str) -> FetchedRobots | FetchNeeded | FetchRunning:
        """Return what is known of *origin* (`https://host:port`), or who has to fetch it."""
        lua = load_script("scrapy_seine.politeness", "robots")
        args = [self.now_ms, self.token, int(self.lock_s * 1000)]
        word, *fields = await call(self.redis, lua, _keys(origin), args)
        if word == b"FETCH":
            return FetchNeeded(int(fields[0]), bool(fields[1]))
        if word == b"WAIT":
            return FetchRunning()
        robots = _parse(*fields)
        return FetchNeeded(0, bool(fields[3])) if robots is None else robots

    @asynccontextmanager
    async def locked(self, origin: str) -> AsyncIterator[None]:
        """Renew the lock that `lookup` gave during the block, so that no other worker fetches."""
        renewal = asyncio.ensure_future(self._renew(origin))
        try:
            yield
        finally:
            renewal.cancel()

    async def _renew(self, origin: str) -> None:
        while True:
            await asyncio.sleep(self.lock_s / 3)
            with suppress(RedisError, OSError):
                await self.lookup(origin)

    async def store(self, origin: str, robots: FetchedRobots, *, failures: int = 0) -> None:
        """Store the result for the fleet, and release the lock."""
        lua = load_script("scrapy_seine.politeness", "robots_store")
        body = zlib.compress(robots.body[:SIZE_LIMIT]) if robots.body else b""
        args = [self.now_ms, self.token, robots.state, int(robots.left_s * 1000), failures, body]
        await call(self.redis, lua, _keys(origin), [*args, int(robots.was_public)])


def _keys(origin: str) -> list[str]:
    return [f"robots:{{{origin}}}", f"robots:{{{origin}}}:lock"]


def _parse(state: bytes, left_ms: int, body: bytes, was_public: int) -> FetchedRobots | None:
    """Parse a stored robots.txt; None if it is damaged, so that it is fetched again."""
    parsed_state = _STATES.get(state)
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(body, SIZE_LIMIT) if body else b""
    except zlib.error:
        return None
    is_complete = not body or inflater.eof or len(text) == SIZE_LIMIT
    return (
        FetchedRobots(parsed_state, text, int(left_ms) / 1000, bool(was_public))
        if parsed_state is not None and is_complete
        else None
    )

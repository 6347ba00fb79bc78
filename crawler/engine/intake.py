"""Seeds on their way in: claimed, read, pushed, settled. A crash in between loses none.

Users push to a plain list, set or sorted set (`redis-cli lpush catalog:start_urls …`). A claim
moves seeds into a hash with an expiry; when their requests are in the frontier the claim is
settled. A worker that dies in between lets its claims expire, and another takes them.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic

import attrs
import orjson
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from crawler.errors import SeineError
from crawler.frontier.frontier import Frontier
from crawler.frontier.keys import SeedKeys
from crawler.frontier.model import Push
from crawler.frontier.wire import script
from crawler.stores.scripts import call

logger = logging.getLogger(__name__)
#: How long an idle worker blocks on the list before it looks for a set or a sorted set.
TICK_S = 0.4
BATCH = 500
CLAIM_MS = 30_000
REJECTS_KEPT = 10_000


@attrs.define(eq=False)
class Intake:
    """Moves seeds into the frontier for as long as it runs."""

    redis: Redis
    frontier: Frontier
    keys: SeedKeys
    read: Callable[[bytes], Push]
    """Makes a push of a seed; raises SeineError with the reason where it cannot."""
    accepted: Callable[[int, int], Awaitable[None] | None]
    """Told of good and of rejected seeds."""
    before: Callable[[Sequence[Push]], Awaitable[None]] | None = None
    """Told of good seeds before they enter."""
    quiet_at: float = 0.0
    """When a look last found no seed and no claim of anybody (monotonic s)."""
    _looking: set[asyncio.Task[int]] = attrs.field(factory=set, init=False)

    def look(self, then: Callable[[], None]) -> None:
        """Look at once, ahead of the next tick, and call *then*; for who only waits for this."""
        task = asyncio.ensure_future(self._look())
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)
        task.add_done_callback(lambda _: then())

    async def _look(self) -> int:
        try:
            return await self.take()
        except (RedisError, OSError) as error:
            logger.debug("no look for seeds: %s", error)
            return 0

    async def run(self) -> None:
        """Take seeds until cancelled; an outage is waited out."""
        while True:
            try:
                if not await self.take():
                    await self._wait()
            except (RedisError, OSError) as error:
                logger.debug("intake waits for Redis: %s", error)
                await asyncio.sleep(random.uniform(0.5, 1.5))

    async def take(self) -> int:
        """Take one batch; returns how many seeds there were."""
        looked = monotonic()
        keys = [self.keys.seeds, self.keys.claimed, self.keys.claims]
        flat = await call(self.redis, script("claim"), keys, [BATCH, CLAIM_MS])
        if flat:
            await self._accept(list(zip(flat[::2], flat[1::2], strict=True)))
        elif not await self.redis.zcard(self.keys.claims):
            self.quiet_at = looked
        return len(flat) // 2

    async def _accept(self, claims: Sequence[tuple[bytes, bytes]]) -> None:
        pushes: list[Push] = []
        settled: list[bytes] = []
        rejected = 0
        for claim, seed in claims:
            note = b""
            try:
                pushes.append(self.read(seed))
            except SeineError as error:
                rejected += 1
                note = self._note(seed, error)
            settled += (claim, note)
        if self.before is not None:
            await self.before(pushes)
        await self.frontier.push(pushes)
        keys = [self.keys.claimed, self.keys.claims, self.keys.rejected]
        await call(self.redis, script("settle"), keys, [REJECTS_KEPT, *settled])
        waiting = self.accepted(len(pushes), rejected)
        if waiting is not None:
            await waiting

    def _note(self, seed: bytes, error: SeineError) -> bytes:
        text = seed[:2000].decode("utf-8", "backslashreplace")
        logger.warning("seed %.200r rejected: %s", text, error)
        return orjson.dumps({"seed": text, "reason": str(error)})

    async def _wait(self) -> None:
        """Sleep until the list has a seed, or a tick has passed.

        Moving a list's head onto its own head changes nothing, yet blocks until there is one.
        """
        seeds = self.keys.seeds
        try:
            await self.redis.blmove(seeds, seeds, TICK_S, "LEFT", "LEFT")  # type: ignore[arg-type]
        except ResponseError:  # a set or a sorted set: no list to wait on
            await asyncio.sleep(TICK_S / 2)

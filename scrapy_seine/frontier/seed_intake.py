"""Takes seeds in: claim, read, push, settle. A crash in between loses none.

Users push to a plain list, set or sorted set (`redis-cli lpush catalog:start_urls …`). A claim
moves seeds into a hash with an expiry; when their requests are in the frontier the claim is
settled. If a worker dies in between, its claims expire, and another worker takes them: one at a
time, so that a seed that kills its worker kills three of them at most, and takes no other along.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import blake2b
from time import monotonic
from typing import Any

import attrs
import orjson
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from scrapy_seine.errors import BadSeed, SeineError
from scrapy_seine.frontier.encoding.wire import script
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import SeedKeys
from scrapy_seine.frontier.lost_state import new_token
from scrapy_seine.frontier.model import Push
from scrapy_seine.frontier.round_trips.redis_refusals import Refusals, breaks_all
from scrapy_seine.frontier.round_trips.timer import at_random
from scrapy_seine.frontier.shared_seeds import warn_of_shared_seeds
from scrapy_seine.lenient_parsing import whole_number
from scrapy_seine.lua_scripts import call
from scrapy_seine.printable import printable, redact
from scrapy_seine.store_wait import passes

logger = logging.getLogger(__name__)
#: How long a worker blocks on the list (a seed there wakes it at once) before it looks for a set or
#: a sorted set, s: per worker of the fleet, and at most. A seed in a set waits TICK_S if seeds come
#: in one, and LIST_TICK_S if they came in a list so far, whatever the number of workers.
TICK_S, LIST_TICK_S, MOST_TICK_S = 0.4, 12.0, 25.0
#: The same between two looks for seeds of workers that died while they read them.
CLAIMS_S, MOST_CLAIMS_S = 2.0, 60.0
BATCH = 500
CLAIM_MS = 30_000
#: Shortest interval if the last look found no claim: less than a claim's lifetime, so that a claim
#: is noticed before it expires.
QUIET_S = 0.8 * CLAIM_MS / 1000
REJECTS_KEPT = 10_000
#: Workers that may die while they read a seed.
MOST_TRIES = 3
#: Characters of a seed, and of the reason, kept of a rejected seed.
_SHOWN = 2000


#: Of a seed that does not enter although seen (`"dont_filter": false`), as one of a link does.
_OVER = ResponseError("a budget of the crawl is used up, as SEINE_DOMAIN_PAGES")


def _refuses_all(error: ResponseError) -> bool:
    """Whether a server refuses all pushes, for instance one partition's with a full memory."""
    return passes(error) or breaks_all(error)


def mark_of(claim: bytes) -> str:
    """Make the mark of a claimed seed; a worker that takes the claim over makes the same."""
    return str(int.from_bytes(blake2b(claim, digest_size=7).digest()))


@attrs.define(eq=False, repr=False)
class Intake:
    """Moves seeds into the frontier while it runs."""

    redis: Redis
    frontier: Frontier
    keys: SeedKeys
    read: Callable[[bytes], Sequence[Push]]
    """Makes pushes of a seed; raises SeineError with the reason if it cannot."""
    accepted: Callable[[int, int], Awaitable[None] | None]
    """Called with the numbers of good and of rejected seeds."""
    entered: Callable[[Sequence[Push]], None] = lambda pushes: None
    """Called with the pushes of good seeds that the frontier has."""
    before: Callable[[Sequence[Push]], Awaitable[None]] | None = None
    """Called with the pushes of good seeds before they enter."""
    refusals: Refusals = attrs.Factory(lambda: Refusals(lambda name, n: None))
    """Logs what Redis refuses."""
    waits: Redis | None = None
    """For commands that block in the server for up to MOST_TICK_S; None: `redis`, and shorter."""
    workers: Callable[[], int] = lambda: 1
    """Returns the number of live workers."""
    sets: bool = False
    """Whether seeds come in a set or a sorted set, which wakes no worker."""
    batch: int = BATCH
    """Seeds claimed at one time, at most."""
    quiet_at: float = 0.0
    """When a look last found neither seeds nor claims (monotonic s)."""
    _quiet: bool = attrs.field(default=False, init=False)
    """Whether the last look found neither."""
    _looking: set[asyncio.Task[int]] = attrs.field(factory=set, init=False)

    def look(self, then: Callable[[], None]) -> None:
        """Look for seeds now, before the next tick, and call *then* afterwards."""
        task = asyncio.ensure_future(self._look())
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)
        task.add_done_callback(lambda _: then())

    async def _look(self) -> int:
        try:
            return await self.take()
        except (RedisError, OSError) as error:
            logger.debug("seeds were not looked for: %s", error)
            return 0

    async def run(self) -> None:
        """Take seeds until cancelled; an outage is waited out."""
        is_new = True
        while True:
            try:
                if is_new:
                    is_new = False  # what this warns of is no reason to take no seeds
                    await warn_of_shared_seeds(self.redis, self.keys, self.frontier.keys.crawl)
                if not await self.take():
                    await self._wait()
            except (RedisError, OSError) as error:
                meanwhile = f"No seed of {self.keys.seeds} is taken meanwhile"
                if not self.refusals.log_refusal(error, meanwhile):
                    logger.debug("intake waits for Redis: %s", error)
                await asyncio.sleep(random.uniform(0.5, 1.5))
            except Exception:
                # The claims expire and come again one by one; seeds that always fail are rejected.
                logger.exception("intake failed; its seeds come again")
                await asyncio.sleep(1)

    async def close(self) -> None:
        """Close its own connection."""
        if self.waits is not None:
            await self.waits.aclose()

    async def take(self) -> int:
        """Take one batch; returns how many seeds there were.

        Raises:
            RedisError: Redis does not answer; the seeds come again when their claims expire.
        """
        looked = monotonic()
        k = self.keys
        keys = [k.seeds, k.claimed, k.claims, k.tries]
        flat = await call(
            self.redis, script("claim_seeds"), keys, [self.batch, CLAIM_MS, new_token()]
        )
        nothing_free = flat == [b"HELD"]
        if flat and not nothing_free:
            await self._accept(
                list(zip(flat[::3], flat[1::3], map(whole_number, flat[2::3]), strict=True))
            )
            self._quiet = False
        else:
            self._quiet = not nothing_free
            self.quiet_at = looked if self._quiet else self.quiet_at
        return len(flat) // 3

    async def _accept(self, claims: Sequence[tuple[bytes, bytes, int]]) -> None:
        pushes: list[Push] = []
        notes: dict[bytes, bytes] = {}
        owners: list[bytes] = []
        seeds = {claim: seed for claim, seed, _ in claims}
        for claim, seed, tries in claims:
            try:
                seed_pushes = [
                    attrs.evolve(push, mark=f"{mark_of(claim)}.{n}")
                    for n, push in enumerate(self._read(seed, tries))
                ]
            except SeineError as error:
                notes[claim] = self._note(seed, str(error))
            except Exception as error:
                notes[claim] = self._note(seed, f"{type(error).__name__}: {error}")
            else:
                pushes += seed_pushes
                owners += [claim] * len(seed_pushes)
        if self.before is not None:
            await self.before(pushes)
        # All are read, and none killed this worker: later failures are not the seeds' fault.
        client: Any = self.redis
        await client.hdel(self.keys.tries, *seeds)
        errors = await self._push(pushes)
        self.entered([push for index, push in enumerate(pushes) if index not in errors])
        waiting = {owners[i]: error for i, error in errors.items() if _refuses_all(error)}
        for index, refusal in errors.items():
            if (claim := owners[index]) not in waiting:
                notes[claim] = self._note(seeds[claim], f"Redis refuses it: {refusal}")
        settled = [claim for claim in seeds if claim not in waiting]
        await self._settle({claim: notes.get(claim, b"") for claim in settled})
        if waiting:
            raise next(iter(waiting.values()))

    async def _settle(self, notes: Mapping[bytes, bytes]) -> None:
        """Settle claims; *notes* has the reason of each rejected seed, b"" for a good one."""
        k = self.keys
        keys = [k.claimed, k.claims, k.rejected, k.tries]
        arguments = [argument for claim_and_note in notes.items() for argument in claim_and_note]
        await call(self.redis, script("settle_seeds"), keys, [REJECTS_KEPT, *arguments])
        rejected_count = sum(map(bool, notes.values()))
        result = self.accepted(len(notes) - rejected_count, rejected_count)
        if result is not None:
            await result

    def _read(self, seed: bytes, tries: int) -> Sequence[Push]:
        if tries >= MOST_TRIES:
            raise BadSeed(f"{tries} workers ended while they read it")
        return self.read(seed)

    async def _push(self, pushes: Sequence[Push]) -> dict[int, ResponseError]:
        """Push; returns the error of each push that Redis refuses, by index.

        Raises:
            RedisError: Redis does not answer, or refuses all, which is no single push's fault.
        """
        try:
            replies = await self.frontier.push(pushes)
        except ResponseError as error:
            errors = await self._push_each(pushes)
            if len(errors) == len(pushes):
                raise error from None
            return errors
        return {index: _OVER for index, reply in enumerate(replies) if reply == "OVER"}

    async def _push_each(self, pushes: Sequence[Push]) -> dict[int, ResponseError]:
        errors = {}
        for index, push in enumerate(pushes):
            try:
                if "OVER" in await self.frontier.push([push]):
                    errors[index] = _OVER
            except ResponseError as error:
                errors[index] = error
        return errors

    def _note(self, seed: bytes, reason: str) -> bytes:
        text = printable(redact(seed[:_SHOWN].decode("utf-8", "backslashreplace")))
        reason = printable(redact(reason))[:_SHOWN]
        logger.warning("seed %.200r rejected: %s", text, reason)
        return orjson.dumps({"seed": text, "reason": reason})

    async def _wait(self) -> None:
        """Sleep until there is a seed, or until the next look at the claims of other workers.

        Moving a list's head onto its own head changes nothing, yet blocks until there is one. On a
        set or a sorted set the command fails, so that each new call notices one.
        """
        seeds, waits = self.keys.seeds, self.waits or self.redis
        until = monotonic() + self._look_s()
        while (left_s := until - monotonic()) > 0:
            wait_s = max(min(self._tick_s(), left_s), 0.01)  # 0 is for ever
            try:
                if await waits.blmove(seeds, seeds, wait_s, "LEFT", "LEFT") is not None:  # type: ignore[arg-type]
                    self.sets = False
                    return
            except ResponseError as error:
                self.sets = "WRONGTYPE" in str(error)
                if not self.sets:
                    await asyncio.sleep(TICK_S / 2)
                return

    def _tick_s(self) -> float:
        """How long to block on the list until the next look for a set, s."""
        if self.waits is None:
            return self._share_s(TICK_S, TICK_S)
        return self._share_s(TICK_S if self.sets else LIST_TICK_S, MOST_TICK_S)

    def _look_s(self) -> float:
        """How long until the next look at claims of others, s."""
        look_s = self._share_s(CLAIMS_S, MOST_CLAIMS_S)
        return max(QUIET_S, look_s) if self._quiet else look_s

    def _share_s(self, each_s: float, most_s: float) -> float:
        workers = self.workers()
        return at_random(min(each_s * workers, most_s)) if workers > 1 else each_s

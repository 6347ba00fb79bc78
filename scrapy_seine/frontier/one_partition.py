"""The state of one partition in Redis, or of a crawl that is not split, and scripts run on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from scrapy_seine.frontier.dictionaries import Dictionaries
from scrapy_seine.frontier.encoding.seal import NO_SEAL, Seal
from scrapy_seine.frontier.encoding.wire import commit_args, script
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.lost_state import Known, StateError, Watch, new_id
from scrapy_seine.frontier.model import Burial, Done
from scrapy_seine.frontier.packer import Packer
from scrapy_seine.frontier.retry_rules import company
from scrapy_seine.lenient import word
from scrapy_seine.lua_scripts import call


class Part:
    """What all that works on a frontier needs of it: a way to run scripts on the crawl's state.

    Any number may exist in any process. One that was told to `begin` refuses to work on
    another state than the crawl's own (I12); the others work on what is there, as commands do.
    """

    #: Signs what jobs, imports and replays push; a worker's scheduler signs by itself.
    seal: Seal = NO_SEAL

    def __init__(self, redis: Redis, crawl: str | Keys, *, now_ms: int = 0) -> None:
        self.redis = redis
        self.keys = crawl if isinstance(crawl, Keys) else Keys(crawl)
        #: 0 asks the server's clock (I6); tests pass their own time.
        self.now_ms = now_ms
        self.watch = Watch()
        #: What is pushed here is packed, and what is read here unpacked.
        self.packer = Packer()
        self.dictionaries = Dictionaries(self)

    async def run(self, name: str, *args: Any) -> Any:
        """Run one of the scripts; returns its reply as it is.

        Raises:
            StateError: Redis has another state of the crawl than the one that is remembered.
        """
        try:
            stamp = self.watch.stamp(self.now_ms)
            return await call(self.redis, script(name), [self.keys.prefix], [stamp, *args])
        except ResponseError as error:
            raise self.judged(error) from None

    def judged(self, error: Exception) -> Exception:
        """Return what an error reply means; see `Watch.judged`."""
        meant = self.watch.judged(error)
        if isinstance(meant, StateError):
            self.packer.reset()
        return meant

    async def begin(self) -> None:
        """Work on the crawl's present state from now on, and on no other; a new crawl gets one.

        Raises:
            RedisError: a server does not answer.
        """
        self.watch.known = None
        self.packer.reset()
        self.watch.known = Known.read(word(await self.run("begin", new_id())))

    async def reap(self, *, limit: int = 200, max_deliveries: int = 5) -> tuple[int, int]:
        """Take back expired leases; returns how many returned and how many were buried.

        Buried is what *max_deliveries* workers died with, where it is to blame (`company`).
        """
        alone = max_deliveries - company(max_deliveries)
        returned, buried = await self.run("reap", limit, max_deliveries, alone)
        return int(returned), int(buried)

    async def sweep(self, *, limit: int = 500) -> int:
        """Delete up to *limit* keys of the memory's old generations; returns how many."""
        return int(await self.run("sweep", limit))

    def commit_call(self, pages: Sequence[Done | Burial]) -> tuple[str, list[Any]]:
        """Which script commits, and its arguments."""
        if self.keys.index is None:
            return "commit", commit_args(pages, self.packer.pack)
        return "commit_out", commit_args(pages, self.packer.pack, self.keys)

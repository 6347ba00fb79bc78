"""Runs scripts on the state in Redis of one partition, or of a crawl that is not split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from scrapy_seine.frontier.dictionaries import Dictionaries
from scrapy_seine.frontier.dictionary_choice import Packer
from scrapy_seine.frontier.encoding.seal import NO_SEAL, Seal
from scrapy_seine.frontier.encoding.wire import commit_args, script
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.lost_state import KnownState, StateError, Watch, new_id
from scrapy_seine.frontier.model import Burial, Done
from scrapy_seine.frontier.worker_deaths import shared_deaths
from scrapy_seine.lenient_parsing import word
from scrapy_seine.lua_scripts import call, keys_below


class Part:
    """Runs scripts on a crawl's state; everything that uses a frontier goes through it.

    Any number may exist in any process. After `begin`, one refuses to work on another state than
    the crawl's own (I12); others, such as those of commands, work on any state.
    """

    #: Signs what jobs, imports and replays push; a worker's scheduler signs by itself.
    seal: Seal = NO_SEAL

    def __init__(self, redis: Redis, crawl: str | Keys, *, now_ms: int = 0) -> None:
        self.redis = redis
        self.keys = crawl if isinstance(crawl, Keys) else Keys(crawl)
        #: 0 asks the server's clock (I6); tests pass their own time.
        self.now_ms = now_ms
        self.watch = Watch()
        #: Packs requests that are pushed here, and unpacks those read here.
        self.packer = Packer()
        self.dictionaries = Dictionaries(
            self.packer, self.watch, redis, self.keys.control, self.run
        )

    async def run(self, name: str, *args: Any) -> Any:
        """Run one of the scripts; returns its raw reply.

        Raises:
            StateError: Redis has another state of the crawl than the remembered one.
        """
        try:
            stamp = self.watch.stamp(self.now_ms)
            keys = keys_below(self.keys.prefix)
            return await call(self.redis, script(name), keys, [stamp, *args])
        except ResponseError as error:
            raise self.translate_error(error) from None

    def translate_error(self, error: Exception) -> Exception:
        """Translate an error reply; see `Watch.translate`."""
        translated = self.watch.translate(error)
        if isinstance(translated, StateError):
            self.packer.reset()
        return translated

    async def begin(self) -> None:
        """Work on the crawl's present state from now on, and on no other; a new crawl gets an id.

        Raises:
            RedisError: a server does not answer.
        """
        self.watch.known = None
        self.packer.reset()
        self.watch.known = KnownState.parse(word(await self.run("begin", new_id())))

    async def reap(self, *, limit: int = 200, max_deliveries: int = 5) -> tuple[int, int]:
        """Take back expired leases; returns how many returned and how many were buried.

        A request is buried if *max_deliveries* workers died while they held it, and it is to blame
        (`company`).
        """
        alone_deaths = max_deliveries - shared_deaths(max_deliveries)
        returned, buried = await self.run("reap", limit, max_deliveries, alone_deaths)
        return int(returned), int(buried)

    async def sweep(self, *, limit: int = 500) -> int:
        """Delete up to *limit* keys of the seen set's old generations; returns how many."""
        return int(await self.run("sweep", limit))

    def commit_call(self, pages: Sequence[Done | Burial]) -> tuple[str, list[Any]]:
        """Return the script that commits, and its arguments."""
        if self.keys.index is None:
            return "commit", commit_args(pages, self.packer.pack)
        return "commit_out", commit_args(pages, self.packer.pack, self.keys)

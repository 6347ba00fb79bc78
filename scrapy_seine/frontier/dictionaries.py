"""The dictionaries that pack a partition's requests: read from Redis, agreed on with the fleet.

They are stored in `control`, beside the crawl's id (`lua/add_dictionary.lua`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import attrs
from redis.asyncio import Redis
from redis.exceptions import RedisError

from scrapy_seine.frontier.dictionary_choice import Packer
from scrapy_seine.frontier.encoding.packing import (
    MOST_DICTIONARIES,
    Dictionary,
    read_dictionary,
    read_id,
)
from scrapy_seine.frontier.lost_state import Watch
from scrapy_seine.frontier.model import Leased
from scrapy_seine.lenient_parsing import word

#: Calls in which a worker agrees with others on a dictionary, at most: others add theirs meanwhile.
_ROUNDS = 4


@attrs.define(eq=False, repr=False)
class Dictionaries:
    """The dictionaries of one partition."""

    packer: Packer
    watch: Watch
    redis: Redis
    control: str
    """The key of the hash that has them."""
    run: Callable[..., Awaitable[Any]]
    """Runs one of the partition's scripts."""

    async def unpack_stored(self, stored: Sequence[bytes | None]) -> list[bytes | None]:
        """Return stored requests as they were pushed; every read from Redis goes through here.

        A request that cannot be unpacked is returned as it is, and decoding it reports why (I8).

        Raises:
            RedisError: Redis did not return a dictionary.
        """
        packer = self.packer
        plain = [blob and packer.unpack(blob) for blob in stored]
        if packer.unknown_ids:
            ids, packer.unknown_ids = list(packer.unknown_ids), set()
            client: Any = self.redis
            fields = [f"dictionary:{id_.hex()}" for id_ in ids]
            texts = await client.hmget(self.control, fields)
            packer.learn(map(read_dictionary, ids, texts))
            plain = [blob and packer.unpack(blob) for blob in plain]
            packer.unknown_ids.clear()  # an id without a dictionary is not looked up again
        return plain

    async def unpack_leases(self, leased: Leased) -> Leased:
        """Unpack the leased requests.

        Raises:
            RedisError: Redis did not return a dictionary; the leases expire.
        """
        stored = [lease.stored for lease in leased.leases]
        for lease, plain in zip(leased.leases, await self.unpack_stored(stored), strict=True):
            lease.stored = plain or b""
        return leased

    async def agree_if_due(self) -> None:
        """Agree with the fleet on a dictionary, once enough requests were sampled.

        After a failure the next call tries again.
        """
        if self.watch.known is not None and self.packer.wants:
            with self.packer.candidate() as candidate:
                if candidate is not None:
                    await self._agree(candidate)

    async def _agree(self, candidate: Dictionary) -> None:
        """Use a dictionary of the crawl nearly as good as *candidate*, or else *candidate*."""
        offered: dict[str, Dictionary | None] = {}
        for _ in range(_ROUNDS):
            before = self.watch.before
            args = (candidate.id.hex(), candidate.text, MOST_DICTIONARIES, *offered)
            try:
                reply, seq, *rows = await self.run("add_dictionary", *args)
            except (RedisError, OSError):
                return
            if not self.watch.learn_sequence(before, int(seq)):
                return  # the reply is from another state of the crawl
            texts = {word(id_): text for id_, text in zip(rows[::2], rows[1::2], strict=True)}
            offered |= {id_: read_dictionary(read_id(id_), text) for id_, text in texts.items()}
            usable = [dictionary for dictionary in offered.values() if dictionary is not None]
            self.packer.learn([*usable, candidate])
            if word(reply) == "OTHERS" and not self.packer.settle(usable, rival=candidate):
                continue
            if word(reply) == "THERE":
                self.packer.current = candidate
            elif word(reply) == "FULL":
                self.packer.settle(usable)
            return

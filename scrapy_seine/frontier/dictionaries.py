"""What a partition's requests are packed with: read from Redis, and agreed on with the fleet.

They stand in `control`, beside the crawl's identity (`lua/add_dictionary.lua`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
from redis.exceptions import RedisError

from scrapy_seine.frontier.encoding.packing import (
    MOST_DICTIONARIES,
    Dictionary,
    read_dictionary,
    read_id,
)
from scrapy_seine.frontier.model import Leased
from scrapy_seine.lenient import word

if TYPE_CHECKING:
    from scrapy_seine.frontier.one_partition import Part

#: Calls in which a worker agrees with others on a dictionary, at most: they add theirs meanwhile.
_ASKED = 4


@attrs.define(eq=False, repr=False)
class Dictionaries:
    """Those of one partition."""

    part: Part

    async def read(self, stored: Sequence[bytes | None]) -> list[bytes | None]:
        """Return stored requests as they were pushed: each that is read from Redis comes this way.

        One that cannot be unpacked stays as it is, and its decoding says why (I8).

        Raises:
            RedisError: a dictionary could not be asked for.
        """
        packer = self.part.packer
        plain = [one and packer.unpack(one) for one in stored]
        if packer.unknown:
            missing, packer.unknown = list(packer.unknown), set()
            client: Any = self.part.redis
            fields = [f"dictionary:{id_.hex()}" for id_ in missing]
            texts = await client.hmget(self.part.keys.control, fields)
            packer.learn(map(read_dictionary, missing, texts))
            plain = [one and packer.unpack(one) for one in plain]
            packer.unknown.clear()  # what is there under no id is not asked for once more
        return plain

    async def unpacked(self, leased: Leased) -> Leased:
        """Let the requests that were leased be as they were pushed.

        Raises:
            RedisError: a dictionary could not be asked for; the leases expire.
        """
        stored = [lease.stored for lease in leased.leases]
        for lease, plain in zip(leased.leases, await self.read(stored), strict=True):
            lease.stored = plain or b""
        return leased

    async def look(self) -> None:
        """Agree with the fleet on what to pack with, where enough requests were seen to tell.

        What does not succeed is left for the next look.
        """
        if self.part.watch.known is not None and self.part.packer.wants:
            with self.part.packer.looking() as made:
                if made is not None:
                    await self._agree(made)

    async def _agree(self, made: Dictionary) -> None:
        """Use one of the crawl's dictionaries that is nearly as good as *made*, or else that."""
        offered: dict[str, Dictionary | None] = {}
        for _ in range(_ASKED):
            before = self.part.watch.before
            args = (made.id.hex(), made.text, MOST_DICTIONARIES, *offered)
            try:
                said, seq, *rows = await self.part.run("add_dictionary", *args)
            except (RedisError, OSError):
                return
            if not self.part.watch.reached(before, int(seq)):
                return  # the state that said so is not the one that is worked on
            new = {word(id_): text for id_, text in zip(rows[::2], rows[1::2], strict=True)}
            offered |= {id_: read_dictionary(read_id(id_), text) for id_, text in new.items()}
            good = [one for one in offered.values() if one is not None]
            self.part.packer.learn([*good, made])
            if word(said) == "OTHERS" and not self.part.packer.settle(good, rival=made):
                continue
            if word(said) == "THERE":
                self.part.packer.own = made
            elif word(said) == "FULL":
                self.part.packer.settle(good)
            return

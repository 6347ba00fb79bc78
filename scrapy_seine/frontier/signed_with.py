"""With which secrets the requests of a crawl are signed, and who may therefore join it.

A worker sets a request aside whose secret it does not know. So a crawl keeps the names of all
secrets that its workers signed with, until none of its waiting requests needs the name: while a
fleet changes its secret, requests of both wait.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.encoding.seal import signer_of
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.live_workers import live_workers
from scrapy_seine.frontier.one_partition import Part
from scrapy_seine.lenient_parsing import word

#: The field of a crawl's control with the names, separated by spaces.
SIGNED = "signed"
#: The field of a worker's description with the name of its secret.
SIGNS = "signs"
_UNSIGNED = (
    "the workers of crawl {!r} sign its requests, and would set aside what this one adds without a "
    "signature: set their SEINE_SECRET here, too"
)
#: Requests that are looked at together.
_STEP = 500


async def agree_on_secret(frontier: Frontier, noted: str) -> None:
    """Note that a worker signs with its secret from now on; *noted*: names of `SIGNED`.

    Raises:
        ConfigError: it would set aside what waits, or the others would set aside what it adds.
        RedisError: Redis does not answer.
    """
    seal, names = frontier.seal, set(noted.split())
    await refuse_other_signers(frontier)
    if names == {seal.name}:
        return
    client: Any = frontier.redis
    crawl, undone = frontier.keys.crawl, (await frontier.counts()).undone
    if not undone:
        names.clear()
    elif unknown := {name for name in names if not seal.reads(name)}:
        if await _wait_for_any(frontier, unknown):
            raise ConfigError(
                f"of the {undone} requests that wait in crawl {crawl!r} some are signed with "
                "another SEINE_SECRET than this worker's or with none, and would be set aside: "
                "name it in SEINE_SECRET_PREVIOUS (`nothing` for none), let workers with that one "
                "finish them, or empty the crawl (scrapy seine frontier clear)"
            )
        names -= unknown
    await client.hset(Keys(crawl).control, SIGNED, " ".join(sorted(names | {seal.name})))


async def refuse_other_signers(frontier: Frontier) -> None:
    """Refuse to work beside a live worker, if one of both would set aside what the other adds.

    A worker asks before it joins, and again after it has: of two that join at once, at least one
    sees the other.

    Raises:
        ConfigError: there is such a worker.
        RedisError: Redis does not answer.
    """
    seal, crawl = frontier.seal, frontier.keys.crawl
    for info in await live_workers(frontier):
        name = info.get(SIGNS)
        if not isinstance(name, str):  # a worker of 0.2 does not tell, and others may write there
            continue
        if not seal.active and name != seal.name:
            raise ConfigError(_UNSIGNED.format(crawl))
        if not seal.reads(name):
            raise ConfigError(
                f"a worker of crawl {crawl!r} has another SEINE_SECRET than this one or none, so "
                "that this one would set aside what it adds: name its secret in "
                "SEINE_SECRET_PREVIOUS (`nothing` if it has none), or end it first"
            )


async def _wait_for_any(frontier: Frontier, names: Collection[str]) -> bool:
    """Whether a request that is not dead is signed with one of these secrets."""
    for part in frontier.parts:
        if await _part_waits(part, names):
            return True
    return False


async def _part_waits(part: Part, names: Collection[str]) -> bool:
    client: Any = part.redis
    cursor = None
    while cursor != 0:
        cursor, bodies = await client.hscan(part.keys.requests, cursor or 0, count=_STEP)
        plain = await part.dictionaries.unpack_stored(list(bodies.values()))
        signed = zip(bodies, map(signer_of, plain), strict=True)
        for id_ in [id_ for id_, signer in signed if signer in names]:
            if await client.zscore(part.keys.dead, word(id_)) is None:
                return True
    return False

"""Finds the request for a URL. Bounded: it does not scan a queue of millions."""

from __future__ import annotations

from typing import Any

from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.lenient_parsing import word
from scrapy_seine.reads.dead_letters import read_dead
from scrapy_seine.reads.requests import FoundRequest, decode_stored, load, peek
from scrapy_seine.urls import domain as domain_of
from scrapy_seine.urls import normalise

#: Requests searched in each place, at most.
DEPTH = 1000


async def find(frontier: Frontier, url: str) -> list[FoundRequest]:
    """Return the requests for a URL among the first DEPTH of each place it may be in.

    Raises:
        ValueError: it is no URL.
    """
    target, domain = normalise(url), domain_of(url)
    candidates = [
        *await peek(frontier, domain, DEPTH),
        *await _delayed(frontier, domain),
        *await _leased(frontier, domain),
        *await read_dead(frontier.part(domain), limit=DEPTH),
    ]
    return [request for request in candidates if _same(request.url, target)]


def _same(url: str, target: str) -> bool:
    try:
        return normalise(url) == target
    except ValueError:
        return False


async def _delayed(frontier: Frontier, domain: str) -> list[FoundRequest]:
    client: Any = frontier.redis
    delayed = frontier.keys.part(domain).delayed
    rows = await client.zrange(delayed, 0, DEPTH - 1, withscores=True)
    bodies = await load(frontier, [id_ for id_, _ in rows])
    return [
        decode_stored(stored, id=word(id_), state="delayed", at=score / 1000)
        for (id_, score), stored in zip(rows, bodies, strict=True)
    ]


async def _leased(frontier: Frontier, domain: str) -> list[FoundRequest]:
    client: Any = frontier.redis
    keys = frontier.keys.part(domain)
    rows = await client.zrange(keys.leases, 0, DEPTH - 1, withscores=True)
    ids = [id_ for id_, _ in rows]
    holds = await client.hmget(keys.held, ids) if ids else []
    # A hold reads `token worker score domain`.
    matches = [
        (word(id_), score / 1000, word(hold).split(" ")[1])
        for (id_, score), hold in zip(rows, holds, strict=True)
        if hold and f" {domain}" in word(hold)
    ]
    bodies = await load(frontier, [id_.encode() for id_, _, _ in matches])
    return [
        decode_stored(stored, id=id_, state="leased", at=expires_s, worker=worker)
        for (id_, expires_s, worker), stored in zip(matches, bodies, strict=True)
    ]

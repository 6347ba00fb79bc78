"""Single stored requests, read for display."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from scrapy_seine import meta as m
from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import DecodeError
from scrapy_seine.frontier.encoding.codec import decode
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.gather import run_all
from scrapy_seine.frontier.which_partition import part_of_id
from scrapy_seine.lenient_parsing import real, whole_number, word
from scrapy_seine.reads.fleet import meta_of, shown_fields, stored_fields


@attrs.frozen(kw_only=True, eq=False, repr=False)
class FoundRequest(Value):
    """One stored request."""

    id: str
    state: str
    """ready, delayed, leased or dead."""
    url: str
    priority: int = 0
    retries: int = 0
    created: float = 0.0
    """Unix time."""
    at: float = 0.0
    """When it is due, when its lease ends, or when it was buried; Unix time."""
    worker: str = ""
    note: dict[str, Any] = attrs.Factory(dict)


def decode_stored(stored: bytes | None, **more: Any) -> FoundRequest:
    """Decode a stored request; one that cannot be decoded has no URL (I8)."""
    fields = stored_fields(stored or b"")
    meta = meta_of(fields)
    return FoundRequest(
        url=str(fields.get("url") or "(cannot be read)"),
        priority=whole_number(fields.get("priority")),
        retries=whole_number(
            meta.get(m.RETRY_TIMES if m.is_own(meta, m.RETRY_COUNT) else m.RETRY_COUNT)
        ),
        created=0.0 if m.is_own(meta, m.CREATED_AT) else real(meta.get(m.CREATED_AT)),
        **more,
    )


def shown_request(stored: bytes) -> dict[str, Any]:
    """Return a stored request in JSON's types, without credentials, for display.

    One that cannot be decoded has `unreadable` with the reason, and its first bytes (I8).
    """
    try:
        fields: dict[str, Any] = plain(shown_fields(decode(stored.partition(b"\n")[2])))
    except DecodeError as error:
        return {"unreadable": str(error), "bytes": repr(stored[:500])}
    return fields


def plain(value: Any) -> Any:
    """Convert stored data to JSON's types: bytes to text, keys to strings.

    >>> plain({b"a": [b"1", {2: None}]})
    {'a': ['1', {'2': None}]}
    """
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {str(plain(k)): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(v) for v in value]
    return value


async def load(frontier: Frontier, ids: Sequence[bytes]) -> list[bytes | None]:
    """Return stored requests by id, in that order; None: it does not exist any more."""
    client: Any = frontier.redis

    async def read_part(part: Frontier) -> dict[bytes, bytes | None]:
        part_ids = [id_ for id_ in ids if part_of_id(word(id_)) == (part.keys.index or 0)]
        bodies = await client.hmget(part.keys.requests, part_ids) if part_ids else []
        return dict(zip(part_ids, await part.dictionaries.unpack_stored(bodies), strict=True))

    stored: dict[bytes, bytes | None] = {}
    for part_requests in await run_all(map(read_part, frontier.parts)):
        stored |= part_requests
    return [stored.get(id_) for id_ in ids]


async def peek(frontier: Frontier, domain: str, limit: int = 20) -> list[FoundRequest]:
    """Return the requests of a domain that are next."""
    client: Any = frontier.redis
    ids = await client.zrange(frontier.keys.queue(domain), 0, limit - 1)
    rows = zip(ids, await load(frontier, ids), strict=True)
    return [decode_stored(stored, id=word(id_), state="ready") for id_, stored in rows]

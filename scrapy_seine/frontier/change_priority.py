"""Changes the priority of queued requests, by domain, job, site or URL, in short steps.

A request has its priority twice: in its stored header, which places it in the queue, and in the
packed request, from which a worker takes it for a retry. So each request is read, packed (and
signed) again, and replaced, in one script call for a whole step. A command that dies half way has
changed some of the requests and lost none; the same command changes the rest.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from hashlib import sha1
from typing import Any

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import ConfigError, DecodeError, EncodeError
from scrapy_seine.frontier.encoding.codec import decode, encode
from scrapy_seine.frontier.model import header_of
from scrapy_seine.frontier.one_partition import Part
from scrapy_seine.frontier.priority_level import PRIORITY_LIMIT
from scrapy_seine.lenient_parsing import word
from scrapy_seine.meta import SITE_ID

#: Requests read in one step, and requests changed by one script, at most.
STEP, CHANGED_AT_ONCE = 500, 100
Stored = tuple[str, bytes]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class RequestSelection(Value):
    """Selects queued requests; each field that is not empty narrows the selection."""

    domain: str = ""
    job: str = ""
    site: str = ""
    """`meta["site_id"]`."""
    url: str = ""
    """The whole URL; a `*` stands for any text."""

    def takes(self, fields: Mapping[str, Any]) -> bool:
        """Whether a decoded request is selected, by its site and URL."""
        meta = fields.get("meta")
        site = meta.get(SITE_ID) if isinstance(meta, dict) else None
        return (not self.site or site == self.site) and (
            not self.url or matches(self.url, str(fields["url"]))
        )


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Changed(Value):
    """What `set_priority` did."""

    changed: int = 0
    unchanged: int = 0
    """These had the priority before."""
    unreadable: int = 0
    """These cannot be read, or lack a valid signature: they keep their place."""


def matches(pattern: str, text: str) -> bool:
    """Whether *text* matches the pattern, in which each `*` stands for any text; linear in the
    text.

    >>> matches("https://*.shop.example/p/*", "https://www.shop.example/p/17?c=2")
    True
    >>> matches("https://shop.example/p/", "https://shop.example/p/1"), matches("*a*b", "xbya")
    (False, False)
    """
    prefix, *tail = pattern.split("*")
    if not tail:
        return pattern == text
    *middle, suffix = tail
    if not text.startswith(prefix) or not text.endswith(suffix):
        return False
    start, end = len(prefix), len(text) - len(suffix)
    for part in middle:
        match = text.find(part, start, end)
        if match < 0:
            return False
        start = match + len(part)
    return start <= end


def checked(text: str) -> int:
    """Parse a priority that a queue can distinguish from others.

    Raises:
        ConfigError: it is out of range or no number.

    >>> checked("-20")
    -20
    """
    number = int(text) if re.fullmatch(r"-?[0-9]{1,4}", text) else PRIORITY_LIMIT + 1
    if abs(number) > PRIORITY_LIMIT:
        bounds = f"from {-PRIORITY_LIMIT} to {PRIORITY_LIMIT}"
        raise ConfigError(f"{text[:40]!r} is no priority: say a whole number {bounds}")
    return number


async def set_priority(
    parts: Sequence[Part], priority: int, selection: RequestSelection
) -> Changed:
    """Give the selected requests another priority; larger is sooner."""
    total = Changed()
    for part in parts:
        async for batch in _queued(part, selection.domain):
            step = await _change(
                part, [x for x in batch if _in_header(x, selection)], priority, selection
            )
            total = Changed(
                changed=total.changed + step.changed,
                unchanged=total.unchanged + step.unchanged,
                unreadable=total.unreadable + step.unreadable,
            )
    return total


async def _queued(part: Part, domain: str) -> AsyncIterator[list[Stored]]:
    """Yield stored requests with their ids: those of a domain, or all of a partition."""
    client: Any = part.redis
    keys = part.keys
    for key in (keys.queue(domain), keys.delayed) if domain else (keys.requests,):
        cursor = None
        while cursor != 0:
            scan = client.zscan if domain else client.hscan
            cursor, reply = await scan(key, cursor or 0, count=STEP)
            ids = [row[0] for row in reply] if domain else list(reply)
            bodies = await client.hmget(keys.requests, ids) if domain and ids else reply
            rows = zip(ids, bodies, strict=True) if domain else bodies.items()
            yield [(word(id_), stored) for id_, stored in rows if stored]


def _in_header(request: Stored, selection: RequestSelection) -> bool:
    """Whether its header, which needs no unpacking, has the selected domain and job."""
    _, domain, job = _header(request[1])
    return (not selection.domain or domain == selection.domain) and (
        not selection.job or job == selection.job
    )


def _header(stored: bytes) -> tuple[bytes, str, str]:
    head = stored.partition(b"\n")[0].split(b" ", 2)
    level, domain, job = (*head, b"", b"")[:3]
    return level, domain.decode("utf-8", "replace"), job.decode("utf-8", "replace")


async def _change(
    part: Part, requests: list[Stored], priority: int, selection: RequestSelection
) -> Changed:
    args: list[str | bytes] = []
    unchanged = unreadable = 0
    for id_, stored in requests:
        try:
            plain = (await part.dictionaries.unpack_stored([stored]))[0] or b""
            fields = decode(plain.partition(b"\n")[2])
            if not selection.takes(fields):
                continue
            part.seal.check(plain)
            updated = _with_priority(part, plain, fields, priority)
        except (DecodeError, EncodeError):
            unreadable += 1
            continue
        if updated == plain:
            unchanged += 1
        else:
            digest = sha1(stored, usedforsecurity=False).hexdigest()
            args += (id_, digest, part.packer.pack_like(updated, stored))
    changed = 0
    for start in range(0, len(args), 3 * CHANGED_AT_ONCE):
        step = args[start : start + 3 * CHANGED_AT_ONCE]
        changed += int(await part.run("set_priority", *step))
    return Changed(changed=changed, unchanged=unchanged, unreadable=unreadable)


def _with_priority(part: Part, stored: bytes, fields: dict[str, Any], priority: int) -> bytes:
    """Return the stored request with another priority, signed if the fleet signs."""
    _, domain, job = _header(stored)
    header = header_of(priority, domain, job)
    if fields.get("priority", 0) == priority and stored.startswith(header + b"\n"):
        return stored
    fields.pop("priority", None)
    if priority:
        fields["priority"] = priority
    return header + b"\n" + part.seal.close(header, encode(fields))

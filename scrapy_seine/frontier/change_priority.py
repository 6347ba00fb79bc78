"""Another priority for what is queued: by domain, job, site or URL, in steps that hold up nobody.

A request's priority stands twice: in its stored header, which places it, and in the packed request,
by which a worker places a further try. So each request is read, packed (and signed) anew, and put
in place of the one that was read, in one script for all of a step. A command that dies half way has
changed some of the requests and lost none; the same command changes the rest.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from hashlib import sha1
from typing import Any

import attrs

from scrapy_seine.errors import ConfigError, DecodeError, EncodeError
from scrapy_seine.frontier.encoding.codec import decode, encode
from scrapy_seine.frontier.model import header_of
from scrapy_seine.frontier.one_partition import Part
from scrapy_seine.frontier.priority_level import PRIORITY_LIMIT
from scrapy_seine.lenient import word
from scrapy_seine.meta import SITE_ID
from scrapy_seine.records import Value

#: Requests that one step reads, and that one script changes, at most.
STEP, CHANGED_AT_ONCE = 500, 100
Stored = tuple[str, bytes]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Which(Value):
    """Which of the queued requests are meant; each field that is not empty narrows it."""

    domain: str = ""
    job: str = ""
    site: str = ""
    """`meta["site_id"]`."""
    url: str = ""
    """The whole URL; a `*` stands for any text."""

    def takes(self, fields: Mapping[str, Any]) -> bool:
        """Whether a request that is read is meant, by its site and URL."""
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
    """Had the priority before."""
    unreadable: int = 0
    """Cannot be read, or are not signed as they must be: they keep their place."""


def matches(pattern: str, text: str) -> bool:
    """Whether *text* is the pattern, in which each `*` stands for any text; linear in the text.

    >>> matches("https://*.shop.example/p/*", "https://www.shop.example/p/17?c=2")
    True
    >>> matches("https://shop.example/p/", "https://shop.example/p/1"), matches("*a*b", "xbya")
    (False, False)
    """
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == text
    *middle, last = rest
    if not text.startswith(first) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return at <= end


def checked(text: str) -> int:
    """Read a priority that a queue can tell from others.

    Raises:
        ConfigError: it is none.

    >>> checked("-20")
    -20
    """
    number = int(text) if re.fullmatch(r"-?[0-9]{1,4}", text) else PRIORITY_LIMIT + 1
    if abs(number) > PRIORITY_LIMIT:
        bounds = f"from {-PRIORITY_LIMIT} to {PRIORITY_LIMIT}"
        raise ConfigError(f"{text[:40]!r} is no priority: say a whole number {bounds}")
    return number


async def set_priority(parts: Sequence[Part], priority: int, which: Which) -> Changed:
    """Give the queued requests that are meant another priority; larger is sooner."""
    total = Changed()
    for part in parts:
        async for found in _queued(part, which.domain):
            did = await _change(part, [x for x in found if _in_header(x, which)], priority, which)
            total = Changed(
                changed=total.changed + did.changed,
                unchanged=total.unchanged + did.unchanged,
                unreadable=total.unreadable + did.unreadable,
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
            cursor, found = await scan(key, cursor or 0, count=STEP)
            ids = [row[0] for row in found] if domain else list(found)
            bodies = await client.hmget(keys.requests, ids) if domain and ids else found
            rows = zip(ids, bodies, strict=True) if domain else bodies.items()
            yield [(word(id_), stored) for id_, stored in rows if stored]


def _in_header(request: Stored, which: Which) -> bool:
    """Whether its header, which needs no unpacking, speaks of the domain and job that are meant."""
    _, domain, job = _header(request[1])
    return (not which.domain or domain == which.domain) and (not which.job or job == which.job)


def _header(stored: bytes) -> tuple[bytes, str, str]:
    head = stored.partition(b"\n")[0].split(b" ", 2)
    level, domain, job = (*head, b"", b"")[:3]
    return level, domain.decode("utf-8", "replace"), job.decode("utf-8", "replace")


async def _change(part: Part, found: list[Stored], priority: int, which: Which) -> Changed:
    args: list[str | bytes] = []
    unchanged = unreadable = 0
    for id_, stored in found:
        try:
            plain = (await part.dictionaries.read([stored]))[0] or b""
            fields = decode(plain.partition(b"\n")[2])
            if not which.takes(fields):
                continue
            part.seal.check(plain)
            new = _with(part, plain, fields, priority)
        except (DecodeError, EncodeError):
            unreadable += 1
            continue
        if new == plain:
            unchanged += 1
        else:
            read = sha1(stored, usedforsecurity=False).hexdigest()
            args += (id_, read, part.packer.pack_like(new, stored))
    changed = 0
    for start in range(0, len(args), 3 * CHANGED_AT_ONCE):
        step = args[start : start + 3 * CHANGED_AT_ONCE]
        changed += int(await part.run("set_priority", *step))
    return Changed(changed=changed, unchanged=unchanged, unreadable=unreadable)


def _with(part: Part, stored: bytes, fields: dict[str, Any], priority: int) -> bytes:
    """The stored request with another priority, signed where the fleet signs."""
    _, domain, job = _header(stored)
    header = header_of(priority, domain, job)
    if fields.get("priority", 0) == priority and stored.startswith(header + b"\n"):
        return stored
    fields.pop("priority", None)
    if priority:
        fields["priority"] = priority
    return header + b"\n" + part.seal.close(header, encode(fields))

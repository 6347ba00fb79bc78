"""Reads what scrapy-redis left in Redis, without trusting it.

Its queue holds requests as dicts, pickled unless the project chose another serializer. Seine stores
the same fields, so a dict becomes a push unchanged. A pickle may name any function to call while it
is read; this reader accepts plain data and refuses every other name (I9), and it is used only on
request. Its dupefilter holds hashes that cannot be converted to Seine's: only URLs that the user
can list can be looked up in it.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import attrs
from redis.asyncio import Redis
from w3lib.url import canonicalize_url

from scrapy_seine.attrs_bases import Record, Value
from scrapy_seine.errors import ConfigError, DecodeError, EncodeError
from scrapy_seine.frontier.encoding.codec import encode
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Push
from scrapy_seine.urls import domain

STEP = 500
REASONS = 5
_FIELDS = {"url", "callback", "errback", "method", "headers", "body", "cookies", "meta"}
_FIELDS |= {"encoding", "priority", "dont_filter", "flags", "cb_kwargs", "_class"}
_PLAIN = {
    ("builtins", "set"),
    ("collections", "OrderedDict"),
    ("datetime", "date"),
    ("datetime", "datetime"),
    ("datetime", "timedelta"),
    ("decimal", "Decimal"),
}
#: What is read as another type, because that can be stored. CrawlSpider puts lxml's text of a link
#: into the meta of each request.
_INSTEAD = {
    ("builtins", "frozenset"): set,
    ("lxml.etree", "_ElementUnicodeResult"): str,
}


#: The fingerprint of a request's fields, perhaps by a project's own code; None: it is not filtered.
Identify = Callable[[Mapping[str, Any]], int | None]
#: Raises DecodeError for a stored request that no worker of the spider could send.
Check = Callable[[bytes], object]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Source(Value):
    """Where scrapy-redis' keys are, and how far to trust them."""

    requests: str
    dupefilter: str
    unpickle: bool = False
    urls: str = ""
    """File of URLs, one a line, to look up in the dupefilter; empty: none."""


@attrs.define(eq=False, repr=False)
class Imported(Record):
    """Result of an import; the source is unchanged."""

    queued: int = 0
    duplicates: int = 0
    refused: int = 0
    reasons: list[str] = attrs.Factory(list)
    """The first few."""
    seen: int = 0
    """URLs marked as seen."""
    hashes: int = 0
    """Size of the dupefilter."""

    def refuse(self, error: Exception | str) -> None:
        """Count a request that is not taken over."""
        self.refused += 1
        if len(self.reasons) < REASONS:
            self.reasons.append(str(error))

    def text(self) -> str:
        """Format the result for people."""
        lines = [f"{self.queued} queued, {self.duplicates} duplicates, {self.refused} refused"]
        lines += [f"  refused: {reason}" for reason in self.reasons]
        lines.append(f"{self.seen} URLs marked as seen")
        if self.hashes and not self.seen:
            lines.append(
                f"the dupefilter's {self.hashes} hashes cannot be translated: name a file of the "
                "URLs that were crawled with --urls"
            )
        return "\n".join(lines)


class _PlainData(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _INSTEAD:
            return _INSTEAD[module, name]
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"it names {module}.{name}, which is no plain data")


def is_pickled(data: bytes) -> bool:
    """Whether bytes start as a pickle of a protocol that scrapy-redis writes."""
    return data[:1] == b"\x80"


def read(data: bytes, identify: Identify, *, unpickle: bool) -> Push:
    """Make a push of one request of scrapy-redis' queue.

    Raises:
        DecodeError: it is no request, or is pickled and may not be read.
        EncodeError: it holds a value that cannot be stored.
    """
    if is_pickled(data) and not unpickle:
        raise DecodeError("pickled: say --unpickle to read it")
    try:
        fields = _PlainData(io.BytesIO(data)).load() if is_pickled(data) else json.loads(data)
    except Exception as error:
        raise DecodeError(f"cannot be read: {error}") from None
    if not isinstance(fields, dict) or not isinstance(fields.get("url"), str):
        raise DecodeError("no request: it has no url")
    return _push(fields, identify)


def _push(fields: dict[str, Any], identify: Identify) -> Push:
    url, body = fields["url"], fields.get("body") or b""
    body = body.encode() if isinstance(body, str) else body
    fields = {k: v for k, v in fields.items() if k in _FIELDS and v not in (None, b"", "", {}, [])}
    if body:
        fields["body"] = body
    try:
        return Push(
            domain=domain(url),
            blob=encode(fields),
            fingerprint=_fingerprint(identify, fields),
            force=bool(fields.get("dont_filter")),
            priority=int(fields.get("priority") or 0),
        )
    except (TypeError, ValueError) as error:
        raise EncodeError(f"{url}: {error}") from None


def _fingerprint(identify: Identify, fields: Mapping[str, Any]) -> int | None:
    try:
        return identify(fields)
    except Exception as error:  # a project's fingerprint may need what is not there
        raise EncodeError(
            f"{fields['url']}: no fingerprint: {type(error).__name__}: {error}"
        ) from None


def legacy_fingerprint(url: str) -> str:
    """Return the hash under which scrapy-redis 0.9 remembers a GET of *url*."""
    fields = {"method": "GET", "url": canonicalize_url(url), "body": ""}
    text = json.dumps(fields, sort_keys=True)
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


async def import_queue(
    redis: Redis, frontier: Frontier, source: Source, identify: Identify, check: Check
) -> Imported:
    """Import a queue into the frontier; may be repeated, and leaves the source unchanged.

    *identify* returns the fingerprint by which the spider's workers know a request, and *check*
    refuses one that would become a dead letter there, because its callback was renamed.

    Raises:
        ConfigError: there is nothing of the spider, a key is of another type, or the file of URLs
        cannot be read.
    """
    client: Any = redis
    if not await client.exists(source.requests, source.dupefilter):
        raise ConfigError(
            f"neither {source.requests} nor {source.dupefilter} is there: is it another spider, or "
            "another Redis?"
        )
    result = Imported()
    async for part in _batches(redis, source.requests):
        pushes = []
        for data in part:
            try:
                push = read(data, identify, unpickle=source.unpickle)
                check(push.blob)
                pushes.append(frontier.seal.push(push))
            except (DecodeError, EncodeError) as error:
                result.refuse(error)
        replies = await frontier.push(pushes)
        result.queued += replies.count("OK")
        result.duplicates += replies.count("DUPLICATE")
        for _ in range(replies.count("OVER")):
            result.refuse("a budget of the crawl is used up (SEINE_MOST_PENDING, …_PAGES)")
    result.hashes = await client.scard(source.dupefilter)
    for urls in _urls(source.urls):
        hashes = [legacy_fingerprint(url) for url in urls]
        flags = await client.smismember(source.dupefilter, hashes)
        crawled = [url for url, is_crawled in zip(urls, flags, strict=True) if is_crawled]
        try:
            pairs = [(url, _fingerprint(identify, {"url": url})) for url in crawled]
        except EncodeError as error:
            raise ConfigError(str(error)) from None
        numbers = {url: number for url, number in pairs if number is not None}
        result.seen += await frontier.remember(
            [*numbers.values()], [domain(url) for url in numbers]
        )
    return result


async def _batches(redis: Redis, key: str) -> AsyncIterator[list[bytes]]:
    """Yield the queue in the order in which scrapy-redis would serve it."""
    client: Any = redis
    kind = (await client.type(key)).decode()
    if kind not in {"zset", "list", "none"}:
        raise ConfigError(f"{key} is a {kind}, no queue of scrapy-redis")
    size = {"zset": client.zcard, "list": client.llen}.get(kind)
    for start in range(0, await size(key) if size else 0, STEP):
        if kind == "zset":
            yield await client.zrange(key, start, start + STEP - 1)
        else:  # its queue pushes on the left and pops on the right
            yield (await client.lrange(key, -start - STEP, -start - 1))[::-1]


def _urls(path: str) -> Iterator[list[str]]:
    if not path:
        return
    try:
        with Path(path).open(encoding="utf-8") as file:
            lines = (url for line in file if (url := line.strip()))
            while part := list(islice(lines, STEP)):
                yield part
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None

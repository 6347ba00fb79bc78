"""Seeds as requests: what the spider makes of one, held to what a seed may say.

A seed comes from whoever can write to Redis, and the spider that reads it is anybody's. So whatever
comes of reading one seed, a wrong value, an exception of any kind, an answer that is no request,
is that seed's own end and is said with its reason; the worker and the other seeds go on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from typing import Any, Protocol

from scrapy import Request, Spider
from scrapy_redis.spiders import RedisMixin

from scrapy_seine import meta as m
from scrapy_seine.engine import serializer
from scrapy_seine.engine.dupefilter import DupeFilter
from scrapy_seine.engine.serializer import METHOD
from scrapy_seine.engine.spider import request_of
from scrapy_seine.errors import BadSeed, ConfigError, SeineError
from scrapy_seine.frontier.model import Push
from scrapy_seine.frontier.seal import Seal

#: Bytes of one seed, at most.
MOST_BYTES = 1 << 20
#: Requests that a spider may make of one seed.
MOST_REQUESTS = 10_000


class Reader(Protocol):
    """A spider that reads its seeds itself."""

    def make_request_from_data(self, data: bytes, /) -> Any:
        """Make one request, or several, of a seed."""


def seeds_key_of(spider: Spider | type[Spider], usual: str) -> str:
    """Name the Redis key of a spider's seeds: a RedisSpider's own `redis_key`, else *usual*.

    Raises:
        ConfigError: its `redis_key` asks for another value than the spider's name.
    """
    kind = spider if isinstance(spider, type) else type(spider)
    own = getattr(spider, "redis_key", None) if issubclass(kind, RedisMixin) else None
    if not own:
        return usual
    try:
        return str(own % {"name": spider.name})
    except (KeyError, TypeError, ValueError):
        raise ConfigError(
            f"redis_key = {own!r} of spider {spider.name!r} may name %(name)s only"
        ) from None


def requests_of(spider: Reader | Spider, seed: bytes) -> list[Request]:
    """Read one seed, as the spider does or, where it has no way of its own, as FrontierSpider does.

    Raises:
        BadSeed: saying what is wrong with it, or how the spider failed on it.
    """
    if len(seed) > MOST_BYTES:
        raise BadSeed(f"{len(seed)} bytes long, {MOST_BYTES} at most")
    try:
        m.check(_named(seed), m.SEED)
        read = getattr(spider, "make_request_from_data", request_of)
        made = list(islice(_all(read(seed)), MOST_REQUESTS + 1))
        if not made or len(made) > MOST_REQUESTS:
            raise BadSeed(f"the spider made no request of it, or more than {MOST_REQUESTS}")
        for request in made:
            if not isinstance(request, Request):
                raise BadSeed(f"the spider made a {type(request).__name__} of it, no request")
            m.check(request.meta, m.SPIDER)
            _check_head(request)
    except SeineError as error:
        raise BadSeed(str(error)) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # SystemExit as well: a spider that wants the process to end wants it for one seed.
        raise BadSeed(f"{type(error).__name__}: {str(error)[:500]}") from None
    return made


def pushes_of(spider: Any, seed: bytes, df: DupeFilter, seal: Seal) -> list[Push]:
    """Read one seed as what enters the frontier.

    Raises:
        SeineError: saying what is wrong with it, or how the spider failed on it.
    """
    pushes = []
    for request in requests_of(spider, seed):
        m.complete(request.meta, None)
        number, force = df.identity_of(request, None)
        pushes.append(
            serializer.to_push(request, spider, fingerprint=number, force=force, seal=seal)
        )
    return pushes


def _all(made: Any) -> Iterable[Any]:
    """Lay out what a spider returned: scrapy-redis takes a request or an iterable of them."""
    if made is None or isinstance(made, str | bytes | dict) or not isinstance(made, Iterable):
        return (made,)
    return made


def _named(seed: bytes) -> dict[str, Any]:
    """Meta that the seed itself names, whatever the spider makes of it."""
    text = seed.decode("utf-8-sig", "replace").strip()  # a spider may strip what bytes keep
    if not text.startswith("{"):
        return {}
    try:
        meta = json.loads(text).get("meta")
    except (ValueError, AttributeError, RecursionError):
        return {}  # the spider says what is wrong, or knows another form
    return meta if isinstance(meta, dict) else {}


def _check_head(request: Request) -> None:
    """Let pass a method and headers that stay on their own lines.

    Raises:
        BadSeed: naming the one that does not.
    """
    if not METHOD.fullmatch(request.method):
        raise BadSeed(f"method {request.method!r:.80} is none of HTTP")
    for name, values in request.headers.items():
        for text in (name, *values):
            if set(text) & {13, 10, 0}:
                raise BadSeed(f"header {name!r:.80} has a line break in it")

"""Parses seeds: which values a seed may contain, and which requests the spider makes of it.

Anybody who can write to Redis can push a seed, and any spider may parse it. So a failure of parsing
one seed, a wrong value, any exception, a result that is no request, rejects that seed with its
reason; the worker and the other seeds go on.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from itertools import islice
from typing import Any, Protocol
from urllib.parse import urlsplit

from scrapy import FormRequest, Request, Spider
from scrapy_redis.spiders import RedisMixin

from scrapy_seine import meta as m
from scrapy_seine.engine.dupefilter import DupeFilter
from scrapy_seine.engine.stored import serializer
from scrapy_seine.engine.stored.serializer import METHOD
from scrapy_seine.errors import BadSeed, ConfigError, SeineError
from scrapy_seine.frontier.encoding.seal import Seal
from scrapy_seine.frontier.model import Push
from scrapy_seine.once_a_minute import OnceAMinute
from scrapy_seine.printable import redact
from scrapy_seine.urls import slot

logger = logging.getLogger(__name__)
#: Settings of scrapy-redis for seeds in a set or a sorted set. Each kind is read without them; with
#: them, the first seed is found as quickly as later ones.
SETS = ("REDIS_START_URLS_AS_SET", "REDIS_START_URLS_AS_ZSET")
#: Seeds come before all requests that they lead to.
SEED_PRIORITY = 100
#: Bytes of one seed, at most.
MOST_BYTES = 1 << 20
#: Requests that a spider may make of one seed, at most.
MOST_REQUESTS = 10_000
_log_limiter = OnceAMinute()


class Reader(Protocol):
    """A spider that parses its seeds itself."""

    def make_request_from_data(self, data: bytes, /) -> Any:
        """Make one request, or several, of a seed."""


def seeds_key_of(spider: Spider | type[Spider], usual: str) -> str:
    """Return the Redis key of a spider's seeds: a RedisSpider's own `redis_key`, else *usual*.

    Raises:
        ConfigError: its `redis_key` needs another value than the spider's name.
    """
    kind = spider if isinstance(spider, type) else type(spider)
    key = getattr(spider, "redis_key", None) if issubclass(kind, RedisMixin) else None
    if not key:
        return usual
    try:
        return str(key % {"name": spider.name})
    except (KeyError, TypeError, ValueError):
        raise ConfigError(
            f"redis_key = {key!r} of spider {spider.name!r} may name %(name)s only"
        ) from None


def requests_of(spider: Reader | Spider, seed: bytes) -> list[Request]:
    """Parse one seed with the spider's own method or, without one, as FrontierSpider does.

    Raises:
        BadSeed: describing what is wrong with it, or how the spider failed on it.
    """
    if len(seed) > MOST_BYTES:
        raise BadSeed(f"{len(seed)} bytes long, {MOST_BYTES} at most")
    try:
        m.check(_meta_of(seed), m.SEED)
        parse = getattr(spider, "make_request_from_data", request_of)
        requests = list(islice(_all(parse(seed)), MOST_REQUESTS + 1))
        if not requests or len(requests) > MOST_REQUESTS:
            raise BadSeed(f"the spider made no request of it, or more than {MOST_REQUESTS}")
        for request in requests:
            if not isinstance(request, Request):
                raise BadSeed(f"the spider made a {type(request).__name__} of it, no request")
            m.check(request.meta, m.SPIDER)
            _check_head(request)
    except SeineError as error:
        raise BadSeed(str(error)) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # SystemExit as well: a spider must not end the process because of one seed.
        raise BadSeed(f"{type(error).__name__}: {str(error)[:500]}") from None
    return requests


def pushes_of(spider: Any, seed: bytes, df: DupeFilter, seal: Seal) -> list[Push]:
    """Parse one seed into pushes for the frontier.

    Raises:
        SeineError: describing what is wrong with it, or how the spider failed on it.
    """
    pushes = []
    for request in requests_of(spider, seed):
        if request.cookies and not spider.settings.getbool("COOKIES_ENABLED"):
            _warn_of_cookies(request.url)
        m.complete(request.meta, None)
        number, force = df.identity_of(request, None)
        pushes.append(
            serializer.to_push(request, spider, fingerprint=number, force=force, seal=seal)
        )
    return pushes


def _warn_of_cookies(url: str) -> None:
    """Warn that a page may be another one than the seed means, of another region for instance."""
    if _log_limiter.is_due("cookies"):
        text = "cookies of seeds, as of %s, are not sent, because COOKIES_ENABLED is off"
        logger.warning(text, redact(url))


def _all(result: Any) -> Iterable[Any]:
    """Make an iterable of a spider's result: scrapy-redis takes a request or several."""
    if result is None or isinstance(result, str | bytes | dict) or not isinstance(result, Iterable):
        return (result,)
    return result


def _meta_of(seed: bytes) -> dict[str, Any]:
    """Return the meta in the seed's text, whatever the spider makes of it."""
    text = seed.decode("utf-8-sig", "replace").strip()  # a spider may strip what bytes keep
    if not text.startswith("{"):
        return {}
    try:
        meta = json.loads(text).get("meta")
    except (ValueError, AttributeError, RecursionError):
        return {}  # the spider reports what is wrong, or parses another format
    return meta if isinstance(meta, dict) else {}


def _check_head(request: Request) -> None:
    """Check that the URL has a server, and that the method and the headers have no line breaks.

    Raises:
        BadSeed: naming the one that does.
    """
    try:
        slot(request.url)
    except ValueError as error:
        raise BadSeed(str(error)) from None
    if not METHOD.fullmatch(request.method):
        raise BadSeed(f"method {request.method!r:.80} is none of HTTP")
    for name, values in request.headers.items():
        for text in (name, *values):
            if set(text) & {13, 10, 0}:
                raise BadSeed(f"header {name!r:.80} has a line break in it")


def request_of(data: bytes) -> Request:
    """Parse one seed: a URL, or a JSON object with `url` and scrapy-redis' other fields.

    Raises:
        BadSeed: describing what is wrong with it.
    """
    try:
        text = data.decode("utf-8-sig").strip()  # editors on Windows begin a file with the mark
    except UnicodeDecodeError as error:
        raise BadSeed(f"not UTF-8: {error.reason} at byte {error.start}") from None
    if text.startswith(("{", "[", '"')) or text.lstrip("-").isdigit():
        return _from_object(_json(text))
    return Request(_checked(text), dont_filter=True, priority=SEED_PRIORITY)


def _from_object(seed: Any) -> Request:
    if isinstance(seed, str):
        seed = {"url": seed}  # an address, as a program writes any value in JSON
    if not isinstance(seed, dict):
        raise BadSeed(f"{type(seed).__name__} is neither a URL nor an object with a url")
    if not isinstance(seed.get("url"), str):
        raise BadSeed("the object has no url")
    options: dict[str, Any] = {
        "url": _checked(seed.pop("url").strip()),
        "method": str(seed.pop("method", "GET")).upper(),
        "meta": _mapping(seed, "meta"),
        "headers": _mapping(seed, "headers"),
        "cookies": _mapping(seed, "cookies"),
        "priority": _integer(seed, "priority", SEED_PRIORITY),
        "dont_filter": bool(seed.pop("dont_filter", True)),
    }
    try:
        # Further fields are form data, as in scrapy-redis.
        form = {str(k): v if isinstance(v, list) else str(v) for k, v in seed.items()}
        return _form(options, form) if form else Request(**options)
    except (TypeError, ValueError) as error:
        raise BadSeed(f"cannot be made a request: {error}") from None


def _form(options: dict[str, Any], form: dict[str, Any]) -> Request:
    form_request = FormRequest(**options, formdata=form)
    return Request(
        **{**options, "url": form_request.url, "headers": dict(form_request.headers)},
        body=form_request.body,
    )


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise BadSeed("JSON that is nested too deep") from None
    except ValueError as error:
        raise BadSeed(f"neither a URL nor JSON: {error}") from None


def _mapping(seed: dict[str, Any], name: str) -> dict[str, Any]:
    value = seed.pop(name, None) or {}
    if not isinstance(value, dict):
        raise BadSeed(f"{name} is no object")
    return value


def _integer(seed: dict[str, Any], name: str, default: int) -> int:
    value = seed.pop(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadSeed(f"{name} is no whole number")
    return value


def _checked(url: str) -> str:
    """Return the URL if a crawler can request it."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port  # both raise for invalid values
    except ValueError as error:
        raise BadSeed(f"{url[:200]!r} is no URL: {error}") from None
    if parts.scheme not in {"http", "https"}:
        raise BadSeed(f"{url[:200]!r} has no http:// or https:// in front")
    if not host or any(c.isspace() for c in url):
        raise BadSeed(f"{url[:200]!r} names no host, or holds white space")
    return url

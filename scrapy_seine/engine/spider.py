"""The spiders' base: a RedisSpider whose seeds come through the frontier's intake."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import urlsplit

from scrapy import FormRequest, Request
from scrapy.crawler import Crawler
from scrapy_redis.spiders import RedisSpider

from scrapy_seine.errors import BadSeed

#: Seeds come before everything that they lead to.
SEED_PRIORITY = 100


class FrontierSpider(RedisSpider):  # type: ignore[misc]  # the base class has no types
    """Reads no Redis by itself: the scheduler claims seeds and asks this class to read them.

    `-a url=…` (several separated by white space) seeds a crawl from the command line.

    `knows(url, job)` says that the frontier has a URL for certain: a link that every page repeats
    need not become a request each time only to be dropped. The scheduler puts it there.
    """

    def __init__(self, *args: Any, url: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.seed_urls = url.split()
        self.knows: Callable[[str, str], bool] = lambda url, job: False

    def limits_of(self, url: str) -> tuple[int | None, int | None]:
        """Pause (ms) between two requests to a URL's site and number in flight; None: no wish."""
        return None, None

    def setup_redis(self, crawler: Crawler | None = None) -> None:
        """Open no connection of its own, and let no idle handler hold the spider open."""

    async def start(self) -> AsyncIterator[Any]:
        """Yield what the command line names."""
        for url in self.seed_urls:
            yield self.make_request_from_data(url.encode())

    def make_request_from_data(self, data: bytes) -> Request:
        """Read one seed: a URL, or a JSON object with `url` and what scrapy-redis knows.

        Raises:
            BadSeed: saying what is wrong with it.
        """
        return request_of(data)


def request_of(data: bytes) -> Request:
    """Read one seed: a URL, or a JSON object with `url` and what scrapy-redis knows.

    Raises:
        BadSeed: saying what is wrong with it.
    """
    try:
        text = data.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise BadSeed(f"not UTF-8: {error.reason} at byte {error.start}") from None
    if text.startswith(("{", "[", '"')) or text.lstrip("-").isdigit():
        return _from_object(_json(text))
    return Request(_checked(text), dont_filter=True, priority=SEED_PRIORITY)


def _from_object(seed: Any) -> Request:
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
        # What is left is form data, as scrapy-redis has it.
        form = {str(k): v if isinstance(v, list) else str(v) for k, v in seed.items()}
        return _form(options, form) if form else Request(**options)
    except (TypeError, ValueError) as error:
        raise BadSeed(f"cannot be made a request: {error}") from None


def _form(options: dict[str, Any], form: dict[str, Any]) -> Request:
    made = FormRequest(**options, formdata=form)
    return Request(**{**options, "url": made.url, "headers": dict(made.headers)}, body=made.body)


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
    """Return the URL if a crawler can ask for it."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port  # both raise for what they cannot be
    except ValueError as error:
        raise BadSeed(f"{url[:200]!r} is no URL: {error}") from None
    if parts.scheme not in {"http", "https"}:
        raise BadSeed(f"{url[:200]!r} has no http:// or https:// in front")
    if not host or any(c.isspace() for c in url):
        raise BadSeed(f"{url[:200]!r} names no host, or holds white space")
    return url

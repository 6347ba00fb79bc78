"""A response's or a request's headers as text."""

from __future__ import annotations

from functools import lru_cache

from scrapy.http import Request, Response


def header(message: Request | Response, name: str) -> str:
    """Return the last value of a header, '' if it is missing; each byte becomes a letter."""
    # Most headers asked for are missing, and Scrapy takes longer for these than for present ones.
    if not has_header(message, name):
        return ""
    return (message.headers.get(_key(name)) or b"").decode("latin-1")


def has_header(message: Request | Response, name: str) -> bool:
    """Whether a response or a request has a header of that name."""
    return _key(name) in message.headers.keys()  # noqa: SIM118  # `in headers` spells it anew


@lru_cache(maxsize=256)
def _key(name: str) -> bytes:
    """Spell a header's name as Scrapy's Headers store it."""
    return name.title().encode()

"""The fingerprint of a request, which identifies duplicates.

It is made of the method, the body and the normalised URL (`urls.normalise`). A job has fingerprints
of its own (`within`), because it may request again what another job has seen.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from scrapy_seine.urls import normalise


def _digest(method: str, url: str, body: bytes) -> int:
    text = f"{method}\n{url}\n".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text + body, digest_size=8).digest(), "big", signed=True)


@lru_cache(maxsize=1024)
def _get_fingerprint(url: str) -> int:
    # A site's navigation repeats on each of its pages; caching makes those links free.
    return _digest("GET", normalise(url), b"")


def fingerprint(url: str, method: str = "GET", body: bytes = b"") -> int:
    """Return a request's signed 64-bit number: equal for one page however its URL is spelled.

    Raises:
        ValueError: it is no http(s) URL.

    >>> fingerprint("http://a.example/?x=1&y=2#top") == fingerprint("HTTP://A.example?y=2&x=1")
    True
    """
    if method == "GET" and not body:
        return _get_fingerprint(url)
    return _digest(method.upper(), normalise(url), body)


@lru_cache(maxsize=1024)
def _salt(scope: str) -> int:
    return int.from_bytes(blake2b(scope.encode(), digest_size=8).digest(), "big", signed=True)


def within(scope: str, number: int) -> int:
    """Return a fingerprint within a scope (a job); in another scope it is another number.

    >>> within("", 7), within("a", 7) == within("b", 7), within("a", within("a", 7))
    (7, False, 7)
    """
    return number ^ _salt(scope) if scope else number

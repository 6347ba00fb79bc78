"""The fingerprint of a request, by which duplicates are filtered: which two requests are the same.

It is made of method, body and the form of the URL to compare (`urls.normalise`). A job remembers
fingerprints of its own (`within`), because it may ask again for what another one has seen.
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
    # A site's navigation repeats on each of its pages; remembering makes those links free.
    return _digest("GET", normalise(url), b"")


def fingerprint(url: str, method: str = "GET", body: bytes = b"") -> int:
    """Signed 64-bit number of a request: equal for the same page however its URL is spelled.

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
    """A fingerprint as one scope (a job) remembers it; in another scope it is another number.

    >>> within("", 7), within("a", 7) == within("b", 7), within("a", within("a", 7))
    (7, False, 7)
    """
    return number ^ _salt(scope) if scope else number

"""Fingerprints that a project makes itself tell its requests apart, whatever they are made of."""

from __future__ import annotations

from hashlib import sha1

import pytest
from scrapy import Request

from scrapy_seine.engine.dupefilter import ProjectDupeFilter


@pytest.mark.parametrize(
    "make",
    [
        lambda request: request.url.encode(),  # as request.meta["fingerprint"] of Scrapy's docs
        lambda request: request.url.partition("?")[0],
        lambda request: "1234567890123456" + request.url[-1],
        lambda request: int(request.url[-1]),
        lambda request: sha1(request.url.encode()).digest(),
        lambda request: sha1(request.url.encode()).hexdigest(),
        lambda request: request.url.encode()[:19] + request.url[-1:].encode(),
        lambda request: request.url.encode().hex()[:39] + request.url[-1],
    ],
    ids=["bytes", "text", "digits", "number", "digest", "hexadecimal", "20 bytes", "40 digits"],
)
def test_only_equal_fingerprints_of_a_project_are_one_request(make: object) -> None:
    """Addresses begin alike: of their first bytes alone, each page would be taken for the first."""
    asked = ProjectDupeFilter(make)
    first, same, other = (
        asked.identity_of(Request(f"http://shop.example/{n}"), None)[0] for n in (1, 1, 2)
    )
    assert first is not None
    assert first == same
    assert first != other


def test_the_digests_that_scrapy_makes_stay_those_of_running_crawls() -> None:
    digest = sha1(b"page").digest()
    for made in (digest, digest.hex()):
        asked = ProjectDupeFilter(lambda request, made=made: made, are_digests=True)
        assert asked.request_fingerprint(Request("http://a.example/")) == int(digest.hex()[:16], 16)

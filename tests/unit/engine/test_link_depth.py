"""How many links lead to a request, and what is said of a chain of links without an end."""

from __future__ import annotations

import logging

import pytest
from scrapy import Request

from scrapy_seine.engine.link_depth import LinkDepth


def walk(depth: LinkDepth, links: int) -> list[bool]:
    """Follow a chain of links; returns whether each was too deep."""
    page, found = None, []
    for number in range(links):
        request = Request(f"http://shop.example/{number}")
        found.append(depth.is_too_deep(request, page))
        page = request
    return found


def test_a_limit_counts_links() -> None:
    assert walk(LinkDepth(2), 5) == [False, False, False, True, True]
    assert not any(walk(LinkDepth(0), 50))


def test_the_depth_of_scrapys_middleware_is_kept() -> None:
    """`depth_reset` begins a page's depth anew, but makes no seed of it (I9)."""
    depth = LinkDepth(1)
    depth.counted_by_scrapy = True
    page = Request("http://shop.example/", meta={"depth": 1})
    anew, too_deep = (Request("http://shop.example/1", meta={"depth": n}) for n in (0, 2))

    assert not depth.is_too_deep(anew, page)
    assert anew.meta == {"depth": 0, "seine_home": ""}
    assert depth.is_too_deep(too_deep, page)


def test_a_chain_without_an_end_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    """A calendar or a callback that makes its next address would crawl on unseen."""
    depth = LinkDepth(0)
    with caplog.at_level(logging.WARNING):
        walk(depth, 1_002)
        walk(depth, 1_002)
    (line,) = caplog.messages
    assert line.startswith("1000 links lead to http://shop.example/1000, one after the other")

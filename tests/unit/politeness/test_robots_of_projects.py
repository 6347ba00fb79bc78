"""Whose rules hold for a request, and a project's parser that fails."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.test import get_crawler

from scrapy_seine import meta as m
from scrapy_seine.middlewares.robots import RobotsMiddleware, _Site
from scrapy_seine.politeness.robots_cache import FetchedRobots
from scrapy_seine.politeness.robots_rules import Robots

RULES = b"User-agent: seine\nDisallow: /robot\n\nUser-agent: mine\nDisallow: /mine\n"
SHOP = "http://shop.example"


def middleware(**settings: Any) -> RobotsMiddleware:
    settings = {"ROBOTSTXT_OBEY": True, "USER_AGENT": "Seine", **settings}
    robots = RobotsMiddleware.from_crawler(get_crawler(settings_dict=settings))
    robots.sites[SHOP] = _Site(Robots.parse("rules", RULES), float("inf"))
    return robots


@pytest.mark.parametrize(
    ("agent", "borrowed", "forbidden"),
    [
        ("", [], "/robot"),
        ("Mine/1", [], "/mine"),
        ("Mine/1", ["if-none-match"], "/mine"),  # of a stored page
        ("Mine/1", ["cookie"], "/mine"),  # of a gate
        ("Mine/1", ["user-agent", "accept"], "/robot"),  # an identity's
        ("Mine/1", ["user-agent", "cookie"], "/robot"),
    ],
)
def test_the_rules_of_a_name_of_its_own_hold_unless_the_name_is_borrowed(
    agent: str, borrowed: list[str], forbidden: str
) -> None:
    robots, headers = middleware(), {"User-Agent": agent} if agent else {}
    meta = {m.BORROWED: borrowed} if borrowed else {}
    for path in ("/robot", "/mine"):
        request = Request(SHOP + path, headers=headers, meta=meta)
        if path == forbidden:
            with pytest.raises(IgnoreRequest):
                robots.process_request(request)
        else:
            assert robots.process_request(request) is None


class Broken:
    """A project's parser that a site's file breaks."""

    @classmethod
    def from_crawler(cls, crawler: Any, body: bytes) -> Broken:
        raise UnicodeDecodeError("utf-8", body, 0, 1, "invalid start byte")


async def test_a_parser_that_raises_allows_nothing_for_now(
    caplog: pytest.LogCaptureFixture,
) -> None:
    robots = middleware(ROBOTSTXT_PARSER=Broken)

    async def fetch(origin: str, request: Request) -> FetchedRobots:
        return FetchedRobots("rules", b"\xff", 86_400.0)

    robots._fetch = fetch  # type: ignore[method-assign]
    site = await robots._learn("http://other.example", Request("http://other.example/"))
    assert site.robots.state == "away"
    assert "ROBOTSTXT_PARSER raised" in caplog.text

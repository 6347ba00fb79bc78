"""A redirect that leads back to its own page is followed with the cookie that it sets."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.http import Response

from scrapy_seine.middlewares.redirect import _keep_cookies


@pytest.mark.parametrize(
    ("chain", "cookie"), [(["/", "/geo"], b"id=7; country=GB"), (["/geo"], b"id=7")]
)
def test_only_a_circle_gets_the_cookie(chain: list[str], cookie: bytes) -> None:
    shop = "http://shop.example"
    urls = [shop + path for path in chain]
    target = Request(f"{shop}/", headers={"Cookie": "id=7"}, meta={"redirect_urls": urls})
    answer = Response(f"{shop}/geo", status=302, headers={"Set-Cookie": "country=GB; Path=/"})
    _keep_cookies(answer, target)
    assert target.headers["Cookie"] == cookie


@pytest.mark.parametrize(
    ("check", "cookie"),
    [
        ("/check?back=%2Flamps%3Fpage%3D2", b"ct=1"),
        ("/check?back=%2F", None),
        ("/lamps/?page=2", None),
    ],
)
def test_a_check_that_names_the_way_back_gets_the_cookie(check: str, cookie: bytes | None) -> None:
    url = "http://shop.example/lamps?page=2"
    target = Request(f"http://shop.example{check}", meta={"redirect_urls": [url]})
    _keep_cookies(Response(url, status=302, headers={"Set-Cookie": "ct=1; Path=/"}), target)
    assert target.headers.get("Cookie") == cookie


def test_another_host_gets_no_cookie_though_it_names_the_way_back() -> None:
    url, check = "http://shop.example/lamps", "http://other.example/check?return="
    target = Request(f"{check}http%3A%2F%2Fshop.example%2Flamps", meta={"redirect_urls": [url]})
    _keep_cookies(Response(url, status=302, headers={"Set-Cookie": "ct=1; Path=/"}), target)
    assert "Cookie" not in target.headers

"""A site's cookies cost its own requests a bounded time, however many it sets."""

from __future__ import annotations

from collections.abc import Iterable

from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from scrapy_seine.middlewares.cookie_limit import LONGEST, MOST
from scrapy_seine.middlewares.cookies import own_jars

URL = "http://shop.example/a/b"


def sent_after(pages: Iterable[list[bytes]], url: str = URL) -> bytes:
    middleware = own_jars(get_crawler(settings_dict={"COOKIES_ENABLED": True}))
    for cookies in pages:
        response = Response(URL, headers={"Set-Cookie": cookies})
        middleware.process_response(Request(URL), response)
    request = Request(url)
    middleware.process_request(request)
    return request.headers.get("Cookie") or b""


def test_the_newest_cookies_of_a_site_are_kept() -> None:
    pages = [[b"p%dn%d=1; path=/a" % (page, n) for n in range(500)] for page in range(4)]
    names = sent_after(pages).split(b"; ")
    assert len(names) == MOST
    assert names[-1] == b"p3n499=1"


def test_cookies_of_many_paths_count_together() -> None:
    pages = [[b"n%d=1; path=/a/%d" % (n, n) for n in range(900)], [b"last=1; path=/"]]
    assert sent_after(pages) == b"last=1"
    assert sent_after(pages, "http://shop.example/a/899/x").count(b"n899=1") == 1


def test_a_cookie_that_no_browser_takes_is_left_out() -> None:
    assert sent_after([[b"long=" + b"x" * LONGEST, b"short=1"]]) == b"short=1"
    # A Cookie header with them could not be stored, so that all further pages were set aside.
    controls = [b"nul=\x00", b"n\x00l=1", b"line=a\nb", b"del=\x7f", b"bell=\x07"]
    assert sent_after([[*controls, b"tab=a\tb"]]) == b"tab=a\tb"

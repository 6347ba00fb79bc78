"""A gate before a shop is passed by its one button, and nothing else is pressed."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.statscollectors import MemoryStatsCollector

from crawler.extract import find_links, parse
from crawler.extract.links.gate import answer_of
from scrapy_seine import meta as m
from spiders.catalog import CatalogSpider

SHOP = "http://shop.example"
BUTTON = '<input type="hidden" name="token" value="7"><button name="ok" value="1">Enter</button>'
FORM = f'<h1>Welcome</h1><form method="post" action="/enter">{BUTTON}</form>'


def answer(html: str, *, sets_cookie: bool = False) -> tuple[str, str] | None:
    page = parse(f"<html><body>{html}</body></html>", f"{SHOP}/")
    found = answer_of(page, find_links(page), sets_cookie=sets_cookie)
    return found and (found.url.removeprefix(SHOP), found.body)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (FORM, ("/enter", "token=7&ok=1")),
        (FORM.replace("post", "get"), ("/enter?token=7&ok=1", "")),
        (f'{FORM}<a href="/imprint">Imprint</a>', ("/enter", "token=7&ok=1")),
        ('<h1>Are you over 18?</h1><a href="/enter?ok=1">Yes</a>', ("/enter?ok=1", "")),
    ],
)
def test_the_button_of_a_gate_is_pressed(html: str, expected: tuple[str, str]) -> None:
    assert answer(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        FORM.replace("<button", '<input name="email"><button'),
        FORM.replace("<button", '<input type="password" name="p"><button'),
        FORM.replace("<button", "<select name=year><option>1990</select><button"),
        FORM.replace("</form>", "<button>No</button></form>"),
        FORM.replace("/enter", "/cart/add"),
        FORM.replace("/enter", "/login"),
        FORM.replace("/enter", "https://other.example/enter"),
        f'{FORM}<form action="/search"><input name="q"></form>',
        f'{FORM}<nav class="menu"><a href="/c/lamps">Lamps</a></nav>',
        '<h1>Hello</h1><a href="/about">About us</a>',
        "<p>Under construction</p>",
    ],
)
def test_no_login_order_or_shop_is_a_gate(html: str) -> None:
    assert answer(html) is None


def test_a_page_without_links_that_sets_a_cookie_is_asked_again() -> None:
    assert answer("<p>One moment</p>", sets_cookie=True) == ("/", "")


def spider_of() -> CatalogSpider:
    spider = CatalogSpider()
    made: Any = Crawler(CatalogSpider, {"COOKIES_ENABLED": False})
    made.stats = MemoryStatsCollector(made)
    spider._set_crawler(made)
    return spider


def response(url: str, html: str, request: Request, **headers: str) -> HtmlResponse:
    body = f"<html><body>{html}</body></html>".encode()
    return HtmlResponse(SHOP + url, body=body, headers=headers, request=request)


def test_the_gates_cookie_is_sent_with_the_shops_requests() -> None:
    spider, seed = spider_of(), Request(f"{SHOP}/", meta={m.DEPTH: 1})
    (press,) = spider.parse(response("/", FORM, seed, **{"Set-Cookie": "sid=5; Path=/"}))
    assert isinstance(press, Request)
    assert (press.method, press.body, press.headers["Cookie"]) == (
        "POST",
        b"token=7&ok=1",
        b"sid=5",
    )
    assert not list(spider.parse(response("/", FORM, seed))), "it is pressed once"
    answered = response("/enter", "", press, **{"Set-Cookie": "age=18; Path=/"})
    answered = answered.replace(status=302)
    (again,) = spider.parse_gate(answered, **press.cb_kwargs)
    assert isinstance(again, Request)
    assert (again.url, again.headers["Cookie"]) == (f"{SHOP}/", b"sid=5; age=18")
    again.meta[m.DEPTH] = 2
    menu = '<nav class="menu"><a href="/c/lamps">Lamps</a></nav>'
    (lamps,) = spider.parse(response("/", menu, again))
    assert isinstance(lamps, Request)
    assert lamps.headers["Cookie"] == b"sid=5; age=18"


def test_another_worker_sends_the_cookies_of_the_requests_that_it_gets() -> None:
    request = Request(f"{SHOP}/c/lamps", headers={"Cookie": "age=18"}, meta={m.DEPTH: 1})
    page = response("/c/lamps", '<nav class="menu"><a href="/c/bowls">Bowls</a></nav>', request)
    (bowls,) = spider_of().parse(page)
    assert isinstance(bowls, Request)
    assert bowls.headers["Cookie"] == b"age=18"


def test_the_cookie_that_a_seed_brings_stays_with_the_seed() -> None:
    seed = Request(f"{SHOP}/c/lamps", headers={"Cookie": "login=7"})
    page = response("/c/lamps", '<nav class="menu"><a href="/c/bowls">Bowls</a></nav>', seed)
    (bowls,) = spider_of().parse(page)
    assert isinstance(bowls, Request)
    assert "Cookie" not in bowls.headers

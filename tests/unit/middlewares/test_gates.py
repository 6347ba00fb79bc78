"""Redirects of gates that lead to no address."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.statscollectors import MemoryStatsCollector

from crawler.extract.links.gate_cookies import GATE_BOUND, GATE_PRESSED, GATE_PROXY, GateCookies
from middlewares.gates import Gates, note_gate_proxy
from spiders.catalog import CatalogSpider

GATE = "https://shop.example/"
PLACES = ["http://[::1", "http://h:99999/", "javascript:enter()", "", "mailto:a@b.example"]


@pytest.fixture
def crawler() -> Any:
    made: Any = Crawler(CatalogSpider, {"COOKIES_ENABLED": False})
    made.stats = MemoryStatsCollector(made)
    made.spider = CatalogSpider()
    made.spider._set_crawler(made)
    return made


def redirect(place: str, request: Request) -> HtmlResponse:
    headers = {"Location": place, "Set-Cookie": "adult=1"}
    return HtmlResponse(request.url, status=302, headers=headers, request=request)


@pytest.mark.parametrize("place", PLACES)
def test_a_button_that_leads_to_no_address_gives_its_cookie(crawler: Any, place: str) -> None:
    answer = redirect(place, Request(f"{GATE}enter", cb_kwargs={"gate": GATE}))
    (again,) = crawler.spider.parse_gate(answer, gate=GATE)
    assert again.url == GATE
    assert crawler.spider.gate_cookies.of("shop.example") == "adult=1"


@pytest.mark.parametrize("place", PLACES)
def test_a_seed_that_redirects_to_no_address_is_passed_on(crawler: Any, place: str) -> None:
    request = Request(GATE)
    response = redirect(place, request)
    assert Gates(crawler).process_response(request, response) is response


def test_a_gate_that_knows_visitors_by_their_address_is_passed_through_one_proxy(
    crawler: Any,
) -> None:
    """Each page through another proxy was the gate, expired the cookie and pressed the button."""
    spider, url = crawler.spider, f"{GATE}c/lamps"
    meta = {"proxy_id": "one", GATE_PRESSED: {"button": "POST /enter"}}
    pressed = Request(f"{GATE}enter", meta=meta, cb_kwargs={"gate": url})
    (hop,) = spider.parse_gate(redirect("/", pressed), gate=url)
    hop.meta["proxy_id"] = "three"
    list(spider.parse_gate(HtmlResponse(hop.url, request=hop, status=302), gate=url))
    cookies = {"Cookie": "adult=1"}
    led = Request(url, headers=cookies, meta={"proxy_id": "two", "depth": 1})
    gate = b"<html lang=en><h1>Welcome</h1><form method=post action=/enter><button>Enter</button>"
    again = next(spider.parse(HtmlResponse(url, body=gate, request=led)))
    assert (again.url, again.meta[GATE_PROXY], again.meta[GATE_BOUND]) == (url, "one", True)
    assert again.headers["Cookie"] == b"adult=1"
    again.meta["depth"] = 1
    other = CatalogSpider()
    other._set_crawler(crawler)
    other._note_cookies(HtmlResponse(url, request=again))
    assert other.gate_cookies.proxy_of("shop.example") == ("one", False), "whose cookie it is"
    again.meta.update(proxy_id="two", gates=3)  # it has waited for the buttons of other pages
    pressed = next(spider.parse(HtmlResponse(url, body=gate, request=again)))
    assert pressed.url == f"{GATE}enter", "it waited for that proxy, which rests"
    assert spider.gate_cookies.of("shop.example") == ""


def test_a_cookie_that_a_request_gets_when_it_is_sent_brings_its_proxy() -> None:
    """A link that was stored before the gate was passed went through any proxy."""
    cookies = GateCookies()
    cookies.keep("shop.example", "adult=1", "one")
    assert cookies.is_bound("shop.example", "adult=1", "two")
    late, own = Request(f"{GATE}p/1"), Request(f"{GATE}p/2", headers={"Cookie": "login=7"})
    for request in (late, own):
        note_gate_proxy(request, cookies)
    assert (late.meta[GATE_PROXY], late.meta[GATE_BOUND], own.meta) == ("one", True, {})
    cookies.note("shop.example", "adult=1", "two")
    assert cookies.proxy_of("shop.example") == ("one", True)

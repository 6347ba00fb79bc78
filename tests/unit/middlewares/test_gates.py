"""Redirects of gates that lead to no address."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.statscollectors import MemoryStatsCollector

from middlewares.gates import Gates
from spiders.catalog import CatalogSpider

GATE = "https://shop.example/"
PLACES = ["http://[::1", "http://h:99999/", "javascript:enter()", "", "mailto:a@b.example"]


@pytest.fixture
def crawler() -> Any:
    made: Any = Crawler(CatalogSpider, {})
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

"""Links to a shop's host with another `www.` lead to its own one, if that is where they redirect."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.statscollectors import MemoryStatsCollector

from crawler.extract import Link
from crawler.extract.links.own_host import Twins
from spiders.catalog import CatalogSpider

OWN, TWIN = "https://www.shop.example.com", "https://shop.example.com"
LINKS = [Link(f"{TWIN}/lamp", "product", ""), Link(f"{OWN}/c/lamps", "listing", "")]


def settled(twins: Twins, url: str = f"{OWN}/") -> list[str]:
    return [link.url for link in twins.settled(LINKS, url)]


@pytest.mark.parametrize("path", ["/", "/lamp"])
def test_links_to_a_host_that_redirects_lead_to_the_shop_s_own(path: str) -> None:
    """Each page of a shop whose links had no `www.` took a redirect."""
    twins = Twins()
    assert settled(twins) == [link.url for link in LINKS]
    twins.note(f"{TWIN}{path}", f"{OWN}{path}")
    assert settled(twins) == [f"{OWN}/lamp", f"{OWN}/c/lamps"]
    assert settled(twins, "https://blog.shop.example.com/") == [link.url for link in LINKS]


@pytest.mark.parametrize(
    ("requested", "url"),
    [
        (f"{OWN}/", f"{OWN}/"),
        (f"{TWIN}/", f"{OWN}/en/"),
        ("https://outlet.shop.example.com/lamp", f"{OWN}/lamp"),
        (f"{TWIN}/lamp", f"{OWN}/c/lamps"),
    ],
)
def test_no_other_redirect_says_where_a_shop_s_pages_are(requested: str, url: str) -> None:
    twins = Twins()
    twins.note(requested, url)
    assert settled(twins) == [link.url for link in LINKS]


def test_links_to_a_host_of_which_a_page_answered_stay_as_they_are() -> None:
    twins = Twins()
    twins.note(f"{TWIN}/", f"{OWN}/")
    twins.note(f"{TWIN}/lamp", f"{TWIN}/lamp")
    twins.note(f"{TWIN}/chair", f"{OWN}/chair")
    assert settled(twins) == [link.url for link in LINKS]


def test_the_spider_asks_for_the_links_of_a_redirected_page_on_the_host_that_answered() -> None:
    spider = CatalogSpider()
    made: Any = Crawler(CatalogSpider, {"SEINE_SITEMAPS": False})
    made.stats = MemoryStatsCollector(made)
    spider._set_crawler(made)
    request = Request(f"{OWN}/", meta={"redirect_urls": [f"{TWIN}/"]})
    body = f'<html lang=en><h1>Lamps</h1><a href="{TWIN}/p/lamp-1">Lamp</a></html>'
    response = HtmlResponse(f"{OWN}/", body=body.encode(), request=request)
    assert [found.url for found in spider.parse(response)] == [f"{OWN}/p/lamp-1"]

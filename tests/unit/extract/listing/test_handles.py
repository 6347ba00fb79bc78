"""A listing's script names products by the last part of their addresses alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.statscollectors import MemoryStatsCollector

from crawler.extract import Link, Page, parse
from crawler.extract.listing.handles import Handles
from scrapy_seine import meta as m
from spiders.catalog import CatalogSpider

SITE = "https://shop.example"


def listing(numbers: range, url: str = f"{SITE}/all") -> Page:
    goods = [{"title": f"Lamp {n}", "handle": f"lamp-{n}", "price": "9.90"} for n in numbers]
    state = json.dumps({"products": goods, "totalPages": 2, "totalCount": 8})
    script = f'<script id="__NEXT_DATA__" type="application/json">{state}</script>'
    return parse(f"<html><body><h1>All</h1>{script}</body></html>", url)


def product(path: str) -> Link:
    return Link(SITE + path, "product", "")


def test_names_are_completed_by_the_form_of_a_known_product():
    handles = Handles()
    assert handles.links(listing(range(4)), []) == []
    handles.note([product("/product/lamp-2/")])
    found = handles.links(listing(range(4)), [])
    assert [link.url for link in found] == [f"{SITE}/product/lamp-{n}/" for n in range(4)]
    assert {link.kind for link in found} == {"product"}
    assert handles.links(listing(range(4, 8)), []) == []  # these may be categories
    later = handles.links(listing(range(4, 8), f"{SITE}/all?page=2"), [])
    assert [link.url for link in later] == [f"{SITE}/product/lamp-{n}/" for n in range(4, 8)]


@pytest.mark.parametrize(
    "known",
    [
        ["/product/chair-1"],  # none of the list's
        ["/product/lamp-1", "/sale/lamp-2"],  # two forms
        ["/product/lamp-1?id=3"],
    ],
)
def test_no_address_is_guessed(known: list[str]):
    handles = Handles()
    handles.note(map(product, known))
    assert handles.links(listing(range(4)), []) == []


def test_a_page_with_links_to_products_needs_no_names():
    handles = Handles()
    handles.note([product("/product/lamp-1")])
    linked = [product(f"/product/lamp-{n}") for n in range(4)]
    assert handles.links(listing(range(4)), linked) == []
    assert len(handles.links(listing(range(4)), linked[:1])) == 4
    assert handles.links(listing(range(2)), []) == []
    assert handles.links(listing(range(4), "https://other.example/all"), []) == []


def test_the_spider_reads_such_a_listing_to_its_end():
    spider = CatalogSpider()
    made: Any = Crawler(CatalogSpider, {"SEINE_SITEMAPS": False})
    made.stats = MemoryStatsCollector(made)
    spider._set_crawler(made)
    spider.knows = lambda url, job: False

    def requests(page: Page, callback: Any = spider.parse, **kwargs: Any) -> list[Request]:
        request = Request(page.url, meta={m.DEPTH: 1})
        return list(callback(HtmlResponse(page.url, body=page.raw, request=request), **kwargs))

    front = '<a href="/p/lamp-0">Lamp</a><a href="/all">All</a>'
    requests(parse(f"<html><body>{front}</body></html>", f"{SITE}/"))
    first = requests(listing(range(4)))
    assert {f"{SITE}/p/lamp-{n}" for n in range(4)} <= {request.url for request in first}
    (guess,) = (request for request in first if request.callback is not None)
    second = requests(
        listing(range(4, 8), guess.url), spider.parse_guess, search=guess.cb_kwargs["search"]
    )
    assert {f"{SITE}/p/lamp-{n}" for n in range(4, 8)} <= {request.url for request in second}


def test_names_in_json_are_completed_once_a_page_with_links_has_shown_their_form() -> None:
    handles = Handles()
    links = [product(f"/product/lamp-{n}") for n in range(4)]
    handles.note(links)
    assert handles.links(listing(range(4)), links) == []
    told = json.dumps({"items": [{"name": "x</script>", "slug": f"lamp-{n}"} for n in range(4, 8)]})
    page = parse(told, f"{SITE}/api?offset=4", "application/json")
    found = [link.url for link in handles.links(page, [])]
    assert found == [f"{SITE}/product/lamp-{n}" for n in range(4, 8)]

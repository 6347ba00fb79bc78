"""Pages that a site refuses with status 200 are requested once more, and then named."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from scrapy_seine import meta as m
from spiders.catalog import CatalogSpider
from tests.unit.extract.links.test_gate import PRODUCT, SHOP, response, spider_of

SORRY = "<h1>Sorry</h1><p>Something seems unusual about your visit.</p>"


def read(spider: CatalogSpider, number: int, html: str, meta: dict[str, Any] | None = None) -> Any:
    path = f"/p/{number}-lamp"
    request = Request(SHOP + path, meta={m.DEPTH: 1, **(meta or {})})
    made = list(spider.parse(response(path, html, request)))
    return [one for one in made if isinstance(one, Request)]


def test_refused_products_are_requested_once_more_and_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    spider = spider_of()
    for number in range(4):
        read(spider, number, PRODUCT)
    read(spider, 10, SORRY)
    again = read(spider, 11, SORRY)
    assert [one.url for one in again] == [f"{SHOP}/p/10-lamp", f"{SHOP}/p/11-lamp"]
    other = spider_of()  # any worker gets them
    assert not read(other, 10, SORRY, again[0].meta)
    assert not [one for one in read(other, 11, PRODUCT, again[1].meta) if m.SCOPE in one.meta]
    with caplog.at_level(logging.WARNING):
        other.closed("finished")
    assert "1 page(s) with addresses like its products' showed none when asked twice" in caplog.text


def test_a_page_of_another_private_host_is_requested_again_at_its_own_host() -> None:
    """It may reach only the host of the page that led to it, so that it was a dead letter."""
    spider = spider_of()
    hosts = ("10.0.0.1:80", "10.0.0.2:80")

    def read_at(host: str, number: int, html: str) -> list[Request]:
        url = f"http://{host.removesuffix(':80')}/p/{number}-lamp"
        meta = {m.DEPTH: 1, m.HOME: host, m.SITE_ID: "shop.example"}
        page = response("/", html, Request(url, meta=meta)).replace(url=url)
        return [one for one in spider.parse(page) if isinstance(one, Request)]

    for number in range(4):
        read_at(hosts[0], number, PRODUCT)
    read_at(hosts[0], 10, SORRY)
    again = read_at(hosts[1], 11, SORRY)
    assert [one.meta[m.HOME] for one in again] == [*hosts]


def test_a_text_instead_of_a_page_is_a_refusal_too() -> None:
    spider = spider_of()
    for number in range(4):
        read(spider, number, PRODUCT)
    urls = [f"{SHOP}/p/{number}-lamp" for number in (10, 11)]
    made = [
        list(spider.parse(Response(url, body=b'{"error":"quota"}', request=Request(url))))
        for url in urls
    ]
    assert [getattr(one, "url", "") for one in made[1]] == urls

"""Pages of other kinds are left out where the sitemap has each product that pages link to."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.statscollectors import MemoryStatsCollector

from crawler.extract.links.choice import PRIORITY, Link
from crawler.extract.links.sitemap_check import MIN_LINKED, SitemapCheck
from middlewares.dead_ends import DeadEnds
from scrapy_seine import meta as m
from scrapy_seine.engine.lease.outcomes import Ignored
from spiders.catalog import CatalogSpider

SITE = "https://shop.example"
PRODUCTS = [f"{SITE}/p/lamp-{number}" for number in range(MIN_LINKED)]


def checked(listed: list[str], linked: list[str] = PRODUCTS) -> SitemapCheck:
    check = SitemapCheck()
    check.note_links(f"{SITE}/c/lamps", [Link(url, "product", "") for url in linked])
    for url in listed:
        check.note_listed(url)
    return check


def test_a_sitemap_without_a_gap_leaves_out_what_it_does_not_list():
    check = checked(PRODUCTS)
    assert check.leaves_out(f"{SITE}/brands/acme")
    assert not check.leaves_out(PRODUCTS[0])
    assert not check.leaves_out("https://other.example/brands/acme")


@pytest.mark.parametrize(
    ("listed", "linked"),
    [
        (PRODUCTS[1:], PRODUCTS),
        (PRODUCTS, [*PRODUCTS, f"{SITE}/p/new-lamp"]),
        (PRODUCTS, PRODUCTS[1:]),  # too few to judge by
        ([], PRODUCTS),
        ([f"{SITE}/?p={n}" for n in range(20)], [f"{SITE}/?q={n}" for n in range(20)]),
    ],
)
def test_a_gap_or_too_little_evidence_leaves_out_nothing(listed: list[str], linked: list[str]):
    assert not checked(listed, linked).leaves_out(f"{SITE}/brands/acme")


def test_a_visit_s_parameters_are_no_gap():
    linked = [f"{url}?src=list" for url in PRODUCTS]
    assert checked(PRODUCTS, linked).leaves_out(f"{SITE}/brands/acme")


def test_of_listed_pages_articles_and_legal_pages_are_left_out():
    pages = [f"{SITE}/blog/care-for-oak", f"{SITE}/pages/contact", f"{SITE}/red-chair"]
    check = checked([*PRODUCTS, *pages])
    assert [check.leaves_out(url) for url in pages] == [True, True, False]
    dated = [f"{SITE}/2026/03/lamp-{number}/" for number in range(MIN_LINKED)]
    check = checked([*dated, f"{SITE}/2026/04/a-lamp/"], dated)
    assert not check.leaves_out(f"{SITE}/2026/04/a-lamp/")


def test_a_large_shop_is_not_compared():
    check = checked([f"{SITE}/p/{number}" for number in range(6_000)])
    assert not check.leaves_out(f"{SITE}/brands/acme")
    assert not check._sites["shop.example"].listed


class TestSpider:
    @pytest.fixture
    def spider(self) -> CatalogSpider:
        spider = CatalogSpider()
        made: Any = Crawler(CatalogSpider, {})
        made.stats = MemoryStatsCollector(made)
        made.spider = spider
        spider._set_crawler(made)
        spider.knows = lambda url, job: False
        return spider

    def sitemap(self, spider: CatalogSpider, urls: list[str]) -> list[Request]:
        body = "<urlset>" + "".join(f"<url><loc>{url}</loc></url>" for url in urls) + "</urlset>"
        request = Request(f"{SITE}/sitemap.xml", meta={m.DEPTH: 1})
        response = Response(request.url, body=body.encode(), request=request)
        return list(spider.parse_sitemap(response, SITE))

    def listing(self, spider: CatalogSpider, extra: str = "") -> list[Any]:
        tiles = "".join(
            f'<li class="product"><a href="{url}"><img src="/x.jpg"></a><b>£9.90</b></li>'
            for url in PRODUCTS
        )
        url = f"{SITE}/c/lamps"
        body = f'<html lang="en"><body><ul>{tiles}</ul>{extra}</body></html>'.encode()
        request = Request(url, meta={m.DEPTH: 1})
        return list(spider.parse(HtmlResponse(url, body=body, request=request)))

    def other(self, url: str, priority: int = PRIORITY["other"]) -> Request:
        return Request(url, meta={m.DEPTH: 2}, priority=priority)

    def test_a_brand_is_not_fetched_once_the_sitemap_is_known_to_lack_nothing(self, spider):
        middleware = DeadEnds(spider.crawler)
        brand = f"{SITE}/brands/acme"
        self.listing(spider)
        middleware.process_request(self.other(brand))
        self.sitemap(spider, PRODUCTS)
        with pytest.raises(Ignored, match="sitemap"):
            middleware.process_request(self.other(brand))
        middleware.process_request(self.other(brand, PRIORITY["listing"]))
        middleware.process_request(Request(brand))  # a seed

    def test_the_sitemap_of_an_earlier_job_decides_nothing(self, spider):
        """The shop's sitemap may lack by now what a worker that stays read in it."""
        middleware = DeadEnds(spider.crawler)
        self.listing(spider)
        self.sitemap(spider, PRODUCTS)
        brand = self.other(f"{SITE}/brands/acme")
        brand.meta[m.JOB_ID] = "next"
        middleware.process_request(brand)

    def test_articles_and_legal_pages_of_a_sitemap_come_last(self, spider):
        urls = [f"{SITE}/p/red-lamp", f"{SITE}/red-chair", f"{SITE}/blog/oak", f"{SITE}/contact"]
        priorities = {r.url: r.priority for r in self.sitemap(spider, urls)}
        expected = [PRIORITY[kind] for kind in ("product", "listing", "other", "other")]
        assert [priorities[url] for url in urls] == expected

    def test_sitemaps_come_before_the_pages_that_they_list(self, spider):
        response = HtmlResponse(f"{SITE}/robots.txt", body=b"Sitemap: /sitemap.xml")
        (request,) = spider.parse_robots(response, SITE)
        assert request.priority > PRIORITY["product"]

    def test_legal_pages_are_left_out_where_links_lead_on(self, spider):
        legal = '<p><a href="/contact">Contact</a><a href="/story">Story</a></p>'
        urls = {request.url for request in self.listing(spider, legal)}
        assert f"{SITE}/story" in urls
        assert f"{SITE}/contact" not in urls
        gate = Request(f"{SITE}/", meta={m.DEPTH: 1})
        body = b'<a href="/contact">Contact</a><a href="/enter">Enter</a>'
        found = spider.parse(HtmlResponse(gate.url, body=body, request=gate))
        assert {request.url for request in found} == {f"{SITE}/contact", f"{SITE}/enter"}

    def test_the_next_page_of_a_list_of_known_products_waits(self, spider):
        pager = '<a href="/c/lamps?page=2">2</a>'
        last = [r for r in self.listing(spider, pager) if "page=2" in r.url]
        assert [r.priority for r in last] == [PRIORITY["pagination"]]
        spider.knows = lambda url, job: url in PRODUCTS
        last = [r for r in self.listing(spider, pager) if "page=2" in r.url]
        assert [r.priority for r in last] == [PRIORITY["other"]]

    def test_all_of_a_listing_at_once_is_not_asked_for_where_it_is_shown(self, spider):
        sizes = '<p>10 products</p><a href="?limit=12">12</a><a href="?limit=48">48</a>'
        assert not [r for r in self.listing(spider, sizes) if "limit=" in r.url]
        more = self.listing(spider, sizes.replace("10 products", "40 products"))
        assert [r.url for r in more if "limit=" in r.url] == [f"{SITE}/c/lamps?limit=48"]

    @pytest.mark.parametrize("body", [b"", b"<html><body></body></html>"])
    def test_a_refresh_header_is_followed_whatever_the_body(self, spider, body):
        request = Request(f"{SITE}/")
        headers = {"Refresh": "0; url=/home", "Content-Type": "text/html"}
        answer = HtmlResponse(request.url, body=body, headers=headers, request=request)
        urls = {made.url for made in spider.parse(answer)}
        assert {f"{SITE}/home", f"{SITE}/robots.txt"} <= urls
        for value in ("300", "5; url=/", "0; url=https://other.example/"):
            answer = answer.replace(headers={"Refresh": value})
            assert f"{SITE}/home" not in {made.url for made in spider.parse(answer)}

    def test_other_pages_of_a_front_page_wait_for_the_sitemaps(self, spider):
        body = b'<a href="/p/red-lamp">Lamp</a><a href="/story">Story</a>'

        def delays(depth: int) -> dict[str, int | None]:
            request = Request(f"{SITE}/", meta={m.DEPTH: depth})
            answer = HtmlResponse(request.url, body=body, request=request)
            return {made.url: made.meta.get(m.DELAY) for made in spider.parse(answer)}

        assert delays(0) == {
            f"{SITE}/p/red-lamp": None,
            f"{SITE}/story": 3,
            f"{SITE}/robots.txt": None,
        }
        assert delays(1) == {f"{SITE}/p/red-lamp": None, f"{SITE}/story": None}

"""What of a watched sitemap is news: by its dates, and where these say nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, XmlResponse
from scrapy.statscollectors import MemoryStatsCollector

from crawler.extract.links.sitemap_news import dates_of, is_news
from scrapy_seine import meta as m
from spiders.catalog import CatalogSpider
from spiders.sitemaps import MOST_FOREIGN

SHOP = "https://shop.example/"
SINCE = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("2026-11-20T12:00:01Z", True),
        ("2026-11-20T11:59:59+00:00", False),
        ("2026-11-20T13:30:00+02:00", False),
        ("Fri, 20 Nov 2026 12:00:01 GMT", True),
        ("Thu, 19 Nov 2026 12:00:01 GMT", False),
        # Somewhere it was still that day half a day ago.
        ("2026-11-20T00:00:01", True),
        ("2026-11-19T23:59:59", False),
        ("2026-11-19", True),
        ("2026-11-18", False),
        ("2026-11-20", True),
        ("yesterday", True),
        ("2026-13-45", True),
    ],
)
def test_dates_as_sitemaps_write_them(changed, expected):
    assert is_news(changed, SINCE) is expected


def a_spider() -> CatalogSpider:
    """Make a spider that counts."""
    spider = CatalogSpider()
    made: Any = Crawler(CatalogSpider, {})
    made.stats = MemoryStatsCollector(made)
    spider._set_crawler(made)
    return spider


def news(dates: list[str], **known: str) -> dict[str, str]:
    """Read a sitemap in a news job; gives each page that is asked for, with its scope."""
    spider = a_spider()
    entries = "".join(
        f"<url><loc>{SHOP}p/{n}</loc><lastmod>{date}</lastmod></url>"
        for n, date in enumerate(dates)
    )
    url = f"{SHOP}sitemap.xml"
    request = Request(url, meta={m.JOB_TYPE: "news", m.JOB_ID: "news-1"})
    response = XmlResponse(url, body=f"<urlset>{entries}</urlset>".encode(), request=request)
    found = spider.parse_sitemap(response, SHOP, **known)
    return {request.url.removeprefix(SHOP): request.meta[m.SCOPE] for request in found}


def test_only_what_is_newer_than_the_last_look_is_asked_for():
    old, new = "2026-11-01", "2026-11-21"
    assert news([old, new, ""], since=SINCE.isoformat(), crawled="full-1") == {
        "p/1": f"news {new}",
        # Without a date it is news if the full crawl did not see it.
        "p/2": "full-1",
    }


def test_a_first_look_finds_everything():
    assert len(news(["2026-11-01", "2026-11-21"])) == 2


def test_one_date_for_all_pages_says_nothing():
    found = news(["2026-11-21T12:00:00Z"] * 25, since=SINCE.isoformat(), crawled="full-1")
    assert set(found.values()) == {"full-1"}
    few = [(f"{n}", "2026-11-21") for n in range(5)]
    assert set(dates_of(few).values()) == {"2026-11-21"}


def asked_for(spider: CatalogSpider, first: list[Request], answer: str) -> list[Request]:
    """Every request that sitemaps lead to, where each sitemap has the same content."""
    found, waiting = [], first
    while waiting:
        request = waiting.pop()
        found.append(request)
        if request.callback == spider.parse_sitemap and len(found) < 2000:
            body = answer.replace("HERE", str(len(found))).encode()
            response = XmlResponse(request.url, body=body, request=request)
            waiting += spider.parse_sitemap(response, **request.cb_kwargs)
    return found


def test_sitemaps_of_other_sites_are_few_and_list_only_the_shops_own_pages():
    spider = a_spider()
    lines = "".join(f"Sitemap: https://cdn{n}.example.net/map{n}.xml\n" for n in range(20))
    robots = XmlResponse(f"{SHOP}robots.txt", body=f"{lines}Sitemap: /own.xml\n".encode())
    first = list(spider.parse_robots(robots, SHOP))
    assert first[0].url == f"{SHOP}own.xml"
    inner = "".join(
        f"<sitemap><loc>https://HERE-{n}.evil.example/</loc></sitemap>" for n in range(9)
    )
    pages = f"<url><loc>https://victim.example/x</loc></url><url><loc>{SHOP}p</loc></url>"
    found = asked_for(spider, first, f"<urlset>{inner}{pages}</urlset>")
    foreign = {request.url for request in found if not request.url.startswith(SHOP)}
    assert 20 <= len(foreign) <= MOST_FOREIGN
    assert not any("victim" in url for url in foreign)
    assert f"{SHOP}p" in {request.url for request in found}


def test_a_shop_that_names_the_sitemap_of_its_old_host_alone_is_asked_for_its_own():
    spider = a_spider()
    old = "https://old.example/map.xml"
    robots = XmlResponse(f"{SHOP}robots.txt", body=f"Sitemap: {old}\n".encode())
    urls = [request.url for request in spider.parse_robots(robots, SHOP)]
    assert urls == [f"{SHOP}sitemap.xml", old]


@pytest.mark.parametrize(
    "bad", ["http://[", "http://[::1]]/", "http://a.example:99999/", "http://"]
)
def test_a_line_that_is_no_url_costs_a_file_none_of_its_other_lines(bad):
    spider = a_spider()
    robots = XmlResponse(f"{SHOP}robots.txt", body=f"Sitemap: {bad}\nSitemap: /own.xml\n".encode())
    first = list(spider.parse_robots(robots, SHOP))
    assert f"{SHOP}own.xml" in {request.url for request in first}
    inner = f"<sitemap><loc>{bad}</loc></sitemap><sitemap><loc>/sub.xml</loc></sitemap>"
    pages = f"<url><loc>{bad}</loc></url><url><loc>{SHOP}p</loc></url>"
    found = asked_for(spider, first, f"<urlset>{inner}{pages}</urlset>")
    assert {f"{SHOP}sub.xml", f"{SHOP}p"} <= {request.url for request in found}


@pytest.mark.parametrize(
    ("menu", "expected"),
    [
        ("/c/lamps/desk", "https://shop.example.com/p/1"),
        ("https://www.shop.example.com/c/lamps/desk", "https://www.shop.example.com/p/1"),
    ],
)
def test_pages_of_a_sitemap_are_asked_for_on_the_host_to_which_the_front_page_leads(menu, expected):
    """Each product of a sitemap with `www.` took two requests of a shop that redirects to the other name."""
    spider, url = a_spider(), "https://shop.example.com/"
    body = f'<html lang=en><h1>Lamps</h1><nav><a href="{menu}">Desk</a></nav></html>'
    front = HtmlResponse(url, body=body.encode(), request=Request(url))
    (robots,) = (r for r in spider.parse(front) if r.callback == spider.parse_robots)
    map_line = b"Sitemap: http://www.shop.example.com/map.xml\n"
    answer = XmlResponse(robots.url, body=map_line, request=robots)
    first = list(spider.parse_robots(answer, **robots.cb_kwargs))
    # A worker of an older version takes no other names.
    assert set(robots.cb_kwargs) <= {"origin", "bare"}
    assert set(first[0].cb_kwargs) <= {"origin", "since", "crawled", "foreign"}
    pages = "<url><loc>https://www.shop.example.com/p/1</loc></url>"
    index = "<sitemap><loc>http://www.shop.example.com/part.xml</loc></sitemap>"
    found = {
        request.url for request in asked_for(spider, first, f"<urlset>{pages}{index}</urlset>")
    }
    assert found == {
        "http://www.shop.example.com/map.xml",
        "http://www.shop.example.com/part.xml",
        expected,
    }

"""Links into a shop's copies in other languages are left out, and that is counted and said."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.statscollectors import MemoryStatsCollector

from crawler.extract import Link, find_links, parse
from crawler.extract.links.listed_links import listed_links
from crawler.extract.links.mobile_copies import without_copy
from middlewares.dead_ends import DeadEnds
from scrapy_seine.engine.lease.outcomes import Ignored
from spiders.catalog import CatalogSpider

BODY = b"""<html lang=de><title>Weine</title><body><h1>Weine</h1><a href="/de/weine/rot">Rot</a>
<a href="/it/vini">IT</a><a href="/it/vini/rossi">Rossi</a></body></html>"""
URL = "https://shop.example/de/weine"


def test_what_is_left_out_is_known_of_the_page() -> None:
    page = parse(BODY, URL)
    assert [link.url for link in find_links(page)] == [f"{URL}/rot"]
    assert page.other_languages == {
        "it": ["https://shop.example/it/vini", "https://shop.example/it/vini/rossi"]
    }


def _followed(alternates: str) -> list[str]:
    body = (
        f"<html lang=en-gb><head><title>Wines</title>{alternates}</head><body><h1>Wines</h1>"
        '<a href="/wines/red">Red</a><a href="/en-us/wines/red">US</a></body></html>'
    )
    found = find_links(parse(body.encode(), "https://shop.example/wines"))
    return [link.url.removeprefix("https://shop.example") for link in found]


def test_a_copy_for_another_country_in_the_same_language_is_not_crawled_as_well() -> None:
    other = '<link rel="alternate" hreflang="en-us" href="/en-us/wines">'
    own = '<link rel="alternate" hreflang="en-gb" href="/wines">'
    assert _followed(own + other) == ["/wines/red"]
    # The page may be the same as one of its alternates, if none is the page's own.
    assert _followed(other) == ["/wines/red", "/en-us/wines/red"]


def test_each_copy_is_said_once_and_its_links_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    spider = CatalogSpider()
    made: Any = Crawler(CatalogSpider, {})
    made.stats = MemoryStatsCollector(made)
    spider._set_crawler(made)
    with caplog.at_level("INFO"):
        for _ in range(2):
            list(spider.parse(HtmlResponse(URL, body=BODY, request=Request(URL))))
    assert caplog.text.count("links into /it/ are left out") == 1
    assert made.stats.get_value("extract/other_languages") == 4


@pytest.mark.parametrize(
    ("here", "followed", "is_said"), [(1, 2, False), (4, 0, False), (1, 4, True)]
)
def test_a_pager_is_said_not_to_be_followed_unless_the_next_page_is(
    caplog: pytest.LogCaptureFixture, here: int, followed: int, is_said: bool
) -> None:
    """A theme of many shops says nofollow of all numbers but the next one."""
    spider, url = CatalogSpider(), f"https://shop.example/c/all?page={here}"
    made: Any = Crawler(CatalogSpider, {})
    made.stats = MemoryStatsCollector(made)
    spider._set_crawler(made)
    pages = "".join(
        f'<a href="?page={n}" rel="{"next" if n == followed else "nofollow"}">{n}</a>'
        for n in range(1, 5)
    )
    body = f"<html><h1>Lamps</h1><div class=pager>{pages}</div></html>".encode()
    list(spider.parse(HtmlResponse(url, body=body, request=Request(url))))
    assert ("because the shop says nofollow" in caplog.text) is is_said


def test_a_page_in_no_folder_leads_to_no_copy_that_is_known() -> None:
    spider = CatalogSpider()
    made: Any = Crawler(CatalogSpider, {})
    made.stats = MemoryStatsCollector(made)
    spider._set_crawler(made)
    list(spider.parse(HtmlResponse(URL, body=BODY, request=Request(URL))))
    url = "https://shop.example/contact"
    links = [Link(f"https://shop.example/{path}", "other", "") for path in ("it/", "de/", "terms")]
    page = parse("<html><body><h1>Contact</h1></body></html>", url)
    site_id = next(iter(spider.copies.logged_folders))[0]
    assert spider._without_copies(site_id, page, links) == links[1:]


def test_a_front_page_leads_to_a_copy_whose_pages_are_read_in_the_next_job_as_well() -> None:
    """Each copy's pages tell of the other one: a worker that stays crawled neither of them then."""
    spider = CatalogSpider()
    made: Any = Crawler(CatalogSpider, {"SEINE_SITEMAPS": False})
    made.stats = MemoryStatsCollector(made)
    spider._set_crawler(made)

    def followed(path: str, html: str) -> list[str]:
        url = f"https://shop.example/{path}"
        found = spider.parse(HtmlResponse(url, body=html.encode(), request=Request(url)))
        return [x.url.removeprefix("https://shop.example") for x in found if isinstance(x, Request)]

    front = '<html><h1>Shop</h1><a href="/de/">Deutsch</a><a href="/fr/">Français</a></html>'
    copy = '<html lang={0}><h1>Shop</h1><a href="/{0}/c">C</a><a href="/{1}/">other</a></html>'
    assert followed("", front) == ["/de/", "/fr/"]
    assert followed("de/", copy.format("de", "fr")) == ["/de/c"]
    assert followed("fr/", copy.format("fr", "de")) == ["/fr/c"]
    assert followed("", front) == ["/fr/"]
    assert followed("de/", copy.format("de", "fr")) == ["/de/c"]
    assert followed("", front) == ["/de/", "/fr/"]


def test_a_copy_for_another_country_is_known_by_its_alternates() -> None:
    """`uk` names a language as well, and `ie` none: only the alternates say what they are."""
    alternates = "".join(
        f'<link rel="alternate" hreflang="en-{code}" href="/{folder}/lamps">'
        for code, folder in (("gb", "uk"), ("ie", "ie"))
    )
    body = (
        f"<html lang=en-gb><head>{alternates}</head><body><h1>Lamps</h1>"
        '<a href="/uk/lamps/red">Red</a><a href="/ie/lamps/red">Ireland</a></body></html>'
    )
    page = parse(body.encode(), "https://shop.example/uk/lamps")
    assert [link.url for link in find_links(page)] == ["https://shop.example/uk/lamps/red"]
    assert list(page.other_languages) == ["ie"]


@pytest.mark.parametrize("rel", ['rel="amphtml"', 'rel="alternate" media="only screen"'])
def test_a_pages_copy_for_phones_is_not_followed(rel: str) -> None:
    body = f'<head><link {rel} href="/m/lamp-1"></head><a href="/m/lamp-1">Mobile</a>'
    assert find_links(parse(f"<html>{body}</html>", "https://shop.example/lamp-1")) == []


@pytest.mark.parametrize(
    ("canonical", "followed"),
    [
        ("https://shop.example/lamps", "https://shop.example/lamp-1"),
        ("https://shop.example/", "https://shop.example/m/lamp-1"),  # named by all pages
        ("https://shop.example/m/lamps", "https://shop.example/m/lamp-1"),
        ("https://shop.example/a/lamps", "https://shop.example/m/lamp-1"),
        ("https://other.example/lamps", "https://shop.example/m/lamp-1"),
        (None, "https://shop.example/m/lamp-1"),
    ],
)
def test_a_copy_for_phones_leads_to_the_shops_own_pages(
    canonical: str | None, followed: str
) -> None:
    links = [Link("https://shop.example/m/lamp-1", "product", "")]
    (link,) = without_copy(links, "https://shop.example/m/lamps", canonical)
    assert link.url == followed


@pytest.mark.parametrize("imprint", ["", '<a href="/en/imprint">Imprint</a>'])
def test_a_language_s_front_page_without_goods_leads_to_another_language_s(imprint: str) -> None:
    """A shop that redirects by Accept-Language was lost whole: its English page names the German one."""
    body = f'<html lang=en><h1>Our shop is in German</h1>{imprint}<a href="/de/">To the shop</a>'
    page = parse(body, "https://shop.example/en/")
    found = {link.url: link.kind for link in find_links(page)}
    assert found["https://shop.example/de/"] == "listing"
    assert page.other_languages == {}
    goods = body + '<a href="/en/wines/red">Red</a>'
    assert "https://shop.example/de/" not in {
        link.url for link in find_links(parse(goods, "https://shop.example/en/"))
    }


COUNTRIES = ("gb", "us", "de")
CHOICE = "<html lang=en><h1>Choose your country</h1>" + "".join(
    f'<a href="/{country}/">{country}</a>' for country in COUNTRIES
)


@pytest.mark.parametrize("path", ["", "country"])
def test_of_the_countries_that_a_page_lets_choose_one_is_read_first(path: str) -> None:
    found = find_links(parse(CHOICE, f"https://shop.example/{path}"))
    assert [(link.url[-3:-1], link.kind) for link in found] == [
        ("gb", "listing"), ("us", "other"), ("de", "other"),
    ]  # fmt: skip
    categories = CHOICE + "".join(f'<a href="/all-{n}">All</a>' for n in range(10))
    found = find_links(parse(categories, "https://shop.example/"))
    assert {link.kind for link in found} == {"other"}


def test_the_front_pages_of_a_shop_s_other_countries_are_left_out_once_one_was_read() -> None:
    """A page that lets choose a country had the same products fetched for each, in its currency."""
    spider = CatalogSpider()
    made: Any = Crawler(CatalogSpider, {})
    made.stats = MemoryStatsCollector(made)
    spider._set_crawler(made)
    us = Request("https://shop.example/us/", meta={"site_id": "s"})
    assert not spider.is_left_out_copy(url=us.url, site_id="s")
    alternates = "".join(
        f'<link rel="alternate" hreflang="en-{country}" href="https://shop.example/{country}/">'
        for country in COUNTRIES
    )
    body = f"<html lang=en-gb><head>{alternates}</head><h1>Lamps</h1></html>"
    request = Request("https://shop.example/gb/", meta={"site_id": "s", "depth": 1})
    list(spider.parse(HtmlResponse(request.url, body=body.encode(), request=request)))
    assert spider.is_left_out_copy(url=us.url, site_id="s")
    assert not spider.is_left_out_copy(url=f"{us.url}lamps", site_id="s")
    assert not spider.is_left_out_copy(url=request.url, site_id="s")
    made.spider = spider
    middleware = DeadEnds(made)
    with pytest.raises(Ignored, match="another country"):
        middleware.process_request(us.replace(meta={"site_id": "s", "depth": 1}))
    middleware.process_request(us)  # a seed


def _front(alternates: str) -> list[str]:
    body = (
        f"<html lang=ar><head><title>Oud</title>{alternates}</head><body><h1>Oud</h1>"
        '<a href="/p/1">Oud 1</a><a href="https://en.shop.example/p/1">English</a>'
        '<a href="https://outlet.shop.example/p/1">Outlet</a></body></html>'
    )
    return [link.url for link in find_links(parse(body.encode(), "https://ar.shop.example/"))]


def test_links_to_the_host_of_a_copy_in_another_language_are_left_out() -> None:
    """Each product was fetched twice, and its second name told as a doubt."""
    own, english, outlet = (f"https://{name}.shop.example/p/1" for name in ("ar", "en", "outlet"))
    alternates = "".join(
        f'<link rel="alternate" hreflang="{code}" href="https://{code}.shop.example/">'
        for code in ("ar", "en")
    )
    assert _front(alternates) == [own, outlet]
    page = parse(f"<html lang=ar>{alternates}<a href='{english}'>English</a>", own)
    find_links(page)
    assert page.other_languages == {"https://en.shop.example": [english]}
    assert _front("") == [own, english, outlet]
    same = alternates.replace("en.shop", "ar.shop")
    assert _front(same) == [own, english, outlet], "both languages are on the own host"


def test_a_sitemaps_pages_in_a_languages_folder_are_left_out_beside_the_same_outside_of_it() -> (
    None
):
    shop = "https://shop.example"
    listed = [f"{shop}/lamp", f"{shop}/en/lamp", f"{shop}/en/only-there", f"{shop}/tv/lamp"]
    found = listed_links(listed, f"{shop}/", lambda url, origin: True)
    assert [link.url for link in found] == [listed[0], *listed[2:]]


def test_a_front_page_that_only_lets_choose_a_language_leads_to_the_first_ones_host() -> None:
    choice = "".join(
        f'<link rel=alternate hreflang={code} href="https://{code}.shop.example/">'
        f'<a href="https://{code}.shop.example/">{code}</a>'
        for code in ("fr", "it")
    )
    page = parse(f"<html lang=de><body>{choice}</body></html>", "https://shop.example/")
    assert [link.url for link in find_links(page)] == ["https://fr.shop.example/"]
    assert list(page.other_languages) == ["https://it.shop.example"]


@pytest.mark.parametrize("url", ["https://www.shop.example/", "http://shop.example/"])
def test_the_shops_own_host_is_no_copy_where_a_theme_says_another_language(url: str) -> None:
    alternate = '<link rel=alternate hreflang=it href="https://shop.example/">'
    links = "".join(
        f'<div><a href="https://shop.example/p/{n}">Lampada {n}</a> €9.50</div>' for n in range(5)
    )
    page = parse(f"<html lang=en-US><head>{alternate}</head><body>{links}</body></html>", url)
    assert {link.kind for link in find_links(page)} == {"product"}

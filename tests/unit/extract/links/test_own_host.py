"""Links whose addresses only redirect lead where they would: another `www.`, a slash, a folder."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.statscollectors import MemoryStatsCollector

from crawler.extract import Link
from crawler.extract.links.own_host import MIN_REDIRECTED, Redirected
from spiders.catalog import CatalogSpider

OWN, TWIN = "https://www.shop.example.com", "https://shop.example.com"
LINKS = [Link(f"{TWIN}/lamp", "product", ""), Link(f"{OWN}/c/lamps", "listing", "")]


def settled(twins: Redirected, url: str = f"{OWN}/") -> list[str]:
    return [link.url for link in twins.settled(LINKS, url)]


@pytest.mark.parametrize("path", ["/", "/lamp"])
def test_links_to_a_host_that_redirects_lead_to_the_shop_s_own(path: str) -> None:
    """Each page of a shop whose links had no `www.` took a redirect."""
    twins = Redirected()
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
    twins = Redirected()
    twins.note(requested, url)
    assert settled(twins) == [link.url for link in LINKS]


def test_links_to_a_host_of_which_a_page_answered_stay_as_they_are() -> None:
    twins = Redirected()
    twins.note(f"{TWIN}/", f"{OWN}/")
    twins.note(f"{TWIN}/lamp", f"{TWIN}/lamp")
    twins.note(f"{TWIN}/chair", f"{OWN}/chair")
    assert settled(twins) == [link.url for link in LINKS]


CHANGES = [("/p/{}", "/p/{}/"), ("/p/{}", "/de/p/{}"), ("/p/{}?a=1", "/p/{}/?a=1")]


def redirected(change: tuple[str, str], count: int = MIN_REDIRECTED) -> Redirected:
    found = Redirected()
    for n in range(count):
        found.note(*(OWN + path.format(f"lamp-{n}") for path in change))
    return found


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (CHANGES[0], [f"{TWIN}/lamp", f"{OWN}/c/lamps/"]),
        (CHANGES[1], [f"{TWIN}/lamp", f"{OWN}/de/c/lamps"]),
        (CHANGES[2], [f"{TWIN}/lamp", f"{OWN}/c/lamps/"]),
    ],
)
def test_links_lead_where_several_like_them_were_redirected(
    change: tuple[str, str], expected: list[str]
) -> None:
    """A shop that adds a slash, or a language's folder, to each address took two requests a page."""
    assert settled(redirected(change)) == expected
    assert settled(redirected(change, MIN_REDIRECTED - 1)) == [link.url for link in LINKS]
    files = [Link(f"{OWN}{path}", "product", "") for path in ("/", "/de/p/lamp.html", "/p/lamp/")]
    kept = redirected(CHANGES[0]).settled(files, f"{OWN}/")
    assert [link.url for link in kept] == [link.url for link in files]


@pytest.mark.parametrize("change", CHANGES)
def test_one_page_that_answers_where_others_are_redirected_keeps_all_links(
    change: tuple[str, str],
) -> None:
    found = redirected(change)
    found.note(f"{OWN}/about", f"{OWN}/about")
    assert settled(found) == [link.url for link in LINKS]
    assert settled(redirected(("/p/{}", "/sold-out/"))) == [link.url for link in LINKS]
    assert settled(redirected(("/p/{}", "/c/lamps/{}"))) == [link.url for link in LINKS]
    assert settled(redirected(("/{}", "/lamps/{}"))) == [link.url for link in LINKS]


def test_what_a_shop_s_redirects_did_in_one_job_changes_no_link_of_the_next() -> None:
    found = redirected(CHANGES[0])
    kept = found.settled(LINKS, f"{OWN}/", "the next job")
    assert [link.url for link in kept] == [link.url for link in LINKS]


def test_kinds_of_changes_are_remembered_in_bounded_room() -> None:
    found = redirected(("/p/{}", "/p/{}/"), 1)
    for first, second in product("abcdefghij", repeat=2):
        found.note(f"{OWN}/p/lamp", f"{OWN}/en-{first}{second}/p/lamp")
    for n in range(MIN_REDIRECTED):
        found.note(f"{OWN}/c/{n}", f"{OWN}/c/{n}/")
    assert settled(found) == [f"{TWIN}/lamp", f"{OWN}/c/lamps/"]


def test_the_spider_asks_for_the_links_of_a_redirected_page_on_the_host_that_answered() -> None:
    spider = CatalogSpider()
    made: Any = Crawler(CatalogSpider, {"SEINE_SITEMAPS": False})
    made.stats = MemoryStatsCollector(made)
    spider._set_crawler(made)
    chain = [f"{TWIN.replace('https', 'http')}/", f"{TWIN}/"]
    request = Request(f"{OWN}/", meta={"redirect_urls": chain})
    body = f'<html lang=en><h1>Lamps</h1><a href="{TWIN}/p/lamp-1">Lamp</a></html>'
    response = HtmlResponse(f"{OWN}/", body=body.encode(), request=request)
    assert [found.url for found in spider.parse(response)] == [f"{OWN}/p/lamp-1"]

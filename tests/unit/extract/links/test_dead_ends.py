"""Pages that lead nowhere, as a form for each product, are learned by the shape of their address."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.statscollectors import MemoryStatsCollector

from crawler.extract.links.choice import Link
from crawler.extract.links.dead_ends import DEAD_END_PAGES, TIED_PAGES, VARIANT_PAGES, DeadEnds
from middlewares.dead_ends import DeadEnds as Middleware
from scrapy_seine import meta as m
from scrapy_seine.engine.lease.outcomes import Ignored
from spiders.catalog import CatalogSpider
from tests.benchmarks.reading_work import instructions

SITE = "https://shop.example"
NAV = [Link(f"{SITE}/{name}", "listing", "") for name in ("c/lamps", "c/tables", "about")]


def ask(number: int) -> str:
    return f"{SITE}/ask/{number}"


def back(number: int) -> list[Link]:
    return [*NAV, Link(f"{SITE}/p/lamp-{number}", "product", "")]


def learned(pages: int = TIED_PAGES) -> DeadEnds:
    known = DeadEnds()
    for number in range(pages):
        known.note("s", ask(number), back(number))
    return known


def test_ten_pages_that_lead_back_alone_are_a_dead_end():
    assert not learned(TIED_PAGES - 1).is_dead_end(ask(999))
    assert learned().is_dead_end(ask(999))
    assert not learned().is_dead_end(f"{SITE}/p/lamp-999")


def test_the_shape_is_told_once():
    known = learned(TIED_PAGES - 1)
    told = [known.note("s", ask(n), back(n)) for n in range(50, 60)]
    assert [shape for shape in told if shape] == ["shop.example/ask/*"]


@pytest.mark.parametrize("after", [0, 5, TIED_PAGES - 1])
def test_one_page_with_a_link_of_its_own_keeps_its_shape(after):
    """A category's page that lists its subcategories by name alone."""
    known = DeadEnds()
    for number in range(3 * DEAD_END_PAGES):
        new = [Link(f"{SITE}/{number}/sub", "listing", "")] if number == after else []
        known.note("s", ask(number), back(number) + new)
    assert not known.is_dead_end(ask(1))


def test_a_shape_that_showed_a_product_once_is_kept():
    known = DeadEnds()
    known.note("s", ask(1), back(1))
    known.note_useful("s", ask(2))
    for number in range(3 * DEAD_END_PAGES):
        known.note("s", ask(number), back(number))
    assert not known.is_dead_end(ask(1))


def test_a_product_found_later_takes_a_shape_back():
    known = learned()
    known.note_useful("s", ask(7))
    assert not known.is_dead_end(ask(8))


@pytest.mark.parametrize("path", ["p/lamp-{}", "c/{}", "lamp-{}.html", "index.php?product_id={}"])
def test_addresses_of_products_and_listings_are_never_left_out(path):
    """A shop that is down for an hour shows the same page to all of them."""
    known = DeadEnds()
    for number in range(100, 100 + 3 * DEAD_END_PAGES):
        known.note("s", f"{SITE}/{path.format(number)}", NAV)
    assert known.shapes == set()


def test_quick_views_of_known_products_are_left_out_whatever_their_address():
    known = DeadEnds()
    for number in range(DEAD_END_PAGES):
        known.note("s", f"{SITE}/ajax/product/{number}", [], is_part=True)
        known.note("s", f"{SITE}/p/lamp-{number}", [])
    assert known.is_dead_end(f"{SITE}/ajax/product/99")
    assert not known.is_dead_end(f"{SITE}/p/lamp-99")


def test_a_site_that_is_read_is_not_forgotten_for_many_other_sites():
    known = DeadEnds()
    known.note_useful("shop", ask(1))
    for number in range(499):
        known.note_useful(f"other {number}", f"https://other.example/ask/{number}")
    known.note_useful("shop", f"{SITE}/view/1")
    known.note_useful("the last", "https://last.example/ask/1")
    for number in range(DEAD_END_PAGES):
        known.note("shop", ask(number), NAV)
    assert not known.is_dead_end(ask(99))


def test_what_is_known_is_bounded():
    known = DeadEnds()
    for number in range(3000):
        known.note("s", f"{SITE}/{'x' * (number % 19 + 1)}{chr(97 + number % 26)}/{number}", NAV)
        known.note(f"s{number}", ask(number), NAV)
    assert len(known._sites) <= 500
    assert max(len(site.useful) + len(site.counted) for site in known._sites.values()) <= 200


def test_twenty_pages_without_a_product_of_their_own_are_a_dead_end():
    known = DeadEnds()
    for number in range(DEAD_END_PAGES):
        assert not known.is_dead_end(ask(99))
        known.note("s", ask(number), NAV)
    assert known.is_dead_end(ask(99))


def test_articles_that_lead_to_articles_alone_are_a_dead_end():
    known = DeadEnds()
    for number in range(TIED_PAGES):
        post = f"{SITE}/blog/{number}-care-for-oak"
        known.note("s", post, [*NAV, Link(f"{SITE}/blog/{number + 1}-care-for-oak", "other", "")])
    assert known.is_dead_end(f"{SITE}/blog/99-a-post")
    known = DeadEnds()
    for number in range(TIED_PAGES):
        post = f"{SITE}/blog/{number}-care-for-oak"
        known.note("s", post, [*NAV, Link(f"{SITE}/p/chair-{number + 500}", "product", "")])
    assert not known.is_dead_end(f"{SITE}/blog/99-a-post")


def test_the_colours_of_products_are_one_shape():
    known = DeadEnds()
    for number in range(VARIANT_PAGES):
        colour = ("red", "blue", "sand")[number % 3]
        known.note("s", f"{SITE}/p/lamp-{number}/{colour}", NAV, is_part=True, is_variant=True)
    assert known.is_dead_end(f"{SITE}/p/lamp-99/green")
    assert not known.is_dead_end(f"{SITE}/p/lamp-99")
    known.note_useful("s", f"{SITE}/p/lamp-7/set")
    assert not known.is_dead_end(f"{SITE}/p/lamp-99/green")


def test_an_address_that_cannot_be_read_is_no_shape():
    assert DeadEnds().note("s", "http://[", NAV) is None


def test_what_is_left_out_is_told_once_and_so_is_its_end():
    known = learned()
    (shape,) = known.shapes
    assert known.take_changes() == {shape: ("s", DEAD_END_PAGES)}
    assert known.take_changes() == {}
    known.note_useful("s", ask(7))
    known.note_useful("s", ask(8))
    assert known.take_changes() == {shape: ("s", 0)}


def others(count: int) -> list[str]:
    """Pages of as many shapes."""
    letters = "abcdefghij"
    return [
        f"{SITE}/{letters[n % 10]}{letters[n // 10 % 10]}{n // 100 * 'x'}/1" for n in range(count)
    ]


@pytest.mark.parametrize("shapes", [0, 250])
@pytest.mark.parametrize("useful_first", [True, False])
def test_a_shape_with_a_product_stays_useful_whatever_came_before_and_after(shapes, useful_first):
    """A folder with products, and with pages of sold ones: its further products were lost."""
    known = DeadEnds()
    if useful_first:
        known.note_useful("s", ask(1))
    for url in others(shapes):
        known.note("s", url, NAV)
    if not useful_first:
        known.note_useful("s", ask(1))
    for number in range(100, 100 + DEAD_END_PAGES):
        known.note("s", ask(number), back(number))
    assert not known.is_dead_end(ask(999))


def test_of_a_site_full_of_useful_shapes_nothing_further_is_left_out():
    known = DeadEnds()
    for url in others(300):
        known.note_useful("s", url)
    for number in range(DEAD_END_PAGES):
        known.note("s", ask(number), back(number))
    assert not known.is_dead_end(ask(999))
    assert len(known._sites["s"].useful) <= 200


class TestSpider:
    def spider(self) -> CatalogSpider:
        spider = CatalogSpider()
        made: Any = Crawler(CatalogSpider, {"SEINE_SITEMAPS": False})
        made.stats = MemoryStatsCollector(made)
        made.spider = spider
        spider._set_crawler(made)
        return spider

    def fetch(self, spider: CatalogSpider, url: str, body: str) -> None:
        request = Request(url, meta={m.DEPTH: 2})
        list(spider.parse(HtmlResponse(url, body=body.encode(), request=request)))

    def test_a_form_of_each_product_is_left_out(self):
        spider = self.spider()
        middleware = Middleware(spider.crawler)
        menu = "".join(f'<nav><a href="/c/{n}">{n}</a></nav>' for n in range(5))
        for number in range(TIED_PAGES):
            request = Request(ask(number), meta={m.DEPTH: 2})
            middleware.process_request(request)
            form = (
                f'<h1>Ask</h1><a href="/p/lamp-{number}">back</a><form><textarea></textarea></form>'
            )
            self.fetch(spider, request.url, menu + form)
        with pytest.raises(Ignored) as ignored:
            middleware.process_request(Request(ask(77), meta={m.DEPTH: 2}))
        assert ignored.value.rule == "dead end"
        middleware.process_request(Request(ask(77)))  # a seed
        middleware.process_request(Request(ask(77), meta={m.DEPTH: 2, m.KNOWN: None}))
        middleware.process_request(Request(f"{SITE}/p/lamp-77", meta={m.DEPTH: 2}))
        stats: Any = spider.crawler.stats
        assert stats.get_value("extract/dead_ends") == 1

    def test_the_colours_of_products_are_left_out_after_a_few(self):
        """Pages with addresses of their own that name the product above them as canonical."""
        spider, known = self.spider(), set[str]()
        spider.knows = lambda url, job: url in known
        for number in range(2 * VARIANT_PAGES):
            url = f"{SITE}/p/lamp-{number}"
            head = f'<link rel="canonical" href="{url}">'
            shown = f"<h1>Lamp {number}</h1><b>£9.90</b><form><button>Add to basket</button></form>"
            assert not spider.dead_ends.is_dead_end(f"{SITE}/p/lamp-99/red")
            if number >= VARIANT_PAGES:  # the pages before are the only ones of their products
                self.fetch(spider, url, f"{head}{shown}")
                known.add(url)
            self.fetch(spider, f"{url}/red", f"{head}{shown}")
        assert spider.dead_ends.is_dead_end(f"{SITE}/p/lamp-99/red")
        assert not spider.dead_ends.is_dead_end(f"{SITE}/p/lamp-99")

    @pytest.mark.parametrize("query", ["", "?ref=7"])
    def test_products_that_name_their_own_address_with_a_slash_are_none_of_a_colour(self, query):
        """Pages with the menu alone: all after the fifth one were left out."""
        spider = self.spider()
        spider.knows = lambda url, job: True
        for number in range(2 * DEAD_END_PAGES):
            url = f"{SITE}/product/red-lamp-{number}/"
            head = f'<link rel="canonical" href="{url}"><nav><a href="/c/lamps/">Lamps</a></nav>'
            shown = f"<h1>Lamp {number}</h1><b>£9.90</b><form><button>Add to basket</button></form>"
            self.fetch(spider, f"{url}{query}", f"{head}{shown}")
        assert not spider.dead_ends.is_dead_end(f"{SITE}/product/red-lamp-99/")

    def test_a_redirect_counts_for_the_address_that_was_asked_for(self):
        """Forms that lead to one page to log in."""
        spider = self.spider()
        for number in range(DEAD_END_PAGES):
            url = f"{SITE}/login?to={number}"
            request = Request(url, meta={m.DEPTH: 2, "redirect_urls": [ask(number)]})
            body = b"<h1>Log in</h1>"
            list(spider.parse(HtmlResponse(url, body=body, request=request)))
        assert spider.dead_ends.is_dead_end(ask(99))

    def test_another_spider_loses_nothing(self):
        crawler: Any = Crawler(CatalogSpider, {})
        Middleware(crawler).process_request(Request(ask(1), meta={m.DEPTH: 2}))


def test_weeks_that_lead_to_the_next_week_alone_are_a_dead_end_and_numbered_categories_are_not():
    def week(number: int) -> str:
        return f"{SITE}/diary/2026/w{number}/"

    def found(*urls: str) -> list[Link]:
        return [*NAV, *(Link(url, "other", "") for url in urls)]

    known = DeadEnds()
    known.note("s", week(1), found(f"{SITE}/diary/2025/w52/", week(2), week(0)))
    known.note("s", week(0), found(week(-1), week(1)))
    for number in range(100, 100 + DEAD_END_PAGES):
        known.note("s", week(number), found(week(number - 1), week(number + 1)))
        known.note("s", f"{SITE}/r/{number}", found(f"{SITE}/r/{number}5", f"{SITE}/r/{number}7"))
    assert known.is_dead_end(week(999))
    assert not known.is_dead_end(f"{SITE}/r/1005")


def test_a_product_costs_no_more_on_a_site_of_many_shapes():
    """Each product of a shop may have a shape of its own, as `/p/12/oak-lamp`."""
    few, many = DeadEnds(), DeadEnds()
    for known, shapes in ((few, 2), (many, 400)):
        for number in range(shapes):
            name = f"{chr(97 + number % 26)}{chr(97 + number // 26)}"
            known.note_useful("s", f"{SITE}/p/{number}/lamp-{name}")
    new = f"{SITE}/p/999/the-last-lamp"
    cost_of_few, cost_of_many = (
        instructions(lambda known=known: known.note_useful("s", new)) for known in (few, many)
    )
    assert cost_of_many < 1.5 * cost_of_few

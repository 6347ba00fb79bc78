"""A listing whose pager is a script's: its further pages are tried, and what is missing is said."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.statscollectors import MemoryStatsCollector

from crawler.extract import Link, find_links, parse
from crawler.extract.listing.announced import Announced, announced, begin, resume
from scrapy_seine import meta as m
from spiders.catalog import CatalogSpider

URL = "https://shop.example/c/lamps"
LENGTH, TOTAL = 12, 40


def tile(number: int) -> str:
    return (
        f'<div class="product-tile"><a href="/p/lamp-{number}"><img src="/{number}.jpg" width="200">'
        f'<h3>Lamp {number}</h3></a><span class="price">{number},00 €</span></div>'
    )


def body(number: int = 1, pager: str = "", more: str = "") -> str:
    numbers = range((number - 1) * LENGTH + 1, min(number * LENGTH, TOTAL) + 1)
    tiles = "".join(map(tile, numbers))
    return f"<html><body><h1>Lamps</h1>{pager}{tiles}{more}</body></html>"


def read(html: str, url: str = URL) -> Announced | None:
    page = parse(html, url)
    return announced(page, find_links(page))


LABELS = '<a href="#">1</a><a href="#">2</a><a href="#">3</a> … <a href="#">4</a>'


@pytest.mark.parametrize(
    ("said", "products", "pages"),
    [
        ("<p>40 products</p>", 40, 0),
        ("<p>12 of <b>40</b> products</p><button>Load more</button>", 40, 0),
        ("<p>Es wurden 40 Artikel gefunden</p>", 40, 0),
        ("<p>全40件</p>", 40, 0),
        ("<script>window.state = {query: '', totalPages: 4, items: []}</script>", 0, 4),
        ('<script type="application/json">{"nbHits": 40, "page": 0}</script>', 40, 0),
        (
            '<div data-page="1">1</div><button>1</button><button>2</button><b data-page="4">4</b>',
            0,
            4,
        ),
        (LABELS, 0, 4),
        ('<div id="list" data-total-pages="4">', 0, 4),
        ('<script>{"total":40,"page":1,"limit":12}</script>', 40, 0),
        (r'<script>x = "{\"perPage\":12,\"total\":40}"</script>', 40, 0),
    ],
)
def test_a_listing_says_how_much_there_is(said, products, pages):
    assert read(body(more=said)) == Announced(products, pages, LENGTH)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "<p>12 products</p>",
        "<p>40 products</p><p>75 products of other makers</p>",  # which one is it?
        '<p>40 products</p><div class="pagination"><a href="?page=2">2</a></div>',  # links lead on
        '<a href="#">1</a>',
    ],
)
def test_a_listing_that_shows_all_or_leads_on_announces_nothing(said):
    assert read(body(more=said)) is None


def test_a_further_page_and_a_page_without_products_announce_nothing():
    assert read(body(2, more="<p>40 products</p>"), URL + "?page=2") is None
    assert read("<h1>Lamps</h1><p>40 products</p>") is None


class Shop:
    """A shop whose server reads one form of a page's address, and answers others as it likes."""

    def __init__(self, form: str | None, said: str = "<p>40 products</p>") -> None:
        self.form, self.said = form, said
        self.spider = CatalogSpider()
        made: Any = Crawler(CatalogSpider, {"SEINE_SITEMAPS": False})
        made.stats = MemoryStatsCollector(made)
        self.spider._set_crawler(made)
        self.asked: list[str] = []

    def number(self, url: str) -> int:
        query = parse_qs(urlsplit(url).query)
        if self.form == "path":
            return int(url.rpartition("/page/")[2] or 1) if "/page/" in url else 1
        return int(query.get(self.form or "", ["1"])[0])

    def crawl(self, *starts: str, job: str = "") -> set[str]:
        """Follow all listing pages; returns the products' addresses."""
        waiting, known = [Request(url, priority=20) for url in starts], set(starts)
        while waiting:
            request = max(waiting, key=lambda one: one.priority)
            waiting.remove(request)
            self.asked.append(request.url)
            request.meta[m.JOB_ID] = job
            html = body(self.number(request.url), more=self.said).replace(
                "/p/", self.prefix(request)
            )
            response = HtmlResponse(request.url, body=html.encode(), request=request)
            for made in (request.callback or self.spider.parse)(response, **request.cb_kwargs):
                if isinstance(made, Request) and made.url not in known:
                    known.add(made.url)
                    if "/p/" not in made.url:
                        waiting.append(made)
        return {url for url in known if "/p/" in url}

    @staticmethod
    def prefix(request: Request) -> str:
        return "/p/" + urlsplit(request.url).path.split("/")[2] + "-"

    def stat(self, name: str) -> Any:
        stats: Any = self.spider.crawler.stats
        return stats.get_value(f"extract/{name}", 0)


@pytest.mark.parametrize("form", ["page", "p", "path"])
def test_all_products_are_reached_where_the_server_reads_an_address(form):
    shop = Shop(form)
    assert len(shop.crawl(URL)) == TOTAL
    assert shop.stat("short_listings") == 0


def test_what_is_out_of_reach_is_said(caplog):
    shop = Shop(None)
    with caplog.at_level(logging.WARNING):
        assert len(shop.crawl(URL)) == LENGTH
    assert "announces 40 products, 12 were found" in caplog.text
    assert (shop.stat("short_listings"), shop.stat("guessed_pages")) == (1, 3)


def test_a_site_without_such_addresses_is_asked_few_times():
    """Guessing is bounded: nine requests of a site, however many listings it has."""
    shop = Shop(None)
    shop.crawl(*(f"https://shop.example/c/{n}" for n in range(30)))
    assert (shop.stat("short_listings"), shop.stat("guessed_pages")) == (30, 9)


def test_a_site_where_no_address_worked_is_searched_again_in_the_next_job():
    """A worker that stays searched it no more, though the shop had such addresses by then."""
    shop = Shop(None)
    shop.crawl(*(f"https://shop.example/c/{n}" for n in range(30)), job="one")
    shop.form = "page"
    assert len(shop.crawl(URL, job="one")) == LENGTH, "it is asked few times in one job"
    assert len(shop.crawl(URL, job="two")) == TOTAL


@pytest.mark.parametrize(
    "wrong",
    [
        {"templates": []},
        {"templates": ["https://shop.example/?page=2"]},
        {"templates": ["https://shop.example/?{}{}"]},
        {"templates": 7},
        {"pages": -1},
        {"products": "40"},
        {"more": 1},
    ],
)
def test_a_stored_search_of_no_sense_is_refused(wrong):
    page = parse(body(more="<p>40 products</p>"), URL)
    links = find_links(page)
    search = begin(page, links, Announced(40, 0, LENGTH))
    assert search is not None
    assert resume(search.plain()) == search
    with pytest.raises((TypeError, ValueError)):
        resume({**search.plain(), **wrong})


def test_a_number_that_all_listings_tell_is_the_shop_s_own():
    """Only the first listing is taken at its word."""
    shop = Shop(None, "<p>Choose from 90000 products</p>")
    shop.crawl(*(f"https://shop.example/c/{n}" for n in range(30)))
    assert (shop.stat("short_listings"), shop.stat("guessed_pages")) == (1, 3)


def test_a_long_listing_is_searched_in_the_next_job_as_well() -> None:
    """A worker that stays took its number for the shop's own, and the listing for a short one."""
    shop = Shop("page", "<p>300 products</p>")
    first = shop.crawl(URL)
    assert len(first) == TOTAL
    assert shop.crawl(URL) == first


def test_a_pager_of_a_million_pages_is_no_pager():
    assert read(body(more="<script>totalPages: 999999</script>")) is None


def test_the_pages_own_field_for_a_page_number_is_tried_first() -> None:
    page = parse(
        "<html><form><input type=hidden name=pageNum value=1><input name=q></form></html>",
        "https://a.example/c/lamps",
    )
    search = begin(page, [], Announced(60, 0, 12))
    assert search is not None
    assert search.url == "https://a.example/c/lamps?pageNum=2"
    assert len(search.templates) == 4


def test_a_field_for_the_page_number_says_how_many_there_are() -> None:
    page = parse(
        '<html><a href="/product/lamp-1">Lamp</a>'
        '<form>Page <input name="pg" value="1" size=2> of 57 <input type=submit></form></html>',
        "https://a.example/c/lamps",
    )
    assert announced(page, find_links(page)) == Announced(0, 57, 1)


HANDLES = ", ".join(f'{{"title": "Lamp {n}", "handle": "red-lamp-{n}"}}' for n in range(4))
STATE = f'<script type="application/json">{{"totalCount": 48, "items": [{HANDLES}]}}</script>'


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (STATE, Announced(48, 0, 0)),
        (STATE + '<a href="/red-lamp-2">2</a><a href="/red-lamp-3">3</a>', None),  # links
        (STATE.replace('"handle"', '"code"'), None),
    ],
)
def test_a_scripts_list_without_links_is_announced(html: str, expected: Announced | None) -> None:
    assert read(f"<html><body><h1>All</h1>{html}</body></html>") == expected


def test_what_a_script_loads_is_asked_for_as_scripts_do_where_it_is_refused() -> None:
    """Frameworks answer 404 to such an address without the header that scripts send."""
    spider = CatalogSpider()
    made: Any = Crawler(CatalogSpider, {"SEINE_SITEMAPS": False})
    made.stats = MemoryStatsCollector(made)
    spider._set_crawler(made)
    button = '<button class="load-more" data-url="/ajax/grid?page={}">More</button>'

    def loaded(url: str, html: str, request: Request | None = None, status: int = 200) -> Request:
        page = HtmlResponse(url, status, body=html.encode(), request=request or Request(url))
        read = spider.parse if request is None else spider.parse_loaded
        return next(
            made for made in read(page) if isinstance(made, Request) and "/ajax/" in made.url
        )

    plain = loaded(URL, body(1, more=button.format(2)))
    as_script = loaded(plain.url, "", plain, 404)
    following = loaded(plain.url, body(2, more=button.format(3)), as_script)
    headers = [made.headers.get("X-Requested-With") for made in (plain, as_script, following)]
    assert headers == [None, b"XMLHttpRequest", b"XMLHttpRequest"]
    assert following.url.endswith("page=3")
    refused = HtmlResponse(plain.url, 404, request=as_script)
    assert not list(spider.parse_loaded(refused))


@pytest.mark.parametrize(
    ("script", "first"),
    [
        ('{"urlTemplate": "/c/lamps/page-{page}"}', f"{URL}/page-{{}}"),
        (r'{"next": "\/c\/lamps\/seite-${n}"}', f"{URL}/seite-{{}}"),
        ('load("/c/lamps?view=1&p=" + n)', f"{URL}?view=1&p={{}}"),
        ('location.search = "?sayfa=" + button.dataset.n', f"{URL}?sayfa={{}}"),
        ("fetch(`?sida=${n}`)", f"{URL}?sida={{}}"),
        ('location = "/c/lamps?colour=" + x; show("/p/" + id)', f"{URL}?page={{}}"),
    ],
)
def test_an_address_in_a_script_with_a_place_for_the_number_is_tried_first(
    script: str, first: str
) -> None:
    page = parse(body(more=f"<p>40 products</p><script>{script}</script>"), URL)
    found = find_links(page)
    notice = announced(page, found)
    assert notice is not None
    search = begin(page, found, notice)
    assert search is not None
    assert search.templates[0] == first


def test_addresses_in_scripts_are_tried_in_the_same_order_by_all_workers() -> None:
    for number in range(20):
        url = f"https://shop.example/c/{number}"
        script = rf'{{"next": "\/c\/{number}\/seite-${{n}}", "template": "/c/{number}/page-{{n}}"}}'
        page = parse(body(more=f"<p>40 products</p><script>{script}</script>"), url)
        search = begin(page, find_links(page), Announced(40, 0, 2))
        assert search is not None
        assert search.templates[:2] == [f"{url}/page-{{}}", f"{url}/seite-{{}}"]


@pytest.mark.parametrize("name", ["sayfa", "sivu", "page"])
def test_a_later_page_announces_nothing_by_whatever_parameter(name: str) -> None:
    assert read(body(2, more="<p>40 products</p>"), f"{URL}?{name}=2") is None


def test_a_second_page_whose_links_name_no_product_is_one_if_they_are_new() -> None:
    def plain(*names: str) -> list[Link]:
        return [Link(f"https://shop.example/oak/{name}", "other", "") for name in (*names, "about")]

    first = [Link(x.url, "product", "") for x in plain("ada", "bea")[:2]] + plain()
    page = parse(body(), URL)
    search = begin(page, first, Announced(0, 3, 2))
    assert search is not None
    assert search.further_urls(plain("ada", "bea")) is None
    assert search.further_urls(plain("cleo", "dora")) == [f"{URL}?page=3"]


API = "https://shop.example/api/lamps"


@pytest.mark.parametrize(
    ("script", "second", "others"),
    [
        ("fetch(`/api/lamps?offset=${o}&limit=24`)", f"{API}?offset=24&limit=24",
         [f"{API}?offset={n}&limit=24" for n in (48, 72)]),
        (r'get("\/api\/lamps?c=7&skip=" + n * 12 + "&sort=new")', f"{API}?c=7&skip=12&sort=new",
         [f"{API}?c=7&skip=24&sort=new", f"{API}?c=7&skip=36&sort=new"]),
        ("$.get('/api/lamps?page=' + n)", f"{API}?page=2", [f"{API}?page={n}" for n in (3, 4, 1)]),
        ('location.search = "?start=" + n', f"{URL}?start=12", [f"{URL}?start=24", f"{URL}?start=36"]),
    ],
)  # fmt: skip
def test_a_script_s_own_address_counts_products_or_pages(
    script: str, second: str, others: list[str]
) -> None:
    page = parse(body(more=f"<p>40 products</p><script>{script}</script>"), URL)
    found = find_links(page)
    notice = announced(page, found)
    assert notice is not None
    search = begin(page, found, notice)
    assert search is not None
    assert search.url == second
    tiles = [Link(f"https://shop.example/p/other-{n}", "product", "") for n in range(LENGTH)]
    assert resume(search.plain()).further_urls(tiles) == others


def test_a_listing_that_asks_by_post_is_said_to_do_so(caplog: pytest.LogCaptureFixture) -> None:
    by_post = '<p>40 products</p><script>fetch("/graphql", {method: "POST"})</script>'
    with caplog.at_level(logging.WARNING):
        assert len(Shop(None, by_post).crawl(URL)) == LENGTH
    assert "it seems to ask for its other pages by POST" in caplog.text


def test_a_page_that_a_script_s_address_led_to_begins_no_further_search() -> None:
    """A page 1 of an API announces as many products as the listing that led to it."""
    spider = Shop("page").spider
    page = body(more="<p>40 products</p>").encode()
    request = Request(f"{API}?page=1", meta={"shelf": 0})
    made = list(spider.parse(HtmlResponse(request.url, body=page, request=request)))
    assert made
    assert all("/p/" in x.url for x in made if isinstance(x, Request))


def test_an_attribute_s_address_is_tried_with_the_parameter_that_a_script_adds() -> None:
    listed = (
        '<div data-share-url="/p/lamp-1" data-cart-url="/cart" data-ajax-url="/lamps/part"'
        ' data-page="1" data-pages="4"></div><script>get(x.ajaxUrl + "?page=" + n)</script>'
    )
    page = parse(body(more=listed), URL)
    found = find_links(page)
    notice = announced(page, found)
    assert notice is not None
    assert notice.pages == 4
    search = begin(page, found, notice)
    assert search is not None
    assert search.templates[0] == "https://shop.example/lamps/part?page={}"

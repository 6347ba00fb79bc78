"""Sites that show no product are told of: gates before each page, logins, and what is no shop."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.statscollectors import MemoryStatsCollector

from crawler.extract import Link, extract, parse
from crawler.extract.sites_without_products import (
    MIN_ALIKE_PAGES,
    Appearance,
    SitesWithoutProducts,
    loads_own_list,
)
from scrapy_seine import meta as m
from spiders.catalog import CatalogSpider
from tests.benchmarks.shops import SHOPS, things

WOO = next(shop for shop in SHOPS if shop.name == "woo")
GOODS = things(40, 3)
AGE = """<html lang=de><title>Weinhaus</title><body><h1>Willkommen</h1><p>Bist du schon 18?</p>
<form action="/enter"><button>Ja</button></form></body></html>"""
LOGIN = """<html><title>Trade shop</title><body><h1>Sign in</h1><form><input name="user">
<input type='password' name=p></form><p>Please log in to see our range.</p></body></html>"""
COUNTRY = """<html><title>Moda</title><body><h2>Welcome</h2><p>Choose your country</p>
<a href="/us/">USA</a><a href="/de/">Deutschland</a></body></html>"""


def read(
    seen: SitesWithoutProducts, html: str, url: str, landed: str = "", **said: Any
) -> str | None:
    found = extract(parse(html, landed or url))
    told = {"is_product": found.kind == "product", "seed": False, **said}
    return seen.note("shop", found, url, **told)


@pytest.mark.parametrize(
    ("html", "words"),
    [
        (AGE, "titled 'Weinhaus', headed 'Willkommen', with a form, it asks for the visitor's age"),
        (LOGIN, "headed 'Sign in', with a field for a password, it asks to log in"),
        (COUNTRY, "headed 'Welcome', it asks for a country"),
    ],
    ids=["age", "login", "country"],
)
def test_a_gate_before_each_page_is_told_of_once(html: str, words: str) -> None:
    seen, told = SitesWithoutProducts(), []
    for n in range(40):
        said = read(seen, html, f"https://a.example/product/lamp-{n}", seed=n == 0)
        told += [(n + 1, said)] if said else []
    ((pages, said),) = told
    assert pages == MIN_ALIKE_PAGES
    assert words in said
    assert not list(seen.last_warnings())  # it was told


def test_a_gate_that_comes_in_the_middle_of_a_shop_is_told_of() -> None:
    seen, told = SitesWithoutProducts(), []
    for n, thing in enumerate(GOODS):
        html = WOO.page(thing, False) if n < 20 else LOGIN
        told += [said for said in [read(seen, html, WOO.url(thing))] if said]
    assert len(told) == 1


def test_where_pages_are_redirected_is_told() -> None:
    seen, gate = SitesWithoutProducts(), "https://a.example/age-check"
    told = [
        read(seen, AGE, f"https://a.example/p/{n}", landed=gate) for n in range(MIN_ALIKE_PAGES)
    ]
    assert f"after a redirect to {gate}" in str(told[-1])


def test_a_gate_on_another_site_is_told_of_once() -> None:
    seen = SitesWithoutProducts()
    told = [
        seen.note_redirect_away("shop", f"https://age.example/check?back={n}") for n in range(40)
    ]
    said = "the last 12 pages were redirected to another site, https://age.example/check"
    assert [one for one in told if one] == [said]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(lambda n: (f"/product/a-{n}", f"<h1>Our year {n}</h1>"), id="other heads"),
        pytest.param(lambda n: (f"/ask/{n}", "<h1>Ask us</h1><form></form>"), id="a form for each"),
        pytest.param(
            lambda n: (f"/product/a-{n}", "<h1>Us</h1>" + f"<p>word {n} </p>" * n * 9), id="sizes"
        ),
    ],
)  # fmt: skip
def test_pages_that_differ_or_are_no_products_are_no_gate(page: Any) -> None:
    seen = SitesWithoutProducts()
    for n in range(60):
        path, html = page(n)
        assert read(seen, f"<html><body>{html}</body></html>", f"https://a.example{path}") is None


def test_at_the_end_a_site_without_a_product_is_told_of_by_who_read_its_seed() -> None:
    seen, other = SitesWithoutProducts(), SitesWithoutProducts()
    for n in range(5):
        html = f"<html><title>Post {n}</title><body><h1>Thoughts on {n}</h1><p>Words</body></html>"
        read(seen, html, f"https://a.example/2026/thoughts-{n}", seed=n == 0)
        read(other, html, f"https://a.example/2026/thoughts-{n}")
    ((site, said),) = seen.last_warnings()
    assert site == "shop"
    assert said == (
        "none of the 5 pages read here shows a product; one of them is titled 'Post 0',"
        " headed 'Thoughts on 0'"
    )
    assert not list(other.last_warnings())


def test_products_without_a_price_are_told_of_at_the_end() -> None:
    seen = SitesWithoutProducts()
    for thing in GOODS[:12]:
        html = WOO.page(thing, True).replace(WOO.words.money(thing.price), "Log in to see prices")
        html = html.replace(f'"price": "{thing.price}", ', "")
        read(seen, html, WOO.url(thing), seed=True, is_product=True)
    assert [said for _, said in seen.last_warnings()] == [
        "none of the 12 products read here shows a price"
    ]


def test_a_shop_that_shows_products_is_not_told_of() -> None:
    seen = SitesWithoutProducts()
    for thing in GOODS:
        assert read(seen, WOO.page(thing, True), WOO.url(thing), seed=True) is None
    assert not list(seen.last_warnings())


def test_sites_are_counted_in_bounded_room() -> None:
    seen = SitesWithoutProducts()
    found = extract(parse(AGE, "https://a.example/"))
    for n in range(900):
        seen.note(f"shop{n}", found, "https://a.example/", is_product=False, seed=True)
    assert len(seen._sites) == 500


@pytest.mark.parametrize("html", ["", "<p>", b"\xff\xfe\x00", "<form " * 9000, "<title>\x1b[2J"])
def test_any_page_looks_like_something(html: Any) -> None:
    assert str(Appearance.of(parse(html, "https://a.example/")))


@pytest.mark.parametrize(("reason", "lines"), [("finished", 1), ("shutdown", 0)])
def test_the_spider_says_it_at_the_end_of_a_complete_crawl(
    reason: str, lines: int, caplog: pytest.LogCaptureFixture
) -> None:
    spider = CatalogSpider()
    made: Any = Crawler(CatalogSpider, {})
    made.stats = MemoryStatsCollector(made)
    spider._set_crawler(made)
    request = Request("https://blog.example/")
    body = b"<html><title>A blog</title><body><h1>Hello</h1><p>Words.</p></body></html>"
    list(spider.parse(HtmlResponse(request.url, body=body, request=request)))
    spider.closed(reason)
    assert caplog.text.count("none of the 1 pages read here shows a product") == lines
    assert (made.stats.get_value("extract/fruitless_sites") or 0) == lines


def test_an_error_at_a_products_address_is_asked_for_again_at_the_end_and_then_told_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A shop shows "database connection failed" in its own design with status 200."""
    spider = CatalogSpider()
    made: Any = Crawler(CatalogSpider, {})
    made.stats = MemoryStatsCollector(made)
    spider._set_crawler(made)
    for n in range(12):
        spider.book.addresses.note("a.example", f"https://a.example/p/lamp-{n}")
    request = Request("https://a.example/p/lamp-77")
    body = b"<html><title>Error</title><body><p>Database connection failed.</p></body></html>"
    page = HtmlResponse(request.url, body=body, request=request)
    again = [made for made in spider.parse(page) if isinstance(made, Request)]
    assert [(made.url, made.priority) for made in again if m.SCOPE in made.meta] == [
        (request.url, -1)
    ]
    last = HtmlResponse(request.url, body=body, request=again[0])
    assert not [made for made in spider.parse(last) if m.SCOPE in getattr(made, "meta", {})]
    spider.closed("finished")
    assert "1 page(s) with addresses like its products' showed none when asked" in caplog.text


def test_listings_that_lead_to_no_product_are_told_of_at_the_end() -> None:
    """The front page shows three products, and a script asks a service for all others."""
    seen = SitesWithoutProducts()
    for thing in GOODS[:3]:
        read(seen, WOO.page(thing, True), WOO.url(thing), seed=True)
    for name in ("lamps", "chairs"):
        seen.note_listing("shop", parse("<p>Loading", f"https://a.example/c/{name}"), [])
    assert [said for _, said in seen.last_warnings()] == [
        "2 of the 2 listings read here lead to no product, as https://a.example/c/lamps;"
        " a script may load their products"
    ]
    for n in range(2):
        link = Link(f"https://a.example/p/{n}", "product", "")
        seen.note_listing("shop", parse("<p>Lamps", f"https://a.example/c/{n}"), [link])
    assert not list(seen.last_warnings())


@pytest.mark.parametrize("kind", ["other", "listing"])
@pytest.mark.parametrize(("led", "warned"), [(3, False), (1, True)])
def test_listings_whose_links_led_to_products_are_not_said_to_lead_to_none(
    led: int, warned: bool, kind: Any
) -> None:
    """A page that says that it is a listing is read for no tile, and whole shops were warned of.

    So were shops with products at addresses like `/catalog/seals/wiper-seal`.
    """
    seen = SitesWithoutProducts()
    goods = GOODS[:3]
    links = [Link(WOO.url(thing), kind, "") for thing in goods[:led]]
    read(seen, "<p>Shop", "https://a.example/", seed=True)
    for n in range(2):
        seen.note_listing("shop", parse("<p>Lamps", f"https://a.example/c/{n}?page=2"), links)
    for thing in goods:
        read(seen, WOO.page(thing, True), WOO.url(thing))
    assert bool(list(seen.last_warnings())) is warned


@pytest.mark.parametrize(
    ("script", "loads"),
    [
        ("fetch('/graphql', {method: 'POST', body: JSON.stringify({c: 'vases', first: 6})})", True),
        ('fetch("/api/items?group=vases&offset=" + n)', True),
        ("fetch('/newsletter'); var vases = 1", False),
        ("var category = 'vases'", False),
    ],
)
def test_a_category_that_only_its_script_fills_is_a_listing_without_products(
    script: str, loads: bool
) -> None:
    """Ten of thirty products were in no sitemap, and no line said that the listings were empty."""
    page = parse(f"<h1>Vases</h1><div></div><script>{script}</script>", "https://a.example/r/vases")
    assert loads_own_list(page) is loads


SEARCH = (
    '<html lang=nl><h1>Parts</h1>{}<form action="{}"><input {}><button>Go</button></form></html>'
)


@pytest.mark.parametrize(
    ("action", "field", "is_told"),
    [
        ("/zoeken", 'type="search" name="x"', True),
        ("/search", 'name="words"', True),
        ("/", 'name="q"', True),
        ("/newsletter", 'name="email"', False),
        ("/search", 'type="hidden" name="q"', False),
    ],
)
@pytest.mark.parametrize("products", [0, 3])
def test_a_shop_whose_search_form_alone_leads_to_its_goods_is_told_of(
    action: str, field: str, products: int, is_told: bool
) -> None:
    """Of such a shop the front page's few products were found, and no line said that more exist."""
    seen, words = SitesWithoutProducts(), "only the search form of https://a.example/ may lead to"
    read(seen, SEARCH.format("", action, field), "https://a.example/", seed=True)
    for thing in GOODS[:products]:
        read(seen, WOO.page(thing, structured=True), WOO.url(thing))
    warnings = [warning for _, warning in seen.last_warnings()]
    assert any(words in warning for warning in warnings) is is_told
    if products:
        assert not list(seen.last_warnings(lambda url: url == "https://a.example/"))
        page = parse(WOO.listing(GOODS[:9]), "https://a.example/c/lamps")
        seen.note_listing("shop", page, [Link(WOO.url(GOODS[0]), "product", "")])
        assert not list(seen.last_warnings())


def test_a_shop_with_many_other_pages_may_have_its_listings_among_them() -> None:
    seen = SitesWithoutProducts()
    read(seen, SEARCH.format("", "/", 'name="q"'), "https://a.example/", seed=True)
    read(seen, WOO.page(GOODS[0], structured=True), WOO.url(GOODS[0]))
    for n in range(12):
        read(seen, "<html><h1>Page</h1></html>", f"https://a.example/page-{n}")
    assert not list(seen.last_warnings())

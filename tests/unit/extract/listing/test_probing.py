"""How long is a listing that says it nowhere? Shops of all lengths, and what they do beyond."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.statscollectors import MemoryStatsCollector

from crawler.extract import find_links, parse
from crawler.extract.links.choice import Link
from crawler.extract.links.fingerprints import listing_fingerprint
from crawler.extract.listing import probing
from crawler.extract.listing.further_pages import MAX_PAGES
from crawler.extract.listing.probing import MAX_TRIES, Probe, judge
from scrapy_seine import meta as m
from spiders.catalog import CatalogSpider
from spiders.page_reading import SHELF

BASE = "https://shop.example/tents"
FIRST = 1_000_001
BEYOND = ["404", "first", "last", "empty"]


def shows(place: int, last: int, beyond: str) -> int | None:
    """What a shop of that length shows at a place."""
    if place <= last:
        return FIRST if place == 1 else 1_000_000 + place
    return {"404": None, "first": FIRST, "last": shows(last, last, beyond), "empty": 7}[beyond]


def search(last: int, beyond: str) -> tuple[Probe | None, list[int]]:
    """Search to the end; gives it and the places that were asked."""
    probe: Probe | None = Probe(template="x?page={}", first=FIRST, low=2, asked=4)
    asked = []
    while probe is not None:
        asked.append(probe.asked)
        probe, end = judge(probing.resume(probe.plain()), shows(probe.asked, last, beyond))
    return end, asked


@pytest.mark.parametrize("beyond", BEYOND)
@pytest.mark.parametrize("last", [2, 3, 4, 5, 6, 7, 8, 9, 31, 32, 33, 64, 100, 239, 250])
def test_the_last_page_is_found_in_few_steps(last, beyond):
    end, asked = search(last, beyond)
    assert end is not None
    # An empty page may be named besides: nobody can tell it from a last page that is repeated.
    # And of the second page nobody knows what it shows, as it was a link.
    unsure = beyond == "empty" or (beyond, last) == ("last", 2)
    assert len(end.pages()) + 1 - last in ({0, 1} if unsure else {0})
    assert len(asked) <= 2 * last.bit_length() + 2
    assert len(asked) == len(set(asked))
    assert max(asked) <= 4 * last


@pytest.mark.parametrize("beyond", BEYOND)
def test_a_shop_that_answers_any_number_with_its_only_page(beyond):
    """Its link to a second page leads nowhere: what is named is no more than that link."""
    end, asked = search(1, beyond)
    assert end is None or len(end.pages()) <= 2
    assert len(asked) <= 3


def test_a_listing_without_an_end_is_left_to_its_links():
    probe: Probe | None = Probe(template="x?page={}", first=FIRST, low=2, asked=4)
    asked, end = [], None
    while probe is not None:
        asked.append(probe.asked)
        probe, end = judge(probe, 2_000_000 + probe.asked)
    assert end is None
    assert max(asked) <= MAX_PAGES
    assert len(asked) < 9


def test_contradictory_answers_end_the_search():
    probe: Probe | None = Probe(template="x?page={}", first=FIRST, low=2, asked=4)
    tries = 0
    while probe is not None:
        tries += 1
        probe, _ = judge(probe, [None, 5, 5, FIRST, 6][tries % 5])
    assert tries <= MAX_TRIES


def begun(
    links: list[str], url: str = BASE, goods: str = "/p/1/tent", alone: str = "Next"
) -> Probe | None:
    pager = "".join(
        f'<a href="{link}">{n if links[1:] else alone}</a>' for n, link in enumerate(links, 2)
    )
    html = f'<a href="{goods}">Tent</a><div class="pagination">{pager}</div>'
    page = parse(f"<html><body>{html}</body></html>", url)
    found = find_links(page)
    return probing.begin(page, found, listing_fingerprint(found))


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (["?page=2"], f"{BASE}?page=4"),
        (["/tents/page/2/"], f"{BASE}/page/4/"),
        ([f"?page={n}" for n in range(2, 6)], f"{BASE}?page=10"),
        # A short pager is whole, and so is one with a gap: its last link is the last page.
        (["?page=2", "?page=3"], None),
        (["?page=2", "?page=3", "?page=9"], None),
        ([], None),
    ],
)
def test_a_search_begins_where_the_pager_may_be_cut_off(links, expected):
    found = begun(links)
    assert (found and found.url) == expected


def test_a_pager_with_one_further_number_is_complete() -> None:
    """Three requests for each listing of two pages found nothing."""
    assert begun(["?page=2"], alone="2") is None
    assert begun(["?page=2"], alone="<span>Page</span><span>2</span>") is None
    assert begun(["?page=2"], goods='/p/2">Mug 2</a><a href="/p/1/tent') is not None


def test_only_the_first_page_begins_a_search():
    assert begun(["?page=4"], url=f"{BASE}?page=3") is None


def test_addresses_that_count_products_are_probed_by_whole_pages():
    found = begun(["?start=24"])
    assert found is not None
    assert found.url == f"{BASE}?start=72"
    end = judge(found, None)[0]
    assert end is not None
    assert end.url == f"{BASE}?start=48"


@pytest.mark.parametrize(
    "wrong",
    [
        {"low": 10**12},
        {"high": 10**12},
        {"step": 10**12},
        {"asked": -1},
        {"low": True},
        {"template": "{}" * 800},
        {"template": f"{BASE}{{}}" + "x" * 9000},
    ],
)
def test_a_stored_search_lays_out_no_address_without_end(wrong: dict[str, object]) -> None:
    stored = Probe(template=f"{BASE}?page={{}}", first=FIRST, low=3, asked=6).plain()
    assert probing.resume(stored).low == 3
    with pytest.raises(ValueError, match="search"):
        probing.resume(stored | wrong)


def further(*ends: str, menu: bool = True) -> list[Link]:
    pages = [Link(f"{BASE}{end}", "pagination", "") for end in ends]
    nav = [Link("https://shop.example/c/lamps", "listing", "")] if menu else []
    return [Link("https://shop.example/p/1", "product", ""), *nav, *pages]


def test_the_last_page_that_is_linked_is_asked_whether_it_leads_on():
    search = Probe(template=f"{BASE}?page={{}}", first=FIRST, low=2, asked=4)
    assert search.last_known == f"{BASE}?page=2"
    assert probing.lead_on(search, further()) is None  # a page without a pager
    assert probing.lead_on(search, further("?page=1")) is None
    assert probing.lead_on(search, further("/o-48")) is None
    longer = probing.lead_on(search, further("?page=1", "?page=3"))
    assert longer is not None
    assert (longer.low, longer.asked, longer.before) == (3, 6, 2)
    assert probing.lead_on(search, further(menu=False)) == search  # a part that a script loads


def test_a_search_does_not_go_on_behind_a_link_beyond_all_pages_that_it_asks_for() -> None:
    search = Probe(template=f"{BASE}?page={{}}", first=FIRST, low=5, asked=10)
    longer = probing.lead_on(search, further("?page=4", "?page=6000"))
    assert longer is None or probing.resume(longer.plain()).asked == longer.asked


class TestSpider:
    @pytest.fixture
    def spider(self) -> CatalogSpider:
        spider = CatalogSpider()
        made: Any = Crawler(CatalogSpider, {"SEINE_SITEMAPS": False})
        made.stats = MemoryStatsCollector(made)
        spider._set_crawler(made)
        spider.knows = lambda url, job: False
        return spider

    def requests(self, spider: CatalogSpider, number: int, last: int, **meta: Any) -> list[Request]:
        url = BASE + (f"?page={number}" if number > 1 else "")
        tiles = "".join(f'<a href="/p/tent-{number}-{n}">Tent</a>' for n in range(4))
        after = f'<a rel="next" href="?page={number + 1}">Next</a>' if number < last else ""
        body = f"<nav><a href='/c/x'>x</a></nav>{tiles}{after}".encode()
        request = Request(url, meta={m.DEPTH: 1, **meta})
        return list(spider.parse(HtmlResponse(url, body=body, request=request)))

    @pytest.mark.parametrize(("last", "probes"), [(2, 0), (3, 0), (4, 0), (9, 1)])
    def test_a_short_listing_is_followed_page_by_page(self, spider, last, probes):
        number, meta, asked = 1, {}, []
        for _ in range(last):
            made = self.requests(spider, number, last, **meta)
            asked += [r.url for r in made if r.callback is not None]
            following = [r for r in made if f"page={number + 1}" in r.url]
            if not following:
                break
            number, meta = number + 1, dict(following[0].meta)
        assert number == last
        assert len(asked) == probes
        assert asked in ([], [f"{BASE}?page=10"])

    def test_page_one_is_not_asked_for_again_by_the_page_that_came_from_it(self, spider):
        first = self.requests(spider, 1, 9)
        (second,) = (request for request in first if "page=2" in request.url)
        assert f"{BASE}?page=1" in self.back(spider, {})  # entered in the middle
        assert f"{BASE}?page=1" in self.back(spider, {SHELF: 1})  # counted backwards
        assert f"{BASE}?page=1" not in self.back(spider, dict(second.meta))

    def test_page_one_is_known_where_the_pager_adds_parameters(self, spider):
        def made(number: int | None, **meta: Any) -> list[Request]:
            url = BASE if number is None else f"{BASE}?size=4&pgNr={number}&cl=list"
            pager = "".join(f'<a href="?size=4&pgNr={n}&cl=list">{n + 1}</a>' for n in range(3))
            body = f'<a href="/p/tent-{number}">Tent</a><div class="pages">{pager}</div>'
            # Another link to the first page, with the number of products on a page.
            body += '<p><a href="?size=4&pgNr=0&cl=list">4</a></p>'
            request = Request(url, meta={m.DEPTH: 1, **meta})
            return list(spider.parse(HtmlResponse(url, body=body.encode(), request=request)))

        (second,) = (request for request in made(None) if "pgNr=1" in request.url)
        assert not [x.url for x in made(1, **second.meta) if "pgNr=0" in x.url]

    def test_a_listing_that_counts_backwards_is_read_to_page_one(self, spider):
        tiles = '<a href="/p/tent-1">Tent</a><a href="?page=4">Older</a>'
        request = Request(BASE, meta={m.DEPTH: 1})
        found = list(spider.parse(HtmlResponse(BASE, body=tiles.encode(), request=request)))
        (second,) = (made for made in found if "page=2" in made.url)
        assert f"{BASE}?page=1" in self.back(spider, dict(second.meta))

    def back(self, spider: CatalogSpider, meta: dict[str, Any]) -> set[str]:
        """The addresses that a second page with a link back leads to."""
        body = (
            b'<a href="/p/tent-9">Tent</a><div class="pagination"><a href="?page=1">&lt;</a></div>'
        )
        request = Request(f"{BASE}?page=2", meta={m.DEPTH: 1, **meta})
        return {
            made.url for made in spider.parse(HtmlResponse(request.url, body=body, request=request))
        }

"""A site that answers in another currency from some page on: its values wait for a second look."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from itertools import count
from typing import Any

import pytest

from crawler.extract.template import Book
from crawler.extract.template.profile import Profile
from crawler.extract.template.visitor_currency import Look, SiteCurrencies
from tests.benchmarks import drift
from tests.benchmarks.shops import SHOPS, Shop, Thing, things

WOO = next(shop for shop in SHOPS if shop.name == "woo")


def in_pounds(html: str, thing: Thing, shop: Shop) -> str:
    """The page as it is shown to a visitor from Britain."""
    price = (thing.price * Decimal("1.3")).quantize(Decimal("0.01"))
    html = html.replace(shop.words.money(thing.price), f"£{price:,.2f}")
    html = html.replace(f'"price": "{thing.price}"', f'"price": "{price}"')
    if thing.regular is not None:
        html = html.replace(shop.words.money(thing.regular), f"£{thing.regular * 2:,.2f}")
    return html.replace(f'"priceCurrency": "{shop.words.currency}"', '"priceCurrency": "GBP"')


class Site:
    """A shop that is read page by page; what its pages tell is told by *currency_of*."""

    def __init__(self, currency_of: Any) -> None:
        self.currencies, self.currency_of = SiteCurrencies(), currency_of
        self.kept: dict[str, str] = {}
        self.news: list[str] = []
        self.read_again = 0

    def read(self, url: str, look: Look | None = None) -> None:
        if look is not None:
            self.currencies.expect("shop", look)
        currency = self.currency_of(url)
        doubt, news = self.currencies.note("shop", url, currency)
        self.news += [news] if news else []
        if doubt is None:
            self.kept[url] = currency
        elif url not in self.kept:
            self.kept[url] = ""

    def crawl(self, urls: list[str], late: int = 4) -> Site:
        """Read pages; those that are asked for again come some pages later."""
        waiting: list[Any] = []
        for number, url in enumerate(urls):
            self.read(url)
            waiting += [(number + late, look) for look in self.currencies.looks("shop")]
            while waiting and waiting[0][0] <= number:
                self.again(waiting.pop(0)[1])
        while waiting or (waiting := [(0, look) for look in self.currencies.looks("shop")]):
            self.again(waiting.pop(0)[1])
        return self

    def again(self, look: Any) -> None:
        self.read_again += 1
        self.read(look.url, look)


def flat(n: int) -> str:
    return f"https://a.example/thing-{n}"


def by_read(is_home: Callable[[int], bool]) -> Callable[[str], str]:
    """The currency of a site that tells by the number of the reading whether it is its own."""
    reads = count(1)
    return lambda url: "EUR" if is_home(next(reads)) else "USD"


@pytest.mark.parametrize("start", [8, 9, 40, 59, 100])
def test_no_value_in_a_currency_that_came_with_the_visitor_is_kept(start: int) -> None:
    site = Site(by_read(lambda read: read <= start)).crawl([flat(n) for n in range(160)])
    assert [site.kept[flat(n)] for n in range(160)] == ["EUR"] * start + [""] * (160 - start)
    assert len(site.news) == 1
    assert site.read_again <= 8


def test_a_currency_that_comes_and_goes_with_the_way_out_is_told_once() -> None:
    """Every second page by another exit: a page of before that changed settles it."""
    site = Site(by_read(lambda read: read <= 20 or read % 2 == 1)).crawl(
        [flat(n) for n in range(160)]
    )
    assert set(site.kept.values()) == {"EUR", ""}
    assert len(site.news) == 1


def section(url: str) -> str:
    return "EUR" if int(url.rpartition("-")[2]) < 80 else "USD"


def market(url: str) -> str:
    return next(code for name, code in MARKETS.items() if name in url)


MARKETS = {"/de/": "EUR", "/us/": "USD", "/gb/": "GBP", "/de-ch/": "CHF"}
BY_QUERY = {"currency=EUR": "EUR", "currency=USD": "USD"}


@pytest.mark.parametrize(
    ("urls", "currency_of"),
    [
        pytest.param([flat(n) for n in range(160)], section, id="a section without a name"),
        pytest.param(
            [f"https://a.example{name}p/{n}" for name in MARKETS for n in range(80)],
            market,
            id="markets one after the other",
        ),
        pytest.param(
            [f"https://a.example{name}p/{n}" for n in range(80) for name in MARKETS],
            market,
            id="markets by turns",
        ),
        pytest.param(
            [f"https://{name[1:-1]}.a.example/{name[1:-1]}/p/{n}" for name in MARKETS
             for n in range(80)],
            market,
            id="a host for each market",
        ),
        pytest.param(
            [f"https://a.example/p?{name}&id={n}" for name in BY_QUERY for n in range(80)],
            lambda url: next(code for name, code in BY_QUERY.items() if name in url),
            id="markets in the query",
        ),
        pytest.param(
            [flat(n) for n in range(160)],
            lambda url: ("EUR", "USD", "GBP")[int(url.rpartition("-")[2]) * 7919 % 3],
            id="sellers of all countries",
        ),
        pytest.param(
            [flat(n) for n in range(160)],
            lambda url: "USD" if url.endswith("-77") else "EUR",
            id="one of many",
        ),
    ],
)  # fmt: skip
def test_a_shop_with_several_currencies_keeps_all_of_them(
    urls: list[str], currency_of: Any
) -> None:
    site = Site(currency_of).crawl(urls)
    assert site.kept == {url: currency_of(url) for url in urls}
    assert site.news == []


def known(site: Site, later: Any) -> Site:
    """A worker that begins with what another one knows."""
    after = Site(later)
    after.currencies.load("shop", json.loads(json.dumps(site.currencies.plain("shop"))))
    return after


def test_a_worker_that_begins_after_the_change_knows_the_currency_of_before() -> None:
    first = Site(lambda url: "EUR").crawl([flat(n) for n in range(40)])
    later = known(first, lambda url: "USD").crawl([flat(n) for n in range(40, 80)])
    assert {later.kept[flat(n)] for n in range(40, 80)} == {""}
    assert len(later.news) == 1


def test_a_worker_that_begins_later_keeps_the_currencies_of_a_shop_with_several() -> None:
    first = Site(section).crawl([flat(n) for n in range(120)])
    later = known(first, section).crawl([flat(n) for n in range(120, 160)])
    assert (set(later.kept.values()), later.read_again, later.news) == ({"USD"}, 0, [])
    first = Site(section).crawl([flat(n) for n in range(70)])
    later = known(first, section).crawl([flat(n) for n in range(70, 160)])
    assert (later.kept[flat(75)], later.kept[flat(85)], later.news) == ("EUR", "USD", [])


@pytest.mark.parametrize(
    "markets", [{"a": []}, {"a": [["EUR"], 5, []]}, [["a"]], {"a": [[], [], []]}, 7, "x"]
)
def test_a_stored_profile_with_markets_that_are_none_is_not_readable(markets: Any) -> None:
    plain = {**Profile().plain(), "markets": markets}
    assert Book().load("shop", "make", plain) is False


def test_without_an_answer_the_doubt_is_told_and_stays() -> None:
    """Pages of before that are not there any more settle nothing."""
    tenders, news = SiteCurrencies(), []
    for n in range(300):
        doubt, told = tenders.note("shop", flat(n), "EUR" if n < 40 else "USD")
        assert (doubt is not None) == (n >= 40)
        news += [told] if told else []
    assert len(news) == 1
    assert len(tenders.looks("shop")) == 3 + 23 + 24


def test_a_currency_that_products_are_stored_with_is_the_usual_one_since() -> None:
    site = Site(by_read(lambda read: read <= 20)).crawl([flat(n) for n in range(60)])
    site.currencies.believe("shop")
    assert site.currencies.note("shop", flat(60), "USD") == (None, "")
    assert site.currencies.note("shop", flat(61), "EUR")[0] is not None


def test_currencies_are_remembered_in_bounded_room() -> None:
    tenders = SiteCurrencies()
    for n in range(3000):
        tenders.note(
            f"shop{n % 1000}",
            f"https://a.example/{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}/1",
            "EUR",
        )
    for n in range(3000):
        tenders.note("one", f"https://{n}.example/1", "EUR")
        tenders.note("two", flat(n), "EUR" if n < 40 else "USD")
    assert len(tenders._sites) == 500
    assert len(tenders._sites["one"].markets) == 40
    assert len(tenders._sites["two"].markets["a.example"].doubtful) == 500


class TestFirstCrawl:
    """A whole first crawl whose shop turns to another currency: what is stored of it."""

    def crawl(self, structured: bool, start: int) -> drift.Crawl:
        crawl, goods = drift.Crawl(WOO, structured), things(120, 5)
        by_url = {drift.tidy(WOO.url(thing)): (thing, WOO) for thing in goods}
        for thing in goods:
            change = in_pounds if thing.number >= start else None
            at = drift._FIRST_DAY + timedelta(seconds=thing.number)
            crawl.read(thing, at, change)
            crawl.look_after(by_url, at, change)
        return crawl

    @pytest.mark.parametrize("structured", [False, True])
    def test_no_row_has_a_price_of_the_other_currency(self, structured: bool) -> None:
        crawl = self.crawl(structured, 30)
        assert len(crawl.table) == 120
        stored = [crawl.table[str(n)].item for n in range(120)]
        assert {item.get("currency") for item in stored[:30]} == {"USD"}
        assert {(item.get("currency"), item.get("price")) for item in stored[30:]} == {(None, None)}
        assert {number for number, field in crawl.told if field == "currency"} >= {
            str(n) for n in range(30, 120)
        }
        assert crawl.drifts == ["currency"]


@pytest.mark.parametrize("start", [1, 2, 3, 4, 5, 6])
def test_a_currency_that_turned_within_the_first_pages_is_told(start: int) -> None:
    site = Site(by_read(lambda read: read <= start)).crawl([flat(n) for n in range(60)])
    assert len(site.news) == 1
    assert [site.kept[flat(n)] for n in range(20, 60)] == [""] * 40


def test_sections_that_follow_each_other_within_the_first_pages_keep_their_currencies() -> None:
    def currency_of(url: str) -> str:
        return "EUR" if int(url.rpartition("-")[2]) < 4 else "USD"

    site = Site(currency_of).crawl([flat(n) for n in range(60)])
    assert not site.news
    assert [site.kept[flat(n)] for n in range(60)] == ["EUR"] * 4 + ["USD"] * 56


class Fleet:
    """Two workers that read one shop's pages in turns, and share what is stored."""

    def __init__(self, *currencies_of: Any) -> None:
        self.workers = [Site(currency_of) for currency_of in currencies_of]
        self.stored: list[tuple[str, str]] = []

    def crawl(self, count: int) -> Fleet:
        looks: list[Look] = []
        for number in range(count):
            worker = self.workers[number % 2]
            worker.read(flat(number))
            if currency := worker.kept[flat(number)]:
                self.stored.append((flat(number), currency))
            if number % 20 in {18, 19}:
                worker.currencies.compare("shop", [*self.stored[:12], *self.stored[-48:]])
            looks += worker.currencies.looks("shop")
            if looks and number % 3 == 0:  # a page goes to whichever worker is free
                look = looks.pop(0)
                self.workers[number // 3 % 2].again(look)
        return self


def test_workers_that_see_two_currencies_from_the_start_are_told_of_and_one_is_held_back() -> None:
    fleet = Fleet(lambda url: "EUR", lambda url: "USD").crawl(200)
    first, second = fleet.workers
    assert any("different countries" in news for news in second.news)
    assert {first.kept[flat(n)] for n in range(0, 200, 2)} == {"EUR"}
    assert {second.kept[flat(n)] for n in range(121, 200, 2)} == {""}


def test_a_shop_with_a_currency_a_page_keeps_all_whichever_worker_reads_them() -> None:
    def currency_of(url: str) -> str:
        return "EUR" if int(url.rpartition("-")[2]) % 2 else "USD"

    fleet = Fleet(currency_of, currency_of).crawl(200)
    for worker in fleet.workers:
        assert not worker.news
        assert "" not in worker.kept.values()


def test_a_worker_knows_its_own_currency_before_it_is_held_against_others() -> None:
    """One that has just joined a shop of many currencies has not met all of them yet."""
    worker = Site(lambda url: "USD")
    stored = [(flat(n), "EUR") for n in range(100, 112)]
    asked = []
    for number in range(8):
        worker.read(flat(number))
        worker.currencies.compare("shop", stored)
        asked.append(len(worker.currencies.looks("shop")))
    assert asked == [0] * 7 + [3]


def test_pages_beyond_those_that_are_remembered_cause_no_look_each() -> None:
    currencies = SiteCurrencies()
    for number in range(20):
        currencies.note("shop", f"https://shop.example/p/{number}", "EUR")
    looks = []
    for number in range(1_000):
        currencies.note("shop", f"https://shop.example/q/{number}", "GBP")
        looks.append(len(currencies.looks("shop")))
    assert 0 < sum(looks[500:]) <= 50


def test_a_sites_main_market_is_not_forgotten_for_many_small_ones() -> None:
    currencies = SiteCurrencies()
    for number in range(20):
        currencies.note("shop", f"https://shop.example/p/{number}", "EUR")
    for number in range(60):
        currencies.note("shop", f"https://shop.example/p/1?store={number}", "EUR")
    doubt, _ = currencies.note("shop", "https://shop.example/p/21", "GBP")
    assert doubt is not None

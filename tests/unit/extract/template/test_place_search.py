"""A field that went elsewhere is found by its products' stored values, and read from there."""

import json
import random
from copy import deepcopy
from decimal import Decimal
from functools import cache
from typing import Any
from unittest.mock import Mock

import attrs
import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.statscollectors import MemoryStatsCollector

from crawler.extract import extract, parse
from crawler.extract.template import Book, Drift
from crawler.extract.template.observation import Observation
from crawler.extract.template.page_correction import mend
from crawler.extract.template.place_search import Mender, _Search
from crawler.extract.template.profile import Profile
from crawler.extract.template.values_by_place import texts_of, value_at, values
from crawler.items import Product
from scrapy_seine import meta as m
from spiders.catalog import CatalogSpider
from tests.benchmarks import template_changes
from tests.benchmarks.shops import SHOPS, Thing, things

#: What a page without a word of its stock shows.
UNTOLD = {"availability": Observation(None, None, {}, None)}
WOO = next(shop for shop in SHOPS if shop.name == "woo")
GOODS = things(120, 3)


def stored(thing: Thing) -> dict[str, str]:
    return {"name": thing.name, "price": str(thing.price), "sku": thing.sku}


def moved(thing: Thing) -> str:
    """An instalment where the price was, and the price in a row of its own."""
    return template_changes.instalment_first(WOO.page(thing, False), thing, WOO)


def judge(book: Book, thing: Thing, html: str) -> tuple[Any, Any]:
    found = extract(parse(html, WOO.url(thing)))
    return found, book.judge("shop", found)


def recall(book: Book, known: dict[str, Any] | None = None) -> None:
    """Tell the book what it asks for, as the storage does."""
    by_url = {WOO.url(thing): stored(thing) for thing in GOODS} if known is None else known
    for site, urls in list(book.awaited_pages()):
        book.recall(site, {url: by_url.get(url) for url in urls})


@cache
def _taught() -> Book:
    book = Book()
    for thing in GOODS[:40]:
        judge(book, thing, WOO.page(thing, False))
        recall(book)
    return book


def taught(told: list[Any] | None = None) -> Book:
    book = deepcopy(_taught())
    book._drifted = told.append if told is not None else lambda drift: None
    return book


def changed(book: Book, known: dict[str, Any] | None = None) -> Any:
    """Read the pages of a template that changed; returns the last one with its thing."""
    for thing in GOODS[60:80]:
        found, _ = judge(book, thing, moved(thing))
        recall(book, known)
    return found, thing


def test_a_price_is_read_where_the_known_prices_stand():
    told: list[Any] = []
    found, thing = changed(taught(told))
    assert (found.fields["price"], found.sources["price"]) == (thing.price, "template")
    assert ("price", "moved") in {(drift.field, drift.kind) for drift in told}


def test_without_stored_values_nothing_is_guessed():
    found, _ = changed(taught(), {})
    assert found.sources["price"] == "text"


def test_stored_values_that_stand_nowhere_teach_nothing():
    known = {WOO.url(t): {**stored(t), "price": str(t.price + 7)} for t in GOODS}
    found, _ = changed(taught(), known)
    assert found.sources["price"] == "text"


@pytest.mark.parametrize("price", ["", "NaN", "1e999999", "x", "-1", "0", {"a": 1}, [1], True])
def test_odd_stored_values_are_no_harm(price):
    known = {WOO.url(t): {"name": 3, "price": price, "sku": None} for t in GOODS}
    assert changed(taught(), known)[0].sources["price"] == "text"


def test_one_value_that_all_products_have_tells_no_place():
    known = {WOO.url(t): {**stored(t), "price": "14"} for t in GOODS}  # a card's beside each
    found, _ = changed(taught(), known)
    assert found.sources["price"] == "text"


@pytest.mark.parametrize("seed", range(10))
def test_a_shop_with_a_few_prices_has_them_in_other_products_tiles_by_chance(seed):
    """Eight amounts of tiles are other products' prices, one is the product's on most pages."""
    rng, points = random.Random(seed), ("1.00", "1.50", "1.50", "1.50", "2.75", "3.20", "0.85")
    by_chance, known = _Search(), _Search()
    for number in range(40):
        price = rng.choice(points)
        tiles = [f"tile {i}" for i in range(8) if rng.choice(points) == price]
        by_chance.add(price, tiles)
        known.add(price, tiles + ["price"] * (number % 8 != 0))
        assert by_chance.place() is None
        assert known.place() in {None, "price"}
    assert known.place() == "price"


@pytest.mark.parametrize("factor", ["0.8", "0.15"])
def test_a_day_of_lower_prices_moves_nothing(factor):
    """The price of yesterday stands struck through beside the new one, on each page."""
    told: list[Any] = []
    book = taught(told)
    for thing in GOODS[60:]:
        sale = (thing.price * Decimal(factor)).quantize(Decimal("0.01"))
        now = Thing(
            thing.number, thing.name, sale, thing.price, thing.sku, thing.brand, thing.in_stock
        )
        found, _ = judge(book, now, WOO.page(now, False))
        recall(book)
        assert found.fields["price"] == sale
    assert not [drift for drift in told if drift.kind == "moved"]


def test_the_newest_pages_are_read_again_once_and_not_for_ever():
    book = taught()
    changed(book)
    again = book.pages_to_reread("shop")
    assert {url for url, _ in again} >= {WOO.url(GOODS[60])}
    assert len(again) <= 60
    assert book.pages_to_reread("shop") == []
    for _ in range(7):  # a template that changes to and fro
        for thing in GOODS[:20]:
            judge(book, thing, WOO.page(thing, False))
            recall(book)
        changed(book)
    (make,) = book._sites["shop"].values()
    assert len(make.replays) <= 4
    book.pages_to_reread("shop")
    make.mender.pages += 1_000  # a change of another day
    book._request_reread([WOO.url(GOODS[1])], make)
    assert book.pages_to_reread("shop") == [(WOO.url(GOODS[1]), make.profile.version)]


def test_a_place_survives_storage_and_is_left_when_it_is_gone():
    book = taught()
    changed(book)
    other = Book()
    for site, cluster, profile, _ in book.unsaved(1):
        assert other.load(site, cluster, json.loads(json.dumps(profile.plain())))
    found, _ = judge(other, GOODS[100], moved(GOODS[100]))
    assert found.fields["price"] == GOODS[100].price
    (make,) = other._sites["shop"].values()
    for thing in GOODS[100:108]:
        judge(other, thing, WOO.page(thing, False).replace(WOO.words.money(thing.price), ""))
    assert make.profile.fields["price"].places == []


def test_a_number_behind_its_label_is_read_without_it():
    """Pages of before are read among those without a label, at whose place the number stands alone."""
    thing, profile = GOODS[0], Profile()
    html = f"<h1>{thing.name}</h1><p>SKU: {thing.sku}</p><b>$5.00</b><button>Add to cart</button>"
    for sku, page in ((thing.sku, html), ("Z99 X", html.replace(f"SKU: {thing.sku}", "Z99 X"))):
        found = extract(parse(page, WOO.url(thing)))
        place = next(at for at, _, _ in values("sku", texts_of(found.page)) if "whole p" in at)
        profile.fields["sku"].places = [place]
        mend(found, profile)
        assert found.fields["sku"] == sku


def test_a_profile_of_an_earlier_version_has_no_places():
    plain = Profile().plain()
    for field in plain["fields"].values():
        del field["places"]
    assert Profile.of(plain).fields["price"].places == []


def test_prices_in_cents_are_read_as_what_the_page_shows():
    thing = GOODS[0]
    found, judged = judge(
        Book(), thing, template_changes.in_cents(WOO.page(thing, True), thing, WOO)
    )
    assert found.fields["price"] == thing.price
    assert "price" not in judged.doubts


def test_a_price_above_a_struck_one_is_doubtful():
    thing = next(t for t in GOODS if t.regular is not None)
    html = template_changes.swapped(WOO.page(thing, False), thing, WOO)
    assert judge(Book(), thing, html)[1].doubts["price"].kind == "order"


@pytest.mark.parametrize("words", ["Lowest price in 30 days:", "Last low", "Member since"])
def test_a_lowest_price_that_is_called_so_is_no_reason_for_doubt(words):
    thing = next(t for t in GOODS if t.regular is None and t.in_stock)
    low = f"<p>{words}</p><p><del>{WOO.words.money(thing.price / 2)}</del></p>"
    html = WOO.page(thing, False).replace('<form class="cart">', f'{low}<form class="cart">')
    found, judged = judge(Book(), thing, html)
    assert found.fields["price"] == thing.price
    assert "price" not in judged.doubts


def test_what_waits_for_stored_values_is_bounded():
    mender = Mender()
    for n in range(70):
        html = f"<title>Lamp {n}</title><h1>Lamp {n}</h1>"
        mender.note(parse(html, f"https://a.example/{n}"), UNTOLD, frozenset({"price"}), {})
    assert len(mender.awaited_pages()) == 24
    assert len(mender.take_newest()) == 60


@pytest.mark.parametrize(("field", "read"), [("price", 1), ("currency", 0)])
def test_texts_are_read_for_what_stands_in_a_place(monkeypatch, field, read):
    """A shop of several currencies may have a doubtful one on each page: texts cost a parsing."""
    texts = Mock(return_value=[])
    monkeypatch.setattr("crawler.extract.template.place_search.texts_of", texts)
    mender = Mender()
    mender.note(parse("<h1>Lamp</h1>", "https://a.example/1"), UNTOLD, frozenset({field}), {})
    assert texts.call_count == read
    assert mender.awaited_pages() == ["https://a.example/1"]


@pytest.mark.parametrize(
    "html", ["", "<p>", b"\xff\xfe\x00", "<p>$5" * 300, "<h1>" * 3000, "<b>1 2 3</b>" * 900]
)
def test_any_page_has_texts(html):
    texts = texts_of(parse(html, "https://a.example/"))
    assert len(texts) <= 401
    for field in ("name", "price", "sku"):
        for place, value, _ in values(field, texts):
            assert value_at(field, place, texts) == value


class TestSpider:
    def spider(self) -> CatalogSpider:
        spider = CatalogSpider()
        made: Any = Crawler(CatalogSpider, {})
        made.stats = MemoryStatsCollector(made)
        spider._set_crawler(made)
        return spider

    def test_pages_are_asked_for_again_in_a_scope_of_their_own(self, monkeypatch):
        spider = self.spider()
        monkeypatch.setattr(spider, "knows", lambda url, job: False, raising=False)
        url = WOO.url(GOODS[61])
        monkeypatch.setattr(spider.book, "pages_to_reread", lambda site: [(url, 3)])
        thing = GOODS[60]
        request = Request(WOO.url(thing), meta={m.JOB_ID: "j1", m.JOB_TYPE: "recrawl"})
        body = WOO.page(thing, True).encode()
        made = list(spider.parse(HtmlResponse(request.url, body=body, request=request)))
        (again,) = [one for one in made if isinstance(one, Request)]
        assert again.url == url
        assert again.meta[m.SCOPE] == f"j1 again 3 {url}"
        assert spider.crawler.stats.get_value("extract/read_again") == 1

    @pytest.mark.parametrize(
        ("kind", "words"),
        [
            ("place", "the template changed, price is doubtful since https://a.example/1: why"),
            ("moved", "the template changed, price is read from its new place since"),
            ("disagree", "two sources never agree on the price, see https://a.example/1: why"),
        ],
    )
    def test_what_is_noticed_is_said_in_its_words(self, kind, words, caplog):
        spider = self.spider()
        spider._note_drift(Drift("shop", "price", kind, "why", "https://a.example/1", 2))
        assert words in caplog.text
        assert spider.crawler.stats.get_value("extract/template_changes") == 1


class TestNewMake:
    """A template whose classes all changed is another make: its known products tell that it is new."""

    def read_hashed(self, known: dict[str, Any] | None) -> tuple[list[Any], Book]:
        told: list[Any] = []
        book = taught(told)
        for thing in GOODS[40:52]:
            judge(book, thing, WOO.page(thing, False))
        for thing in GOODS[60:80]:
            judge(book, thing, template_changes.hashed(WOO.page(thing, False), thing, WOO))
            recall(book, known)
        return told, book

    def test_it_is_noticed_though_every_value_is_read_right(self):
        told, _ = self.read_hashed(None)
        assert ("price", "layout") in {(one.field, one.kind) for one in told}

    def test_new_products_of_another_make_are_no_change(self):
        told, _ = self.read_hashed({})
        assert "layout" not in {one.kind for one in told}

    def test_pages_with_classes_of_their_own_are_one_make(self):
        _, book = self.read_hashed(None)
        pages = [make.profile.pages for make in book._sites["shop"].values()]
        assert max(pages[1:]) > 10


class TestLasting:
    """What the storage does not believe is not learned from the number of pages that tell it."""

    def read_all(self, book: Book, change: Any, known: dict[str, Any]) -> list[Any]:
        kinds = []
        for thing in GOODS[60:]:
            _, judged = judge(book, thing, change(WOO.page(thing, False), thing, WOO))
            kinds.append({field: doubt.kind for field, doubt in judged.doubts.items()})
            recall(book, known)
        return kinds

    def read_more(self) -> Book:
        book = taught()
        for thing in GOODS[40:60] * 2:
            judge(book, thing, WOO.page(thing, False))
        return book

    def test_another_currency_stays_doubtful_until_products_are_stored_with_it(self):
        before = {WOO.url(t): {**stored(t), "currency": "USD"} for t in GOODS}
        book = self.read_more()
        kinds = self.read_all(book, template_changes.other_currency, before)
        assert all(told == {"currency": "constant"} for told in kinds)
        since = {url: {**known, "currency": "EUR"} for url, known in before.items()}
        assert self.read_all(book, template_changes.other_currency, since)[-1] == {}

    def test_prices_that_are_gone_are_not_learned_to_be_gone_from_goods_that_are(self):
        kinds = self.read_all(self.read_more(), template_changes.no_price, {})
        assert {"price": "missing"} in kinds[-5:]

    def test_of_two_currencies_the_visible_one_is_read_and_storing_the_other_proves_nothing(self):
        """Structured data keeps its code while the page is priced for the country that asks."""
        book = Book()
        known = {WOO.url(t): {**stored(t), "currency": "USD"} for t in GOODS}
        for thing in GOODS[:40]:
            judge(book, thing, WOO.page(thing, True))
        for thing in GOODS[40:60]:
            found, _ = judge(book, thing, WOO.page(thing, True).replace("$", "€"))
            recall(book, known)
        assert (found.fields["currency"], found.sources["currency"]) == ("EUR", "text")

    def test_the_prices_before_are_not_learned_where_the_prices_are_gone(self):
        """A shop that shows prices to its members alone still strikes the old ones through."""
        luma = next(shop for shop in SHOPS if shop.name == "luma")
        book, kinds = Book(), []
        for thing in GOODS * 2:
            html = luma.page(thing, False)
            if kinds or thing is GOODS[60]:
                html = html.replace(luma.words.money(thing.price), "Log in to see the price")
            found = extract(parse(html, luma.url(thing)))
            judged = book.judge("shop", found)
            if thing is GOODS[60] or kinds:
                doubt = judged.doubts.get("price")
                kinds.append(doubt.kind if doubt else str(found.fields.get("availability")))
        assert set(kinds) <= {"missing", "place", "OutOfStock"}
        assert kinds.count("missing") > 50

    def test_pages_before_a_repetition_are_asked_for_again(self):
        book = taught()
        for thing in GOODS[60:72]:
            judge(book, thing, template_changes.one_name(WOO.page(thing, False), thing, WOO))
        again = [url for url, _ in book.pages_to_reread("shop")]
        assert {WOO.url(thing) for thing in GOODS[60:66]} <= set(again)

    def test_what_was_read_before_a_repetition_showed_is_doubtful_when_read_again(self):
        """Also among pages of before: these make the newest pages differ again."""
        book, goods, field = taught(), [attrs.evolve(t, in_stock=True) for t in GOODS], "name"
        changed = [template_changes.one_name(WOO.page(t, False), t, WOO) for t in goods]
        first = [field in judge(book, goods[i], changed[i])[1].doubts for i in range(60, 77)]
        assert not first[0]
        assert first[-1]
        calm = [judge(book, thing, WOO.page(thing, False))[1].doubts for thing in goods[40:60]]
        assert not any(field in doubts for doubts in calm)
        assert all(field in judge(book, goods[i], changed[i])[1].doubts for i in range(60, 66))
        right = judge(book, goods[66], WOO.page(goods[66], False))[1]
        assert field not in right.doubts

    def test_one_product_on_page_after_page_is_told_of(self):
        """A wall in the shop's own template shows the same thing at each address."""
        told: list[Any] = []
        book, same = taught(told), GOODS[3]
        kinds = []
        for thing in GOODS[60:80]:
            found = extract(parse(WOO.page(same, False), WOO.url(thing)))
            kinds.append("name" in book.judge("shop", found).doubts)
        assert not kinds[0]
        assert kinds[-1]
        assert [(drift.field, drift.kind) for drift in told].count(("name", "repeated")) == 1

    def test_a_product_at_each_of_its_categories_is_none(self):
        book = taught()
        for number in range(60):
            thing = GOODS[number // 5]
            found = extract(parse(WOO.page(thing, False), WOO.url(thing) + f"?from={number}"))
            assert "name" not in book.judge("shop", found).doubts

    def test_a_name_in_another_language_is_another_copy_s(self):
        """Shops take a language by the country that asks; what is stored keeps its name."""
        german = attrs.evolve(WOO, words=attrs.evolve(WOO.words, lang="de"))
        book = taught()
        kinds = [judge(book, t, german.page(t, False))[1].doubts for t in GOODS[60:70]]
        assert [doubts["name"].kind for doubts in kinds] == ["make"] * 10
        assert "name" not in judge(book, GOODS[70], WOO.page(GOODS[70], False))[1].doubts
        copy = extract(parse(german.page(GOODS[71], False), "https://woo.example/de/p/71"))
        assert "name" not in book.judge("shop", copy).doubts

    def test_languages_of_a_site_that_has_several_are_no_doubt(self):
        german = attrs.evolve(WOO, words=attrs.evolve(WOO.words, lang="de"))
        book = Book()
        for number, thing in enumerate(GOODS):
            one = german if number % 2 else WOO
            assert "name" not in judge(book, thing, one.page(thing, False))[1].doubts


def test_a_stored_profile_keeps_the_languages_of_its_pages() -> None:
    (profile,) = [one[2] for one in taught().unsaved(0) if one[2].pages > 8]
    assert Profile.of(profile.plain()).usual_language == ("en", 1.0)


class TestByTemplate:
    """A page without price, number and button is a product's, where the site's products look so."""

    def shown(self, book: Book, html: str) -> list[Any]:
        spider = TestSpider().spider()
        spider.book = book
        request = Request("https://woo.example/red-thing/", meta={m.SITE_ID: "shop"})
        made = spider.parse(HtmlResponse(request.url, body=html.encode(), request=request))
        return [one for one in made if isinstance(one, Product)]

    def page(self) -> str:
        """A product's page of the shop with all but its name and a word about the stock left out."""
        thing = GOODS[60]
        before, mark, _ = WOO.page(thing, False).partition("</h1>")
        return f"{before}{mark}<p>Sold out</p></body></html>".replace("</title>", "x</title>")

    def test_it_is_one_of_a_template_that_is_known(self):
        (item,) = self.shown(taught(), self.page())
        assert (item.availability, item.price) == ("OutOfStock", None)

    def test_pages_with_classes_of_their_own_are_known_by_their_tags(self):
        book = Book()
        for thing in GOODS[:60]:
            own = WOO.page(thing, False).replace('class="', f'class="p-{thing.name[:-4]}-x ')
            judge(
                book,
                thing,
                own.replace("-x ", "".join(chr(97 + int(d)) for d in thing.sku[-4:]) + " "),
            )
        (item,) = self.shown(book, self.page().replace('class="', 'class="quite-new '))
        assert item.availability == "OutOfStock"

    def test_it_is_none_where_nothing_is_known_of_the_site(self):
        assert self.shown(Book(), self.page()) == []

    def test_another_template_s_page_is_none(self):
        assert (
            self.shown(taught(), "<html><body><h1>Our sale</h1><p>Sold out</p></body></html>") == []
        )


def test_a_lower_price_that_all_sources_give_is_a_sale_without_a_mark():
    told: list[Any] = []
    book = Book(told.append)
    for thing in GOODS[:60]:
        judge(book, thing, WOO.page(thing, True))
        recall(book)
    for thing in GOODS[60:]:
        sale = (thing.price * Decimal("0.77")).quantize(Decimal("0.01"))
        now = attrs.evolve(thing, price=sale, regular=None)
        before = f"<p class='tip'>When new {WOO.words.money(thing.price)}</p><footer"
        found, _ = judge(book, now, WOO.page(now, True).replace("<footer", before, 1))
        recall(book)
        assert found.fields["price"] == sale
    assert "moved" not in {drift.kind for drift in told}


def test_one_amount_of_all_pages_is_no_price_above_the_struck_one():
    search, swapped = _Search(), _Search()
    for number in range(8):
        search.add(f"{number}.50", ["below"])
        search.page_values.add("99.00")
        swapped.add(f"{number}.50", ["below"])
        swapped.page_values.add(f"{number + 2}.50")
    assert (search.place(), swapped.place()) == (None, "below")

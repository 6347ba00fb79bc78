"""A page is held against what its site's pages did so far: doubts, confidence, changes."""

import json
from decimal import Decimal

import attrs
import pytest

from crawler.extract import extract, parse
from crawler.extract.template import Book
from crawler.extract.template.make_signature import signature
from crawler.extract.template.observation import Observation
from crawler.extract.template.profile import WELL_KNOWN, Field, Profile
from scrapy_seine.urls import tidy
from tests.benchmarks import calm_days, drift, template_changes, templates
from tests.benchmarks.shops import SHOPS, things

WOO = next(shop for shop in SHOPS if shop.name == "woo")
LUMA = next(shop for shop in SHOPS if shop.name == "luma")
GOODS = [attrs.evolve(thing, in_stock=True, regular=None) for thing in things(90, 3)]


def read(thing, html, shop=WOO):
    return extract(parse(html, shop.url(thing)))


def taught(structured=False, shop=WOO, count=60, drifts=None):
    book = Book((drifts if drifts is not None else []).append)
    for thing in GOODS[:count]:
        judged = book.judge("shop", read(thing, shop.page(thing, structured), shop))
        assert not judged.doubts, judged.doubts
    return book


def doubts(book, html, thing=GOODS[60], shop=WOO):
    return {
        name: one.kind for name, one in book.judge("shop", read(thing, html, shop)).doubts.items()
    }


class TestCluster:
    def test_pages_of_one_template_are_of_one_make(self):
        makes = {signature(parse(WOO.page(t, False), WOO.url(t))) for t in GOODS}
        assert len(makes) == 1

    def test_pages_of_other_templates_are_of_others(self):
        thing = GOODS[0]
        makes = {signature(parse(shop.page(thing, False), shop.url(thing))) for shop in SHOPS}
        assert len(makes) >= 12  # pages with no heading and no class have one make

    @pytest.mark.parametrize("html", ["", "<p>", "<h1>x", b"\xff\xfe\x00", "<h1>" * 3000])
    def test_any_page_has_a_make(self, html):
        assert len(signature(parse(html, "https://a.example/"))) == 12


class TestRoom:
    def page(self, make: int, thing, shop="shop"):
        """A page of one of many makes, which differ by their tags."""
        tags = [("div", "section")[make >> n & 1] for n in range(6)]
        html = WOO.page(thing, False)
        for tag in tags:
            html = html.replace("<h1", f"<{tag}><h1", 1)
        return html

    def test_a_shop_of_many_makes_is_known_as_a_whole(self):
        book = Book()
        for thing in GOODS[:10]:
            for make in range(40):
                judged = book.judge("shop", read(thing, self.page(make, thing)))
        assert judged.pages == 9

    def test_the_makes_of_all_sites_are_bounded(self, monkeypatch):
        monkeypatch.setattr("crawler.extract.template.all_sites._MAX_MAKES", 50)
        book, found = Book(), read(GOODS[0], WOO.page(GOODS[0], False))
        for site in range(200):
            book.judge(f"site {site % 80}", found)
        assert sum(map(len, book._sites.values())) == book._make_count <= 51


class TestDoubts:
    def test_nothing_is_doubtful_before_a_site_is_known(self):
        book = taught(count=2)
        assert doubts(book, WOO.page(GOODS[60], False).replace("$", "€")) == {}

    def test_another_currency_of_a_site_that_is_known_a_little_waits_for_a_second_look(self):
        """Else right prices of a mixed shop are held back, by the order of its pages."""
        html, book = WOO.page(GOODS[60], False).replace("$", "€"), taught(count=20)
        assert doubts(book, html) == {"currency": "turned"}
        for look in book.currencies.looks("shop")[:2]:
            book.currencies.expect("shop", look)
            thing = next(t for t in GOODS if tidy(WOO.url(t)) == look.url)
            assert doubts(book, WOO.page(thing, False), thing) == {}
        (held,) = [look for look in book.currencies.looks("shop") if not look.doubtful]
        assert held.url == tidy(WOO.url(GOODS[60]))
        assert doubts(book, html) == {}

    def test_a_source_that_few_pages_lacked_is_no_rule(self):
        book = taught(structured=True, count=20)
        assert doubts(book, WOO.page(GOODS[60], False)) == {}
        assert set(doubts(taught(structured=True), WOO.page(GOODS[60], False)).values()) == {
            "source"
        }

    def test_another_currency_is(self):
        html = WOO.page(GOODS[60], False).replace("$", "€")
        assert doubts(taught(), html) == {"currency": "constant"}

    def test_a_currency_that_is_dropped_is_mended(self):
        found = read(GOODS[60], WOO.page(GOODS[60], False).replace("$", ""))
        found.fields.pop("currency", None)
        judged = taught().judge("shop", found)
        assert (found.fields["currency"], found.sources["currency"]) == ("USD", "template")
        assert "currency" not in judged.doubts

    def test_a_price_that_was_always_there_is_missed(self):
        thing = GOODS[60]
        html = WOO.page(thing, False).replace(WOO.words.money(thing.price), "")
        assert doubts(taught(), html)["price"] == "missing"

    def test_what_is_sold_out_may_have_no_price(self):
        thing = GOODS[60]
        html = WOO.page(attrs.evolve(thing, in_stock=False), False)
        assert "price" not in doubts(taught(), html.replace(WOO.words.money(thing.price), ""))

    def test_a_source_that_always_agreed_and_disagrees_now(self):
        thing = GOODS[60]
        html = WOO.page(thing, True).replace(f'"price": "{thing.price}"', '"price": "1.00"')
        assert doubts(taught(structured=True), html)["price"] == "dispute"

    def test_one_name_on_product_after_product(self):
        book = taught()
        kinds = [
            doubts(book, WOO.page(t, False).replace(t.name, "Best offers"), t) for t in GOODS[60:69]
        ]
        assert "name" not in kinds[0]
        assert kinds[-1]["name"] == "repeated"

    def test_one_name_on_pages_that_no_number_tells_apart(self):
        book = taught()
        kinds: list[dict[str, str]] = []
        for thing in GOODS[60:69]:
            found = read(thing, WOO.page(thing, False).replace(thing.name, "Best offers"))
            found.fields["external_id"] = None
            told = book.judge("shop", found).doubts.items()
            kinds.append({name: one.kind for name, one in told})
        assert kinds[-1]["name"] == "repeated"

    def test_one_price_on_product_after_product(self):
        book = taught()
        same = [attrs.evolve(thing, price=Decimal("9.99")) for thing in GOODS[60:69]]
        kinds = [doubts(book, WOO.page(thing, False), thing) for thing in same]
        assert kinds[-1]["price"] == "repeated"

    def test_a_price_that_two_sources_tell_may_repeat(self):
        book = taught(structured=True)
        same = [attrs.evolve(thing, price=Decimal("9.99")) for thing in GOODS[60:69]]
        kinds = [doubts(book, WOO.page(thing, True), thing) for thing in same]
        assert not any("price" in found for found in kinds)

    def test_a_shop_where_one_price_is_usual_has_no_doubts(self):
        book = Book()
        for thing in GOODS:
            same = attrs.evolve(thing, price=Decimal("1.00"))
            assert "price" not in book.judge("shop", read(same, WOO.page(same, False))).doubts or (
                len(GOODS) < 12
            )

    def test_a_shop_of_few_prices_repeats_them_by_chance(self):
        book = Book()
        for number, thing in enumerate(GOODS[:60]):
            price = Decimal(9 + number % 7) if number < 42 or number % 2 else Decimal("9.99")
            priced = attrs.evolve(thing, price=price)
            assert "price" not in book.judge("shop", read(priced, WOO.page(priced, False))).doubts

    def test_a_button_where_words_told_the_stock_before(self):
        drifts = []
        book, thing = taught(shop=LUMA, drifts=drifts), GOODS[60]
        bare = LUMA.page(thing, False).replace(LUMA.words.yes, "Up for grabs")
        kinds = [doubts(book, bare.replace(" in-stock", ""), thing, LUMA) for _ in range(6)]
        assert [kind.get("availability") for kind in kinds] == ["place"] * 6
        assert [drift.kind for drift in drifts if drift.field == "availability"] == ["place"]

    def test_a_shop_with_words_for_the_stock_of_some_products_has_no_doubts(self):
        book = Book()
        for number, thing in enumerate(GOODS):
            page = LUMA.page(thing, False)
            html = page if number % 4 else page.replace(LUMA.words.yes, "")
            assert "availability" not in book.judge("shop", read(thing, html, LUMA)).doubts

    def test_a_word_where_a_button_told_the_stock_before(self):
        book = Book()
        for number, thing in enumerate(GOODS[:66]):
            page = LUMA.page(attrs.evolve(thing, in_stock=number < 60), False)
            html = page.replace(LUMA.words.yes, "")
            assert "availability" not in book.judge("shop", read(thing, html, LUMA)).doubts


class TestConfidence:
    def test_sources_that_agree_are_believed_more(self):
        thing = GOODS[60]
        alone = taught().judge("shop", read(thing, WOO.page(thing, False)))
        several = taught(structured=True).judge("shop", read(thing, WOO.page(thing, True)))
        assert 0.95 < alone.confidence["price"] < 0.97 < several.confidence["price"]

    def test_a_doubtful_value_is_not_believed(self):
        judged = taught().judge(
            "shop", read(GOODS[60], WOO.page(GOODS[60], False).replace("$", "€"))
        )
        assert judged.confidence["currency"] <= 0.3

    def test_what_is_missing_has_none(self):
        found = read(GOODS[0], WOO.page(GOODS[0], False).replace(GOODS[0].sku, ""))
        assert "sku" not in Book().judge("shop", found).confidence


class TestChange:
    def test_a_change_is_told_once_and_learned(self):
        told = []
        book = taught(structured=True, drifts=told)
        kinds = []
        for thing in GOODS[:20]:  # the shop raises its prices, its structured data stays behind
            html = WOO.page(thing, True)
            raised = (thing.price * Decimal("1.1")).quantize(Decimal("0.01"))
            html = html.replace(WOO.words.money(thing.price), WOO.words.money(raised))
            found = read(thing, html)
            kinds.append(book.judge("shop", found).doubts.get("price"))
            last = found.fields["price"], raised
        assert [one.field for one in told] == ["price"]
        assert kinds[0].kind == "dispute"
        assert kinds[-1] is None
        assert last[0] == last[1]  # the price that a visitor sees

    def test_an_instalment_beside_right_structured_data_does_not_win(self):
        book = taught(structured=True)
        for thing in GOODS[:20]:
            month = WOO.words.money((thing.price / 12).quantize(Decimal("0.01")))
            html = WOO.page(thing, True).replace(WOO.words.money(thing.price), month)
            found = read(thing, html)
            book.judge("shop", found)
            assert found.fields["price"] == thing.price

    def test_what_is_gone_is_not_learned_to_be_gone(self):
        told = []
        book = taught(drifts=told)
        pages = [(t, WOO.page(t, False).replace(WOO.words.money(t.price), "")) for t in GOODS]
        assert all(doubts(book, html, t)["price"] == "missing" for t, html in pages)
        assert [one.kind for one in told] == ["missing"]


class TestOddPrices:
    def test_one_price_on_all_pages_is_told_once_and_believed_less(self):
        told = []
        book = Book(told.append)
        for thing in GOODS[:40]:
            same = attrs.evolve(thing, price=Decimal("9.99"))
            judged = book.judge("shop", read(same, WOO.page(same, False)))
        assert [(one.field, one.kind) for one in told] == [("price", "constant")]
        assert judged.confidence["price"] < 0.7
        assert taught().judge(
            "shop", read(GOODS[60], WOO.page(GOODS[60], False))
        ).confidence["price"] > 0.8  # fmt: skip

    def test_sources_that_never_agreed_are_told_of_and_believed_less(self):
        told = []
        book = Book(told.append)
        for thing in GOODS[:40]:
            html = WOO.page(thing, True)
            stale = f'"price": "{thing.price + 7}"'
            found = read(thing, html.replace(f'"price": "{thing.price}"', stale))
            judged = book.judge("shop", found)
        assert [(one.field, one.kind) for one in told] == [("price", "disagree")]
        assert judged.confidence["price"] < 0.5


class TestBook:
    def test_a_profile_survives_storage(self):
        book = taught()
        ((site, cluster, profile, changed),) = book.unsaved(1)
        other = Book()
        assert other.load(site, cluster, json.loads(json.dumps(profile.plain())))
        assert changed is None
        html = WOO.page(GOODS[60], False).replace("$", "€")
        assert doubts(other, html) == {"currency": "constant"}

    @pytest.mark.parametrize("plain", [None, [], {}, {"version": "x"}, {"version": 1, "fields": 3},
                                       {"version": 1, "fields": {"price": {"pages": None}}}])  # fmt: skip
    def test_a_profile_that_is_none_is_not_taken(self, plain):
        assert not Book().load("shop", "c", plain)

    def test_what_is_stored_is_small(self):
        ((_, _, profile, _),) = taught(structured=True, count=60).unsaved(1)
        assert len(json.dumps(profile.plain())) < 6_000

    def test_sites_and_makes_are_bounded(self):
        book = Book()
        for n in range(600):
            book.load(f"site{n}", "c", Profile().plain())
        for n in range(60):
            book.load("one", f"c{n}", Profile().plain())
        assert len(book._sites) == 500
        assert len(book._sites["one"]) == 48

    def test_counts_are_bounded(self):
        book = Book()
        found = read(GOODS[0], WOO.page(GOODS[0], True))
        for n in range(300):
            found.fields["price"] = Decimal(n)
            found.fields["external_id"] = n
            found.fields["name"] = f"Lamp of {n}"
            found.paths["price"] = f"p.x{n}"
            book.judge("shop", found)
        profile = next(iter(book._sites["shop"].values())).profile
        assert WELL_KNOWN < profile.pages < 100  # beyond these one page of eight counts
        assert all(
            len(one.paths) <= 12 and len(one.values) <= 24 for one in profile.fields.values()
        )


def test_what_a_site_did_long_ago_counts_less():
    known, seen = Field(), Observation("EUR", "text", {"text": "EUR"}, "p.price")
    for _ in range(2_001):
        known.learn("currency", seen)
    assert known.pages == known.filled == known.values["EUR"] == known.paths["p.price"] == 1_000


def test_the_parser_is_never_worse_with_templates_than_without():
    result, faults = templates.measure(12)
    assert result["guard"] == 0
    assert result["listings_taken_for_products"] == 0
    assert result["stripped.product"] == result["structured.product"] == 1, faults


def test_an_unchanged_crawl_raises_nothing():
    for shop in (WOO, LUMA):
        assert not drift.calm(shop, False, "", calm_days.unchanged, 60)["doubts"]
        assert not drift.calm(shop, True, "", calm_days.other_prices, 60)["doubts"]


@pytest.mark.parametrize(("name", "structured"), [("instalment", False), ("one_price", True)])
def test_a_changed_template_leaves_the_stored_values_right(name, structured):
    row = drift.changed(WOO, structured, getattr(template_changes, name), "price", 110)
    assert row["noticed"]
    assert row["wrong_rows"] <= 10

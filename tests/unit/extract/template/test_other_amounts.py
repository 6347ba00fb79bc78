"""Another amount stands where the price was, and the price beside it: read right again, or held."""

from copy import deepcopy
from decimal import Decimal
from functools import cache
from typing import Any

import attrs
import pytest

from crawler.extract import extract, parse
from crawler.extract.price.words_beside import says_from
from crawler.extract.template import Book
from crawler.extract.template.observation import Observation
from crawler.extract.template.page_doubts import doubt_of, doubt_of_amounts
from crawler.extract.template.profile import MARKED, Profile, is_sampled
from crawler.extract.template.right_source import right_source
from crawler.extract.template.values_by_place import texts_of, value_at, values
from tests.benchmarks import further_changes, template_changes
from tests.benchmarks.shops import SHOPS, Thing, things

WOO = next(shop for shop in SHOPS if shop.name == "woo")
GOODS = things(160, 3)
STORED = {
    WOO.url(thing): {"name": thing.name, "price": str(thing.price), "sku": thing.sku}
    for thing in GOODS
}


def read(book: Book, thing: Thing, html: str) -> tuple[Any, Any]:
    found = extract(parse(html, WOO.url(thing)))
    judged = book.judge("shop", found)
    for site, urls in list(book.awaited_pages()):
        book.recall(site, {url: STORED.get(url) for url in urls})
    return found, judged


@cache
def _taught() -> Book:
    book = Book()
    for thing in GOODS[:80]:
        read(book, thing, WOO.page(thing, False))
    return book


def taught() -> tuple[Book, list[Any]]:
    book, told = deepcopy(_taught()), []
    book._drifted = told.append
    return book, told


@pytest.mark.parametrize("change", ["net_first", "club_first", "per_piece_first", "bundle_first"])
def test_the_price_is_read_beside_another_amount_where_the_stored_prices_stand(change: str) -> None:
    book, told = taught()
    for thing in GOODS[80:]:
        html = getattr(template_changes, change)(WOO.page(thing, False), thing, WOO)
        found, _ = read(book, thing, html)
    assert found.fields["price"] == thing.price
    assert ("price", "moved") in {(drift.field, drift.kind) for drift in told}


def test_of_two_amounts_that_nothing_marks_the_first_page_is_doubtful() -> None:
    book, _ = taught()
    thing = next(t for t in GOODS[80:] if t.regular is None)
    html = template_changes.club_first(WOO.page(thing, False), thing, WOO)
    found, judged = read(book, thing, html)
    assert found.fields["price"] < thing.price
    assert judged.doubts["price"].kind == "order"


def test_a_sale_that_marks_the_prices_before_is_none_of_them() -> None:
    book, told = taught()
    for thing in GOODS[80:]:
        sale = attrs.evolve(
            thing,
            price=(thing.price * Decimal("0.9")).quantize(Decimal(".01")),
            regular=thing.price,
        )
        found, judged = read(book, sale, WOO.page(sale, False))
        assert found.fields["price"] == sale.price
        assert not judged.doubts
    assert not told


def test_new_prices_alone_move_nothing_though_tiles_show_the_stored_ones() -> None:
    """A tile beside each product shows the stored price of one of four."""
    book, told = taught()
    for number, thing in enumerate(GOODS[80:]):
        now = attrs.evolve(thing, price=thing.price + 3, regular=None)
        other = f"<p><i>{WOO.words.money(thing.price if number % 4 == 0 else Decimal(7))}</i></p>"
        html = WOO.page(now, False).replace("<footer", f"{other}<footer")
        found, _ = read(book, now, html)
        assert found.fields["price"] == now.price
    assert "moved" not in {drift.kind for drift in told}


def test_the_first_pages_of_a_make_know_no_mark_of_a_reduction() -> None:
    observation = Observation(Decimal(8), "text", {"text": Decimal(8)}, "p")
    profile = Profile()
    assert doubt_of_amounts(observation, profile, unmarked="b") is None
    profile.reductions[MARKED] = 20
    doubt = doubt_of_amounts(observation, profile, unmarked="b")
    assert doubt is not None
    assert doubt.kind == "order"
    confirmed = observation._replace(votes={"text": Decimal(8), "json-ld": Decimal(8)})
    assert doubt_of_amounts(confirmed, profile, unmarked="b") is None
    profile.reductions["b"] = 5
    assert doubt_of_amounts(observation, profile, unmarked="b") is None
    assert Profile.of(profile.plain()).reductions == profile.reductions


def test_a_regular_price_in_another_unmarked_place_than_usual_is_none() -> None:
    observation = Observation(Decimal(8), "text", {"text": Decimal(8)}, "p")
    profile = Profile()
    profile.reductions["b"] = 20
    assert doubt_of_amounts(observation, profile, unmarked="b") is None
    assert doubt_of_amounts(observation, profile, unmarked="i") is not None


def test_what_is_left_of_a_price_that_most_pages_lost_is_doubtful() -> None:
    """The price before a reduction stays on the reduced pages, as unmarked as on the pages before."""
    old, none = Observation(Decimal(8), "text", {"text": Decimal(8)}, "p"), (None, None, {}, None)
    profile = Profile()
    stats = profile.fields["price"]
    stats.recent.extend([(None, old)] * 12)
    assert doubt_of_amounts(old, profile, missing=True) is None
    stats.recent.extend([("missing", Observation(*none))] * 7)
    assert getattr(doubt_of_amounts(old, profile, missing=True), "kind", None) == "place"


@pytest.mark.parametrize(
    ("factor", "fee", "source"),
    [("1.1", "0", "text"), ("1.0837", "0", None), ("1", "4.95", None), ("0.84033613", "0", None)],
    ids=["raise", "exchange rate", "fee", "tax"],
)
def test_a_text_that_differs_from_data_by_one_rate_or_fee_is_no_new_price(
    factor: str, fee: str, source: str | None
) -> None:
    stats = Profile().fields["price"]
    for n in range(8):
        price = Decimal("317.41") + 53 * n
        shown = (price * Decimal(factor) + Decimal(fee)).quantize(Decimal("0.01"))
        votes = {"json-ld": price, "text": shown}
        stats.recent.append(("dispute", Observation(price, "json-ld", votes, None)))
    assert right_source("price", stats) == source
    assert right_source("price", stats, shown=True) is None


@pytest.mark.parametrize(("is_lower", "source"), [(True, None), (False, "text")])
def test_a_text_that_is_lower_by_different_rates_is_another_kind_of_price(
    is_lower: bool, source: str | None
) -> None:
    stats = Profile().fields["price"]
    for n in range(8):
        price = Decimal("317.41") + 53 * n
        rate = Decimal(82 + 2 * n if is_lower else 92 + 3 * n) / 100
        votes = {"json-ld": price, "text": (price * rate).quantize(Decimal("0.01"))}
        stats.recent.append(("dispute", Observation(price, "json-ld", votes, None)))
    assert right_source("price", stats) == source


def test_pages_with_other_prices_are_looked_through_now_and_then() -> None:
    """Each fourth page has a new price, as on a day of changes: their texts cost as much as pages."""
    book, reads = taught()[0], 0

    def count(page: Any) -> Any:
        nonlocal reads
        reads += 1
        return texts_of(page)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crawler.extract.template.place_search.texts_of", count)
        for number, thing in enumerate(GOODS[80:] + GOODS[:120]):
            more = Decimal(number % 7 + 1) / 3 if number % 4 == 0 else Decimal(0)
            price = (thing.price + more).quantize(Decimal("0.01"))
            now = attrs.evolve(thing, price=price, regular=None)
            read(book, now, WOO.page(now, False))
    assert 0 < reads <= 24


def test_a_field_that_is_gone_is_missed_on_the_first_pages_after_it_was_learned_anew() -> None:
    profile, none = Profile(), Observation(None, None, {}, None)
    stats = profile.fields["price"]
    for n in range(20):
        stats.learn("price", Observation(Decimal(n + 1), "text", {}, "p"))
    stats.relearn("price", "0 1 p")
    observations = dict.fromkeys(profile.fields, none)
    assert getattr(doubt_of("price", observations, profile), "kind", None) == "missing"
    assert doubt_of("sku", observations, profile) is None


def test_the_sample_has_odd_pages_and_even_ones() -> None:
    sample = [page for page in range(640) if is_sampled(page)]
    assert len(sample) == 80
    assert {page % 8 for page in sample} == set(range(8))


def test_a_template_of_each_second_page_is_mended() -> None:
    book, told = taught()
    for thing in GOODS[80:]:
        html = template_changes.half_instalment(WOO.page(thing, False), thing, WOO)
        found, _ = read(book, thing, html)
        last = found.fields["price"] == thing.price
    assert last
    assert ("price", "moved") in {(drift.field, drift.kind) for drift in told}


def test_a_source_that_differs_from_a_learned_place_does_not_take_it_away() -> None:
    """One cached product in the structured data of all pages."""
    book, kinds = Book(), []
    for number, thing in enumerate(GOODS):
        html = WOO.page(thing, True)
        if number >= 80:
            html = template_changes.one_product_in_data(html, thing, WOO)
        found, judged = read(book, thing, html)
        kinds.append(found.fields["price"] == thing.price and "price" not in judged.doubts)
    assert not kinds[80]
    assert all(kinds[-40:])


def test_facts_before_a_price_with_its_currency_do_not_change_its_place() -> None:
    for facts in range(3):
        rows = "".join(f"<li>{n + 2}</li>" for n in range(facts))
        texts = texts_of(
            parse(f"<h1>Lamp</h1><ul>{rows}<li>$19.90</li></ul>", "https://a.example/")
        )
        (place,) = [at for at, value, _ in values("price", texts) if value == Decimal("19.90")]
        assert place.startswith("0 1 ")
        assert value_at("price", place, texts) == Decimal("19.90")


def test_prices_beside_the_data_s_price_leave_the_data_right() -> None:
    """A price with tax before the price that structured data has, on the reduced pages alone."""
    book, right = Book(), []
    for number, thing in enumerate(GOODS):
        html = WOO.page(thing, True)
        if number >= 80 and thing.regular is not None:
            gross = (thing.price * Decimal("1.19")).quantize(Decimal("0.01"))
            html = template_changes._first(html, thing, WOO, gross)
        found, _ = read(book, thing, html)
        right.append(found.fields["price"] == thing.price)
    assert all(right)


def _from(thing: Thing) -> str:
    return further_changes.from_only(WOO.page(thing, False), thing, WOO)


def test_a_price_behind_from_is_doubted_where_no_price_stood_behind_it() -> None:
    book, told = taught()
    for thing in GOODS[80:]:
        _, judged = read(book, thing, _from(thing))
        assert judged.doubts["price"].kind == "make"
    assert ("price", "make") in {(drift.field, drift.kind) for drift in told}


@pytest.mark.parametrize("text", ["Was {}", "Current bid: {}", "{} / 100 g", "Total on credit {}"])
def test_a_price_beside_words_that_no_page_had_is_doubted(text: str) -> None:
    book, told = taught()
    for thing in GOODS[80:]:
        shown = WOO.words.money(thing.price)
        other = text.format(WOO.words.money(thing.price * 2))
        found, judged = read(book, thing, WOO.page(thing, False).replace(shown, other))
        if found.fields.get("price") is not None:
            assert "price" in judged.doubts
    assert "price" in {drift.field for drift in told}


@pytest.mark.parametrize("text", ["Now {}", "Sale price: {}", "Price: {}"])
def test_a_price_behind_a_word_for_prices_is_none_that_is_doubted(text: str) -> None:
    book, _ = taught()
    for thing in (thing for thing in GOODS[80:] if thing.regular is None):
        shown = WOO.words.money(thing.price)
        sale = text.format(WOO.words.money(thing.price * Decimal("0.8")))
        _, judged = read(book, thing, WOO.page(thing, False).replace(shown, sale))
        assert judged.doubts.get("price") is None or judged.doubts["price"].kind != "make"


def test_words_that_differ_from_page_to_page_tell_nothing_of_a_price() -> None:
    book = Book()
    for thing in GOODS:
        shown = WOO.words.money(thing.price)
        named = f"{thing.name.rpartition(' ')[0]} {shown}"
        _, judged = read(book, thing, WOO.page(thing, False).replace(shown, named))
        assert "price" not in judged.doubts


def test_prices_behind_from_that_are_stored_are_believed() -> None:
    book, _ = taught()
    thing = GOODS[80]
    found = extract(parse(_from(thing), WOO.url(thing)))
    assert "price" in book.judge("shop", found).doubts
    url, price = WOO.url(thing), found.fields["price"]
    book.recall("shop", {url: {"name": thing.name, "price": str(price)}})
    make = next(iter(book._sites["shop"].values()))
    _, judged = read(book, thing, _from(thing))
    assert "price" not in judged.doubts
    assert "from" in Profile.of(make.profile.plain()).words


def test_prices_behind_from_on_a_shop_s_first_pages_are_its_own() -> None:
    book = Book()
    for number, thing in enumerate(GOODS):
        html = _from(thing) if number % 10 == 3 else WOO.page(thing, False)
        _, judged = read(book, thing, html)
        assert "price" not in judged.doubts


def test_structured_data_keeps_the_price_where_the_page_shows_the_cheapest_variant_s() -> None:
    book = Book()
    for number, thing in enumerate(GOODS):
        html = WOO.page(thing, True)
        html = further_changes.from_only(html, thing, WOO) if number >= 80 else html
        found, judged = read(book, thing, html)
        assert found.fields["price"] == thing.price
        assert "price" not in judged.doubts


def test_the_page_shows_the_price_where_the_data_of_some_pages_are_stale():
    def read(n: int, stated: int, note: str = "") -> Any:
        data = f'{{"@type": "Product", "name": "Lamp {n}", "sku": "L{n}", "offers": {{"price": {stated}, "priceCurrency": "EUR", "availability": "InStock"}}}}'
        body = f"<h1>Lamp {n}</h1><div><span>{n + 40}.00 EUR</span></div><p>{note}</p><button>Add to cart</button>"
        html = f"<html><body><script type='application/ld+json'>{data}</script>{body}"
        url = f"https://oak.example/lamp-{n}"
        result = extract(parse(html, url))
        judged = book.judge("oak", result)
        return result.fields["price"], "price" in judged.doubts

    book = Book()
    for n in range(1, 21):
        read(n, n + 40 if n % 5 else n + 44)
    assert read(25, 69) == (65, False)
    assert read(26, 69, "With shade 69 EUR")[0] == 69
    assert {url for url, _ in book.pages_to_reread("oak")} >= {"https://oak.example/lamp-5"}


def _reduced(regular: str, price: str) -> tuple[Thing, str]:
    thing = next(thing for thing in GOODS[80:] if thing.regular and thing.in_stock)
    html, money = WOO.page(thing, False), WOO.words.money
    start, end = (
        html.index('<p class="price">'),
        html.index("</p>", html.index('<p class="price">')),
    )
    assert thing.regular is not None
    club = money((thing.price * Decimal("0.9")).quantize(Decimal("0.01")))
    texts = {"regular": money(thing.regular), "price": money(thing.price), "club": club}
    shown = f'<p class="price">{regular}{price}'.format(**texts)
    return thing, html[:start] + shown + html[end:]


def test_a_reduced_price_in_a_new_place_is_doubtful_beside_one_in_the_usual_place() -> None:
    club = "<div class=v2><span class=offer>{club}</span></div>"
    box = '<ins><span class="woocommerce-Price-amount amount"><bdi>{price}</bdi></span></ins>'
    thing, html = _reduced("<del>{regular}</del>", club + box)
    found, judged = read(taught()[0], thing, html)
    assert found.fields["price"] != thing.price
    assert judged.doubts["price"].kind == "place"


def test_a_sale_may_have_its_prices_in_a_place_of_its_own() -> None:
    flash = "<div class=flash><em>{price}</em> <s>{regular}</s></div>"
    thing, html = _reduced("", flash)
    found, judged = read(taught()[0], thing, html)
    assert found.fields["price"] == thing.price
    assert "price" not in judged.doubts


@pytest.mark.parametrize("words", ["A partire da € ", "da ", "alkaen ", "nuo ", "alates "])
def test_languages_have_words_of_their_own_for_the_cheapest_variant(words: str) -> None:
    assert says_from(words)


@pytest.mark.parametrize(
    ("price", "votes"),
    [("30", {"opengraph": Decimal(31)}), ("0", {"text": Decimal(31)}), ("30", {"text": None})],
)
def test_a_page_without_one_of_two_prices_decides_nothing_about_the_others(
    price: str, votes: dict[str, Any]
) -> None:
    stats = Profile().fields["price"]
    for n in range(5):
        prices = {"json-ld": Decimal(10 + n), "text": Decimal(11 + 2 * n)}
        stats.recent.append(("dispute", Observation(prices["json-ld"], "json-ld", prices, None)))
    votes = {"json-ld": Decimal(price), **votes}
    stats.recent.append(("dispute", Observation(Decimal(price), "json-ld", votes, None)))
    assert right_source("price", stats) == "text"

"""Structured data of another product, of one product or of last week, and what is believed then."""

from collections.abc import Callable
from typing import Any

import pytest

from crawler.extract import extract, parse
from crawler.extract.template import Book
from crawler.extract.template.observation import Observation
from crawler.extract.template.page_doubts import FOREIGN, foreign_doubts
from crawler.extract.template.profile import Profile
from tests.benchmarks import further_changes, template_changes
from tests.benchmarks.shops import SHOPS, Shop, Thing, things

SHOP_OF = {shop.name: shop for shop in SHOPS}
GOODS = things(120, 5)
_START = 80
Change = Callable[[str, Thing, Shop], str]


def crawl(shop: Shop, change: Change) -> tuple[list[tuple[Thing, Any, Any]], list[Any]]:
    """Read the pages since a change; return each with its judgement, and what was reported."""
    told: list[Any] = []
    book, pages = Book(told.append), []
    for number, thing in enumerate(GOODS):
        html = shop.page(thing, structured=True)
        html = change(html, thing, shop) if number >= _START else html
        found = extract(parse(html, shop.url(thing)))
        judged = book.judge("shop", found)
        if number >= _START:
            pages.append((thing, found, judged))
    return pages, told


def test_values_of_a_source_that_names_another_product_are_doubted() -> None:
    pages, _ = crawl(SHOP_OF["next"], further_changes.other_data)
    assert {judged.doubts["price"].kind for _, _, judged in pages} == {FOREIGN}
    assert "names another product" in pages[0][2].doubts["price"].reason


def test_the_visible_price_is_believed_where_structured_data_is_another_product_s() -> None:
    pages, _ = crawl(SHOP_OF["woo"], further_changes.other_data)
    for thing, found, judged in pages[20:]:
        assert found.fields["price"] == thing.price
        assert "price" not in judged.doubts


def test_a_name_that_only_one_tag_has_otherwise_makes_no_price_doubtful() -> None:
    def other_tag(html: str, thing: Thing, shop: Shop) -> str:
        return html.replace(f'og:title" content="{thing.name}', 'og:title" content="Our shop')

    pages, _ = crawl(SHOP_OF["woo"], other_tag)
    assert not any("price" in judged.doubts for _, _, judged in pages)


@pytest.mark.parametrize("shop", ["woo", "luma"])
def test_one_price_of_structured_data_gives_way_to_the_visible_ones(shop: str) -> None:
    pages, _ = crawl(SHOP_OF[shop], template_changes.one_product_in_data)
    for thing, found, judged in pages[20:]:
        assert found.fields["price"] == thing.price
        assert "price" not in judged.doubts


def test_sources_that_differ_on_some_pages_are_reported_once() -> None:
    pages, told = crawl(SHOP_OF["cart"], further_changes.week_old_data)
    disputes = [judged for _, _, judged in pages if "price" in judged.doubts]
    assert 6 <= len(disputes) < len(pages) / 2
    assert [(d.field, d.kind) for d in told].count(("price", "dispute")) == 1


@pytest.mark.parametrize(
    ("title", "doubted"), [("Oak Bench | Shop", ["availability"]), ("Shop", []), ("Sofa", [])]
)
def test_heading_and_title_name_the_page_where_the_name_is_read_from_a_learned_place(
    title: str, doubted: list[str]
) -> None:
    nothing = Observation(None, None, {}, None)
    observations = {
        "name": Observation(
            "Oak Bench", "template", {"json-ld": "Sofa", "heading": "Oak Bench"}, None
        ),
        "availability": Observation("OutOfStock", "json-ld", {"json-ld": "OutOfStock"}, None),
        "price": nothing,
        "sku": nothing,
    }
    doubts = dict(foreign_doubts(observations, Profile(), title))
    assert [*doubts] == doubted

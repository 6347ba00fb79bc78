"""Doubtful values in PostgreSQL: the clean row keeps the last good one, a later look decides."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg2
import pytest
from scrapy.settings import Settings

from crawler.commands.quality import Command
from crawler.extract.template import Book
from crawler.extract.template.profile import Profile
from crawler.learned_sites import Templates
from crawler.stores.dead_ends import DeadEnd, read_dead_ends, write_dead_ends
from crawler.stores.doubtful import accept
from crawler.stores.gone_products import finish_site
from crawler.stores.products import write_products
from crawler.stores.rows import ProductRow
from crawler.stores.template_rows import (
    TemplateRow,
    read_templates,
    stored_before,
    write_templates,
)
from tests.helpers import execute
from tests.integration.storage.kit import HOUR, T0, row, rows_of

pytestmark = pytest.mark.postgres
PLACE = {"price": ["place", "it stands elsewhere"]}


def write(database: str, *rows: ProductRow) -> dict[str, int]:
    with psycopg2.connect(database) as connection, connection.cursor() as cursor:
        return dict(write_products(cursor, rows, HOUR))


def page(number: int = 1, hours: float = 0, **fields: Any) -> ProductRow:
    made = {"confidence": {"price": 0.8}} | fields
    return row(number, at=T0 + timedelta(hours=hours), **made)


def prices(database: str) -> list[Any]:
    return rows_of(database, "SELECT price, currency FROM products ORDER BY external_id")


def test_a_doubtful_price_leaves_the_last_good_one(database: str) -> None:
    write(database, page())
    counts = write(database, page(hours=1, price=Decimal("3.00"), doubts=PLACE))
    assert prices(database) == [(Decimal("9.99"), "EUR")]
    assert counts["doubtful"] == 1
    told = "SELECT field, kind, reason, value #>> '{}', kept #>> '{}' FROM doubtful"
    assert rows_of(database, told) == [("price", "place", "it stands elsewhere", "3.00", "9.99")]
    assert rows_of(database, "SELECT count(*) FROM product_versions") == [(0,)]


@pytest.mark.parametrize("junk", ["call us", "NaN"])
def test_an_item_that_somebody_edited_stops_no_writer(database: str, junk: str) -> None:
    """A text for a price in a stored item ended the transaction, and with it each later batch."""
    write(database, page())
    execute(database, f"UPDATE products SET item = jsonb_set(item, '{{price}}', '\"{junk}\"')")
    # The whole stored item is looked at where a page tells anything doubtful.
    write(database, page(hours=1, price=Decimal("3.00"), doubts={"brand": PLACE["price"]}))
    assert prices(database) == [(Decimal("3.00"), "EUR")]


def test_a_page_with_a_doubt_still_counts_as_seen(database: str) -> None:
    write(database, page())
    write(database, page(hours=2, price=Decimal("3.00"), doubts=PLACE))
    assert rows_of(database, "SELECT scraped_at FROM products") == [(T0 + timedelta(hours=2),)]


def test_the_other_fields_of_such_a_page_are_stored(database: str) -> None:
    write(database, page())
    write(database, page(hours=1, price=Decimal("3.00"), brand="Lumo", doubts=PLACE))
    told = "SELECT price, brand, item ->> 'price' FROM products"
    assert rows_of(database, told) == [(Decimal("9.99"), "Lumo", "9.99")]


def test_a_later_look_that_tells_the_same_is_believed(database: str) -> None:
    write(database, page())
    for hours in (1, 3):
        write(database, page(hours=hours, price=Decimal("3.00"), doubts=PLACE))
    assert prices(database) == [(Decimal("3.00"), "EUR")]
    assert rows_of(database, "SELECT count(*) FROM doubtful") == [(0,)]


def test_a_value_without_doubt_settles_the_one_before(database: str) -> None:
    write(database, page())
    write(database, page(hours=1, price=Decimal("3.00"), doubts=PLACE))
    write(database, page(hours=2, price=Decimal("9.50")))
    assert prices(database) == [(Decimal("9.50"), "EUR")]
    assert rows_of(database, "SELECT count(*) FROM doubtful") == [(0,)]


def test_a_page_that_is_read_again_as_it_is_stored_settles_its_doubt(database: str) -> None:
    """What was asked for again, because its template is known since, is mostly unchanged."""
    write(database, page())
    write(database, page(hours=1, price=Decimal("3.00"), doubts=PLACE))
    write(database, page(hours=1.1))
    assert prices(database) == [(Decimal("9.99"), "EUR")]
    assert rows_of(database, "SELECT count(*) FROM doubtful") == [(0,)]


def test_a_new_product_is_stored_without_what_is_doubtful(database: str) -> None:
    write(database, page(price=Decimal("3.00"), doubts=PLACE))
    assert prices(database) == [(None, None)]


def test_a_new_product_whose_name_is_doubtful_is_not_stored(database: str) -> None:
    write(database, page(doubts={"name": ["repeated", "nine products have it"]}), page(2))
    assert rows_of(database, "SELECT external_id FROM products") == [("sku-2",)]
    assert rows_of(database, "SELECT field, value #>> '{}' FROM doubtful") == [("name", "Lamp 1")]


def test_another_page_that_claims_a_products_key_changes_nothing(database: str) -> None:
    write(database, page())
    other = {"url": "https://shop.example/c/all", "name": "Our whole range", "price": Decimal(1)}
    write(database, page(hours=1, **other))
    assert rows_of(database, "SELECT url, name, price FROM products") == [
        ("https://shop.example/p/1", "Lamp 1", Decimal("9.99"))
    ]
    told = "SELECT field, kind, url, value ->> 'name' FROM doubtful"
    assert rows_of(database, told) == [
        ("external_id", "conflict", "https://shop.example/c/all", "Our whole range")
    ]
    assert rows_of(database, "SELECT count(*) FROM product_urls") == [(0,)]


def test_a_product_that_gets_another_name_keeps_its_row_by_its_number(database: str) -> None:
    """Its address had the words of the old name: the new one was refused for a week."""
    address = {"url": "https://shop.example/p/oak-bench"}
    write(database, page(name="Oak bench", sku="A-1", **address))
    write(database, page(hours=1, name="Fjord seat", sku="A-1", **address))
    assert rows_of(database, "SELECT name FROM products") == [("Fjord seat",)]
    assert rows_of(database, "SELECT count(*) FROM doubtful") == [(0,)]


def test_a_page_that_shows_its_product_again_settles_what_it_showed_instead(database: str) -> None:
    """A wall in the shop's template was doubted on each page, and stayed so for weeks."""
    address = {"url": "https://shop.example/p/oak-bench"}
    write(database, page(name="Oak bench", **address))
    write(database, page(hours=1, name="Access denied", **address))
    told = "SELECT field, value ->> 'name' FROM doubtful"
    assert rows_of(database, told) == [("external_id", "Access denied")]
    write(database, page(hours=2, name="Oak bench", **address))
    assert rows_of(database, told) == []


LISTING = {"url": "https://shop.example/c/all", "name": "Our whole range", "price": None}


@pytest.mark.parametrize("hours", [(0, 1), (1, 0)])
@pytest.mark.parametrize("batches", [1, 2])
def test_of_two_pages_with_one_key_the_one_without_a_price_is_doubtful(
    database: str, hours: tuple[int, int], batches: int
) -> None:
    """A listing took the number of its sold row, and came before the product's own page."""
    both = sorted(
        (page(hours=hours[0]), page(hours=hours[1], **LISTING)), key=lambda r: r.scraped_at
    )
    for rows in (both,) if batches == 1 else ((both[0],), (both[1],)):
        write(database, *rows)
    told = "SELECT url, name, price, item ->> 'price' FROM products"
    good = [("https://shop.example/p/1", "Lamp 1", Decimal("9.99"), "9.99")]
    assert rows_of(database, told) == good
    told_doubts = "SELECT field, kind, url, value ->> 'name' FROM doubtful"
    listing = [("external_id", "conflict", "https://shop.example/c/all", "Our whole range")]
    assert rows_of(database, told_doubts) == listing
    write(database, page(hours=3, **LISTING))
    write(database, page(hours=4))
    assert rows_of(database, told) == good
    assert rows_of(database, told_doubts) == listing


def test_items_that_no_template_judged_are_stored_as_they_are(database: str) -> None:
    write(database, row(1))
    write(database, row(1, at=T0 + HOUR, price=Decimal("9999.00")))
    assert prices(database)[0][0] == Decimal("9999.00")


def test_what_an_operator_accepts_is_stored_whatever_is_said_against_it(database: str) -> None:
    write(database, page(1), page(2))
    gone = {"availability": ["repeated", "none of the newest 12 is in stock"]}
    write(database, page(1, hours=1, availability="SoldOut", doubts=gone | PLACE, price=Decimal(3)))
    until = datetime.now(UTC) + HOUR
    assert accept(database, "shop", "availability", until) == 1
    write(database, page(1, hours=2, availability="SoldOut", doubts=gone | PLACE, price=Decimal(4)))
    write(database, page(2, hours=2, availability="SoldOut", doubts=gone))
    told = "SELECT availability, price FROM products ORDER BY external_id"
    assert rows_of(database, told) == [("SoldOut", Decimal("9.99"))] * 2
    assert rows_of(database, "SELECT field FROM doubtful") == [("price",)]
    accept(database, "shop", "price", until - 2 * HOUR)
    write(database, page(1, hours=2.1, availability="SoldOut", doubts=PLACE, price=Decimal(5)))
    assert prices(database)[0][0] == Decimal("9.99")


def test_shapes_that_lead_nowhere_are_kept_until_one_leads_somewhere(database: str) -> None:
    def told(pages: int, minutes: int) -> None:
        at = T0 + timedelta(minutes=minutes)
        with psycopg2.connect(database) as connection, connection.cursor() as cursor:
            write_dead_ends(cursor, [DeadEnd("shop.example:81/ask/*", "shop", pages, at)])

    told(20, 1)
    told(25, 0)  # a slower worker's
    assert [(one.host, one.pages) for one in read_dead_ends(database)] == [("shop.example", 20)]
    told(0, 2)
    assert read_dead_ends(database) == []


def test_a_currency_that_all_of_the_site_tells_again_is_believed(database: str) -> None:
    write(database, page(1), page(2))
    for hours in (1, 3):
        write(
            database, *(page(n, hours=hours, price=Decimal("8.00"), currency="USD") for n in (1, 2))
        )
        stored = [(Decimal("9.99"), "EUR")] if hours == 1 else [(Decimal("8.00"), "USD")]
        assert prices(database) == stored * 2


def test_a_currency_that_changes_with_who_asks_is_never_believed(database: str) -> None:
    write(database, page(1), page(2))
    for hours in (1, 3, 5):
        write(database, page(1, hours=hours, price=Decimal("8.00"), currency="USD"))
        write(database, page(2, hours=hours + 1))
    assert prices(database) == [(Decimal("9.99"), "EUR")] * 2
    assert rows_of(database, "SELECT field, kind, times FROM doubtful") == [
        ("currency", "turned", 3)
    ]


def test_what_repeats_on_all_pages_is_taken_back(database: str) -> None:
    write(database, page())
    write(database, page(hours=1, name="Best offers"))
    doubts = {"name": ["repeated", "six products have it"]}
    write(database, page(hours=1.1, name="Best offers", doubts=doubts))
    assert rows_of(database, "SELECT name FROM products") == [("Lamp 1",)]
    write(database, page(hours=1.2, name="Best offers", doubts=doubts))
    assert rows_of(database, "SELECT name FROM products") == [("Lamp 1",)]


def test_templates_are_shared_and_the_one_that_knows_more_stays(database: str) -> None:
    def template(pages: int, changed: str | None = None) -> TemplateRow:
        return TemplateRow("shop", "c1", 1, pages, b'{"pages":%d}' % pages, changed, T0)

    with psycopg2.connect(database) as connection, connection.cursor() as cursor:
        write_templates(cursor, [template(30, "price: it moved")])
        write_templates(cursor, [template(20), template(10)])
    assert read_templates(database) == [("shop", "c1", {"pages": 30})]
    assert rows_of(database, "SELECT changed FROM site_templates") == [("price: it moved",)]
    assert Profile.of(Profile().plain()).pages == 0


def test_a_products_own_page_is_stored_though_a_newer_one_claims_its_key(database: str) -> None:
    write(database, page())
    own = page(hours=1, price=Decimal("9.50"))
    other = page(hours=1.5, url="https://shop.example/c/all", name="Our whole range")
    write(database, own, other)
    assert prices(database) == [(Decimal("9.50"), "EUR")]


def test_stored_values_are_those_before_a_page_was_stored(database: str) -> None:
    """A page whose values are asked for may have been written meanwhile."""
    now = datetime.now(UTC)
    write(database, row(1, at=now - HOUR, confidence={"price": 0.8}), row(2, at=now - HOUR))
    for minute, price in ((0, "8.00"), (1, "7.00")):
        at = now + timedelta(minutes=minute)
        write(database, row(1, at=at, price=Decimal(price), confidence={"price": 0.8}))
    one, two, none = (f"https://shop.example/p/{n}" for n in (1, 2, 3))
    told = stored_before(database, "shop", [one, two, none])
    for url, name in ((one, "Lamp 1"), (two, "Lamp 2")):
        known = told[url] or {}
        assert (known["name"], known["price"], known["currency"]) == (name, "9.99", "EUR")
        assert known["sku"] is None
    assert told[none] is None
    assert stored_before(database, "another", [one]) == {one: None}


def test_the_price_before_the_stored_one_is_told(database: str) -> None:
    """Prices that return to it are the shop's, and no change of its template."""
    now = datetime.now(UTC)
    for hours, price in ((3, "8.00"), (2, "9.00"), (0, "10.00")):
        write(database, row(1, at=now - hours * HOUR, price=Decimal(price)))
    known = stored_before(database, "shop", ["https://shop.example/p/1"])
    (item,) = known.values()
    assert item is not None
    assert (item["price"], item["earlier_price"]) == ("9.00", "8.00")


async def test_a_book_is_told_the_stored_values_that_it_asks_for(database: str) -> None:
    write(database, row(1))
    told: list[tuple[str, Any]] = []

    class Asking:
        def awaited_pages(self) -> list[tuple[str, list[str]]]:
            return [("shop", ["https://shop.example/p/1", "https://shop.example/p/2"])]

        def recall(self, site: str, stored: Any) -> None:
            told.append((site, stored))

    await Templates(database).recall(Asking())  # type: ignore[arg-type]
    ((site, stored),) = told
    assert site == "shop"
    assert stored["https://shop.example/p/1"]["price"] == "9.99"
    assert stored["https://shop.example/p/2"] is None


async def test_a_book_is_told_the_currencies_that_all_workers_stored(database: str) -> None:
    write(database, *(row(n, currency="USD") for n in range(1, 6)))
    book = Book()
    for n in range(10, 20):
        book.currencies.note("shop", f"https://shop.example/p/{n}", "EUR")

    class Asking:
        currencies = book.currencies

        def awaited_pages(self) -> list[tuple[str, list[str]]]:
            return [("shop", [])]

        def recall(self, site: str, stored: Any) -> None:
            pass

    templates = Templates(database)
    for _ in range(3):
        await templates.recall(Asking())  # type: ignore[arg-type]
    looks = book.currencies.looks("shop")
    assert {look.currency for look in looks} == {"USD"}
    book.currencies.expect("shop", looks[0])
    doubt, news = book.currencies.note("shop", looks[0].url, "EUR")
    assert doubt is not None
    assert "different countries" in news


def test_a_number_that_all_products_changed_makes_no_new_product(database: str) -> None:
    write(database, page(1, sku="A1"))
    doubts = {name: ["changed", "no known product has it"] for name in ("sku", "external_id")}

    def renumbered(hours: float) -> ProductRow:
        return page(1, hours, sku="900", external_id="900", doubts=doubts)

    write(database, renumbered(0.5))
    assert rows_of(database, "SELECT count(*) FROM products") == [(1,)]
    write(database, renumbered(24))
    assert rows_of(database, "SELECT external_id, sku FROM products") == [("sku-1", "900")]


def test_a_page_with_the_name_of_before_is_no_new_product_under_another_number(
    database: str,
) -> None:
    write(database, page(1, sku="A1", external_id="A1", name="Ławka ŻÓŁTA"))
    write(database, page(1, 1, sku="S77", external_id="S77", name="Ławka ŻÓŁTA"))
    assert rows_of(database, "SELECT external_id, sku FROM products") == [("A1", "S77")]
    write(database, page(1, 2, sku="B2", external_id="B2", name="Another thing"))
    assert rows_of(database, "SELECT count(*) FROM products") == [(2,)]


def test_a_further_variant_with_its_pages_name_is_a_product_of_its_own(database: str) -> None:
    of_one_page = [page(1, sku=sku, external_id=sku) for sku in ("A1", "B1")]
    write(database, *of_one_page)
    write(database, page(1, 1, sku="D1", external_id="D1"))
    assert rows_of(database, "SELECT external_id FROM products ORDER BY 1") == [
        ("A1",),
        ("B1",),
        ("D1",),
    ]


def test_a_price_of_0_leaves_the_stored_one_at_first(database: str) -> None:
    write(database, page())
    write(database, page(hours=1, price=Decimal(0)))
    assert prices(database) == [(Decimal("9.99"), "EUR")]
    assert rows_of(database, "SELECT kind FROM doubtful") == [("jump",)]
    write(database, page(hours=3, price=Decimal(0)))
    assert prices(database) == [(Decimal(0), "EUR")]


def test_a_template_s_far_prices_are_not_accepted_when_they_are_seen_again(database: str) -> None:
    doubts = {"price": ["changed", "each price is far from the stored one"]}
    near, far = page(1), page(2)
    write(database, near, far)
    for hours in (1, 3):
        write(database, page(1, hours, price=Decimal("8.99"), doubts=doubts))
        write(database, page(2, hours, price=Decimal("999.00"), doubts=doubts))
    assert prices(database) == [(Decimal("8.99"), "EUR"), (Decimal("9.99"), "EUR")]


def test_a_value_that_two_crawls_have_is_not_taken_back_by_the_second_one(
    database: str,
) -> None:
    """All names changed: the second crawl notices it anew, and reads its first pages again."""
    doubts = {"name": ["changed", "no product that is known has the name of before"]}
    old = page(name="Lampa")
    write(database, old)
    write(database, page(hours=1, name="Lamp", doubts=doubts))
    assert rows_of(database, "SELECT name FROM products") == [("Lampa",)]
    began = T0 + timedelta(hours=24)
    write(database, page(hours=24.1, name="Lamp"))
    stored = stored_before(database, "shop", [str(old.url)])[str(old.url)]
    assert stored is not None
    assert stored["doubted"] == {"name": "Lamp"}
    write(database, page(hours=24.2, name="Lamp", doubts=doubts))
    assert rows_of(database, "SELECT name FROM products") == [("Lamp",)]
    finish_site(database, "shop", began)
    assert rows_of(database, "SELECT count(*) FROM doubtful") == [(0,)]


class TestCommand:
    """`scrapy quality SITE --accept FIELD`."""

    def type(self, database: str, *words: str) -> Command:
        command = Command()
        command.settings = Settings({"DATABASE_URL": database})
        parser = argparse.ArgumentParser()
        command.add_options(parser)
        options, args = parser.parse_known_args(list(words))
        command.run(args, options)
        return command

    def test_it_says_until_when_and_how_many_values_wait(
        self, database: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(database, page())
        write(database, page(hours=1, price=Decimal("3.00"), doubts=PLACE))
        assert self.type(database, "shop", "--accept", "price").exitcode == 0
        said = capsys.readouterr().out
        assert "shop: any price of pages that are read until" in said
        assert "UTC is stored (1 doubtful value so far)" in said
        write(database, page(hours=1.1, price=Decimal("4.00"), doubts=PLACE))
        assert prices(database)[0][0] == Decimal("4.00")

    def test_a_site_that_is_not_known_is_an_error(
        self, database: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert self.type(database, "shpo", "--accept", "price").exitcode == 1
        assert "no products of site 'shpo'" in capsys.readouterr().err

"""The end of a crawl: what is gone is marked, twins become one, nothing else is touched."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crawler.stores.content_hash import MEANINGFUL
from crawler.stores.gone_products import Finished, find_unseen
from crawler.stores.gone_products import finish_site as finish_once
from crawler.stores.products import mark_vanished
from crawler.stores.rows import ProductRow, Vanished
from crawler.stores.same_product import twin
from scrapy_seine.errors import StoreUnreachable
from scrapy_seine.sinks.postgres.batches import Limits
from scrapy_seine.sinks.postgres.database import transaction
from tests.integration.storage.kit import T0, desk, product, row, rows_of

pytestmark = pytest.mark.postgres
GTIN = "4006381333931"
MINUTE = timedelta(minutes=1)


def store(database: str, *rows: ProductRow) -> None:
    with desk(database, Limits(age_s=0.01)) as made:
        for one in rows:
            made.put(one)


def finish_site(database: str, *about: Any, **more: Any) -> Finished:
    done = finish_once(database, *about, **more)
    assert done is not None
    return done


def miss(database: str, *numbers: int, at: datetime = T0 + 2 * MINUTE, final: bool = False) -> None:
    """Their own pages are not there."""
    rows = [Vanished("shop", f"https://shop.example/p/{n}", at, final) for n in numbers]
    with transaction(database) as connection, connection.cursor() as cursor:
        mark_vanished(cursor, rows)


def show_none(database: str, *numbers: int, at: datetime, blank: bool = False) -> None:
    """Their own pages show no product, with status 200."""
    rows = [
        Vanished(
            "shop", f"https://shop.example/p/{n}", at, final=False, may_pass=True, is_blank=blank
        )
        for n in numbers
    ]
    with transaction(database) as connection, connection.cursor() as cursor:
        mark_vanished(cursor, rows)


def unseen(database: str, start: datetime, job: str | None = None) -> list[str]:
    return [found.external_id for found in find_unseen(database, "shop", start, job_id=job)]


def test_day_two_notes_exactly_the_visible_changes_and_what_is_gone(database: str) -> None:
    """Both days within the freshness window: what is unchanged is not even touched."""
    store(database, *(row(n, job_id="day1") for n in range(20)))
    before = dict(rows_of(database, "SELECT external_id, xmin::text FROM products"))
    start = T0 + MINUTE
    same = [row(n, at=start, job_id="day2") for n in range(10)]
    changed = [row(n, at=start, job_id="day2", price=f"{n}.50") for n in range(10, 15)]
    new = [row(n, at=start, job_id="day2") for n in range(20, 23)]
    store(database, *same, *changed, *new)
    assert sorted(unseen(database, start, "day2")) == [f"sku-{n}" for n in range(15, 20)]
    miss(database, *range(15, 20))
    assert unseen(database, start, "day2") == []
    done = finish_site(database, "shop", start, job_id="day2")

    assert (done.known, done.unseen, done.missing, done.gone) == (23, 5, 5, 5)
    gone = rows_of(database, "SELECT external_id FROM products WHERE gone_at IS NOT NULL")
    assert sorted(key for (key,) in gone) == [f"sku-{n}" for n in range(15, 20)]
    versions = rows_of(database, "SELECT external_id, field, new FROM product_versions")
    assert sorted(versions) == [(f"sku-{n}", "price", f"{n}.50") for n in range(10, 15)]
    after = dict(rows_of(database, "SELECT external_id, xmin::text FROM products"))
    assert all(after[f"sku-{n}"] == before[f"sku-{n}"] for n in range(10))


def test_a_page_that_shows_no_product_makes_it_gone_when_a_later_crawl_finds_it_so(
    database: str,
) -> None:
    """A fault that some pages of a shop showed with status 200 made their products gone."""
    first = datetime.now(UTC) - timedelta(days=3)
    store(database, *(row(n, at=first) for n in range(6)))
    told = "SELECT external_id, field, kind, kept #>> '{}' FROM doubtful ORDER BY 1"
    for day in (1, 2):
        start = first + timedelta(days=day)
        seen = range(2, 6) if day == 1 else (0, *range(2, 6))
        shown = {"price": f"9.9{day}", "confidence": {"price": 0.9}}
        store(database, *(row(n, at=start + MINUTE, **shown) for n in seen))
        for minute in (1, 2):  # a page without a product is asked for twice
            show_none(database, *({0, 1} - {*seen}), at=start + minute * MINUTE)
        assert unseen(database, start) == []
        done = finish_site(database, "shop", start)
        assert (done.missing, done.gone) == ((2, 0), (1, 1))[day - 1]
        expected = [(f"sku-{n}", "availability", "absent", None) for n in (0, 1)]
        assert rows_of(database, told) == (expected if day == 1 else [])
    gone = rows_of(database, "SELECT external_id FROM products WHERE gone_at IS NOT NULL")
    assert gone == [("sku-1",)]


def test_a_blank_page_makes_no_product_gone_however_many_crawls_find_it(database: str) -> None:
    first = datetime.now(UTC) - timedelta(days=3)
    store(database, *(row(n, at=first) for n in range(4)))
    for day in (1, 2, 3):
        start = first + timedelta(days=day, minutes=-5)
        store(database, *(row(n, at=start + MINUTE) for n in range(2, 4)))
        show_none(database, 0, at=start + MINUTE, blank=day < 3)
        show_none(database, 1, at=start + MINUTE, blank=True)
        assert finish_site(database, "shop", start).gone == 0
    told = "SELECT external_id, kind, reason FROM doubtful ORDER BY 1"
    assert rows_of(database, told) == [
        ("sku-0", "absent", "its page shows no product"),
        ("sku-1", "absent", "its page is blank"),
    ]


def test_products_that_exchanged_their_addresses_lead_to_their_own_pages(database: str) -> None:
    """Their values are unchanged, so that no row was written, and each led to another product."""
    store(database, *(row(n) for n in range(4)))
    start = T0 + MINUTE
    moved = [row(n, at=start, url=f"https://shop.example/p/{(n + 1) % 3}") for n in range(3)]
    for one in (*moved, row(3, at=start, url="https://shop.example/sale/3")):
        store(database, one)  # as several workers do
    finish_site(database, "shop", start)
    told = "SELECT external_id, url, item ->> 'url' FROM products ORDER BY 1"
    assert rows_of(database, told) == [
        (f"sku-{n}", url, url)
        for n, url in enumerate(f"https://shop.example/p/{n}" for n in (1, 2, 0, 3))
    ]


def test_a_worker_whose_clock_is_behind_makes_nothing_gone(database: str) -> None:
    store(database, row(1, at=T0 - MINUTE, job_id="j"), row(2, at=T0 + MINUTE, job_id="j"))
    assert unseen(database, T0, "j") == []
    assert finish_site(database, "shop", T0, job_id="j").unseen == 0


def test_what_is_unseen_and_does_not_say_that_it_is_gone_stays(database: str) -> None:
    """A dead letter of a listing costs no product its life, nor keeps another one's page alive."""
    store(database, *(row(n) for n in range(10)))
    store(database, row(1, at=T0 + MINUTE))
    miss(database, 2, 3)
    done = finish_site(database, "shop", T0 + MINUTE)
    assert (done.unseen, done.missing, done.gone) == (9, 2, 2)


def test_a_shop_whose_pages_are_almost_all_missing_marks_nothing(database: str) -> None:
    store(database, *(row(n) for n in range(10)))
    miss(database, *range(1, 7))
    done = finish_site(database, "shop", T0 + MINUTE)
    assert (done.missing, done.gone) == (6, 0)


def test_what_was_missing_before_the_crawl_or_seen_after_it_is_not_gone(database: str) -> None:
    store(database, *(row(n) for n in range(10)))
    miss(database, 1, at=T0 + MINUTE)
    miss(database, 2)
    store(database, row(2, at=T0 + 3 * MINUTE))
    done = finish_site(database, "shop", T0 + 2 * MINUTE)
    assert (done.unseen, done.missing, done.gone) == (9, 0, 0)


def test_a_page_that_is_back_is_missing_no_more(database: str) -> None:
    store(database, row(1))
    miss(database, 1, final=True)
    assert rows_of(database, "SELECT gone_at IS NULL FROM products") == [(False,)]
    store(database, row(1, at=T0 + 3 * MINUTE))
    assert rows_of(database, "SELECT gone_at, missing_at FROM products") == [(None, None)]


def test_a_job_is_finished_once_by_whoever_comes_first(database: str) -> None:
    store(database, row(1, job_id="j"))
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda _: finish_once(database, "shop", T0, job_id="j"), range(8)))
    assert sum(done is not None for done in made) == 1
    assert rows_of(database, "SELECT count(*) FROM quality") == [(1,)]


def test_a_product_dated_in_the_future_is_not_taken_for_seen(database: str) -> None:
    now = datetime.now(UTC)
    store(database, row(1, at=now + timedelta(days=1)))
    assert unseen(database, now, "j") == ["sku-1"]


def test_unseen_products_are_named_in_pages(database: str) -> None:
    store(database, *(row(n) for n in range(10)))
    found, after = [], ""
    while part := find_unseen(database, "shop", T0 + MINUTE, after=after, limit=3):
        found += part
        after = part[-1].url
    assert len({one.external_id for one in found}) == 10


def test_another_site_is_not_touched(database: str) -> None:
    store(database, row(1, site_id="other"), row(1), row(2, at=T0 + MINUTE), row(3, at=T0 + MINUTE))
    miss(database, 1)
    assert finish_site(database, "shop", T0 + MINUTE).gone == 1
    assert rows_of(database, "SELECT site_id FROM products WHERE gone_at IS NOT NULL") == [
        ("shop",)
    ]


def test_a_page_without_a_sku_is_found_by_its_gtin(database: str) -> None:
    store(database, row(1, sku="A", gtin=GTIN))
    store(database, row(2, external_id="x", gtin=GTIN, name="Lamp 1", at=T0 + MINUTE))
    found = rows_of(database, "SELECT external_id, item ->> 'external_id' FROM products")
    assert found == [("sku-1", "sku-1")]
    assert ("https://shop.example/p/2", "sku-1") in rows_of(
        database, "SELECT url, external_id FROM product_urls"
    )


def test_goods_in_boxes_of_one_page_are_not_told_by_its_address(database: str) -> None:
    box: dict[str, Any] = {"url": "https://shop.example/", "sources": {"external_id": "box"}}
    store(database, row(1, external_id="oak-lamp", name="Oak lamp", sku=None, **box))
    later = row(2, external_id="elm-lamp", name="Elm lamp", sku=None, at=T0 + MINUTE, **box)
    store(database, later)
    found = rows_of(database, "SELECT external_id, name FROM products ORDER BY external_id")
    assert found == [("elm-lamp", "Elm lamp"), ("oak-lamp", "Oak lamp")]


def test_a_page_is_found_by_its_canonical_address(database: str) -> None:
    store(database, row(1))
    store(database, row(2, external_id="x", canonical_url="https://shop.example/p/1"))
    assert rows_of(database, "SELECT external_id FROM products") == [("sku-1",)]


def test_twins_that_two_writers_stored_at_once_are_merged_at_the_end(database: str) -> None:
    one, two = row(1, gtin=GTIN), row(2, external_id="x", gtin=GTIN, at=T0 + MINUTE)
    store(database, one, two, row(3, gtin=GTIN, sku="other"))  # one batch
    assert finish_site(database, "shop", T0).merged == 2
    assert rows_of(database, "SELECT external_id FROM products") == [("sku-1",)]
    store(database, two)
    assert rows_of(database, "SELECT external_id FROM products") == [("sku-1",)]


@pytest.mark.parametrize(
    ("candidates", "key"),
    [
        ([], None),
        ([("a", None, None)], "a"),
        ([("a", "other", None)], None),
        ([("a", None, "0000000000017")], None),
        ([("a", "s", None), ("b", None, GTIN)], "b"),
        ([("b", "s", None), ("a", "s", None)], "a"),
    ],
)
def test_a_sku_or_gtin_that_differs_outweighs_the_address(
    candidates: list[tuple[str, str | None, str | None]], key: str | None
) -> None:
    assert twin(row(sku="s", gtin=GTIN), candidates) == key


def test_the_database_compares_the_fields_that_the_digest_covers(database: str) -> None:
    """The trigger names what to leave out; anything else in an item must be in the digest."""
    source = rows_of(database, "SELECT prosrc FROM pg_proc WHERE proname = 'seine_note_changes'")
    left_out = [name for name in product().__annotations__ if f"'{name}'" in source[0][0]]
    assert sorted([*left_out, *MEANINGFUL]) == sorted(product().__annotations__)


def test_an_unreachable_database_is_one_clear_error() -> None:
    with pytest.raises(StoreUnreachable, match="DATABASE_URL"):
        finish_site("postgresql://127.0.0.1:1/none", "shop", T0)

"""Pages that are unchanged: which rows count as fresh, and how often a product changes."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import attrs
import psycopg2
import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.statscollectors import MemoryStatsCollector

from crawler.conditional_headers import KEY
from crawler.storage import storage_of
from crawler.stores.products import confirm_products, mark_vanished, write_products
from crawler.stores.rows import Confirmed, PageValidators, ProductRow, Vanished
from middlewares.conditional import Answer
from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.model import Lease
from scrapy_seine.sinks.postgres.database import transaction
from tests.helpers import wait_until_async
from tests.integration.storage.kit import HOUR, T0, row, rows_of

pytestmark = pytest.mark.postgres
DAY = timedelta(days=1)
A, B = PageValidators(etag='"a"', parser="p1"), PageValidators(etag='"b"', parser="p1")


def seen(made: ProductRow, state: PageValidators | None) -> ProductRow:
    return attrs.evolve(made, validators=state)


def write(database: str, *rows: ProductRow) -> None:
    with transaction(database) as connection, connection.cursor() as cursor:
        write_products(cursor, rows, HOUR)


def confirm(
    database: str, at: datetime, state: PageValidators = A, number: int = 1
) -> dict[str, int]:
    page = Confirmed("shop", f"https://shop.example/p/{number}", at, "job-2", state)
    with transaction(database) as connection, connection.cursor() as cursor:
        return dict(confirm_products(cursor, [page]))


def test_an_unchanged_page_makes_its_product_fresh_again(database: str) -> None:
    write(database, seen(row(), A))
    assert confirm(database, T0 + DAY) == {"confirmed": 1, "unmatched": 0}
    assert rows_of(
        database,
        "SELECT scraped_at, job_id, gone_at, observed_s, changed_after, etag, parser FROM products",
    ) == [(T0 + DAY, "job-2", None, 86400.0, [], '"a"', "p1")]


async def test_a_lease_ends_when_the_row_is_committed_and_not_before(database: str) -> None:
    write(database, seen(row(), A))
    made: Any = Crawler(FrontierSpider, {"DATABASE_URL": database, "SEINE_BATCH_SECONDS": 0.01})
    made.stats, made.spider = MemoryStatsCollector(made), FrontierSpider(name="x")
    answer, storage, inflight = (
        Answer.from_crawler(made),
        storage_of(made),
        worker_of(made).inflight,
    )
    ended: list[str] = []
    inflight.connect(lambda entry: ended.append(entry.outcome), lambda *_: 1.0)
    await storage.open()
    url = "https://shop.example/p/1"
    state = {"etag": '"a"', "parser": storage.parser(url)}
    request = Request(url, meta={KEY: state, "site_id": "shop", "job_id": "job-2"})
    request.headers["If-None-Match"] = '"a"'
    entry = inflight.begin(
        request, Lease(id="1", token="t", slot_ms=0, deliveries=0, stored=b"1 a\n")
    )
    other = psycopg2.connect(database)
    other.cursor().execute("LOCK TABLE products IN ACCESS EXCLUSIVE MODE")
    with pytest.raises(IgnoreRequest) as ignored:
        answer.process_response(request, Response(url, 304))
    inflight.state_exception(entry, ignored.value)
    inflight.record_finished(request)
    await asyncio.sleep(0.3)
    assert ended == []
    other.rollback()
    other.close()

    async def over() -> bool:
        return bool(ended)

    await wait_until_async(over, 10, "the lease ends")
    assert ended == ["ignored"]
    assert rows_of(database, "SELECT job_id FROM products") == [("job-2",)]
    await storage.close()


def test_another_state_that_was_stored_meanwhile_is_not_confirmed(database: str) -> None:
    write(database, seen(row(), A))
    write(database, seen(row(at=T0 + HOUR, name="new"), B))
    assert confirm(database, T0 + DAY, A) == {"confirmed": 0, "unmatched": 1}
    assert confirm(database, T0 + DAY, B) == {"confirmed": 1, "unmatched": 0}


def test_each_product_of_the_page_that_has_this_state_is_confirmed(database: str) -> None:
    url = "https://shop.example/p/1"
    both = [seen(row(n, url=url), A) for n in (1, 2)]
    write(database, *both, seen(row(3, url=url), B))
    assert confirm(database, T0 + DAY)["confirmed"] == 2
    fresh = rows_of(database, f"SELECT external_id FROM products WHERE scraped_at > '{T0}'")
    assert sorted(fresh) == [("sku-1",), ("sku-2",)]


def test_a_row_that_another_writer_holds_is_seen_without_waiting(database: str) -> None:
    write(database, seen(row(), A))
    with psycopg2.connect(database) as other, other.cursor() as cursor:
        cursor.execute("SELECT 1 FROM products FOR UPDATE")
        confirm(database, T0 + DAY)
        other.rollback()
    other.close()
    assert rows_of(database, "SELECT external_ids, job_id FROM sightings") == [(["sku-1"], "job-2")]


def test_a_page_without_validators_leaves_none_behind(database: str) -> None:
    write(database, seen(row(), A))
    write(database, row(at=T0 + DAY))
    assert rows_of(database, "SELECT etag, parser FROM products") == [(None, None)]


def test_the_validators_of_a_second_address_are_not_those_of_the_first(database: str) -> None:
    write(database, seen(row(), A))
    twin = "https://shop.example/twin/1"
    write(database, seen(row(url=twin, at=T0 + DAY), B))
    assert rows_of(database, "SELECT url, etag FROM products") == [
        ("https://shop.example/p/1", '"a"')
    ]


def test_a_change_that_a_sitemap_announced_is_no_unnoticed_one(database: str) -> None:
    write(database, row())
    write(database, attrs.evolve(row(at=T0 + DAY, name="new"), is_announced=True))
    assert rows_of(database, "SELECT observed_s, changed_after, told FROM products") == [
        (86400.0, [], True)
    ]


def test_a_page_that_is_not_there_marks_its_product_and_no_newer_one(database: str) -> None:
    write(database, row(1), row(2, at=T0 + 2 * DAY))
    pages = [Vanished("shop", f"https://shop.example/p/{n}", T0 + DAY) for n in (1, 2)]
    with transaction(database) as connection, connection.cursor() as cursor:
        assert mark_vanished(cursor, pages)["gone"] == 1
    assert rows_of(database, "SELECT external_id, gone_at FROM products ORDER BY 1") == [
        ("sku-1", T0 + DAY),
        ("sku-2", None),
    ]
    write(database, row(1, at=T0 + 3 * DAY))
    assert rows_of(database, "SELECT count(*) FROM products WHERE gone_at IS NULL") == [(2,)]


def test_looks_and_changes_are_added_up_and_old_changes_forgotten(database: str) -> None:
    for day in range(20):
        write(database, seen(row(at=T0 + day * DAY, name=f"n{day}"), A))
    write(database, row(at=T0 + 21 * DAY, name="n19"))
    ((observed, changed),) = rows_of(database, "SELECT observed_s, changed_after FROM products")
    assert observed == 21 * 86400
    assert changed == [86400.0] * 16

"""A crawl whose database refuses some rows, or all of them for a while, judges each page."""

from __future__ import annotations

import pytest

from crawler.demo.shop_process import served
from tests.acceptance.conftest import Crawl, said
from tests.helpers import execute, wait_until
from tests.integration.storage.test_refusals import guard

pytestmark = pytest.mark.acceptance
PRODUCTS = 60


def test_a_trigger_that_refuses_some_products_costs_these_only(crawl: Crawl) -> None:
    guard(crawl.database_url, "RAISE 'odd lamps';", when="NEW.price::text ~ '[05]$'")
    with served(products=PRODUCTS) as shop:
        crawl.seed(shop.url)
        worker = crawl.start()
        crawl.wait_for_end()
    assert worker.process.returncode == 0, said(worker)
    ((stored,),) = crawl.query("SELECT count(*) FROM products")
    refused = crawl.query("SELECT code, reason FROM rejected_items")
    assert refused
    assert {code for code, _ in refused} == {"P0001"}
    ((urls,),) = crawl.query("SELECT count(DISTINCT item ->> 'external_id') FROM rejected_items")
    assert stored + urls == PRODUCTS
    assert crawl.total("buried") == 0


def test_a_grant_that_is_missing_for_a_while_costs_nothing(crawl: Crawl) -> None:
    with served(products=PRODUCTS) as shop:
        worker = crawl.start()
        wait_until(lambda: "waiting for seeds" in said(worker), 60, "it has looked at the schema")
        execute(crawl.database_url, "ALTER TABLE products RENAME TO away")
        crawl.seed(shop.url)
        wait_until(lambda: "the store accepts no row for products" in said(worker), 60, "it waits")
        execute(crawl.database_url, "ALTER TABLE away RENAME TO products")
        crawl.wait_for_end()
    assert worker.process.returncode == 0, said(worker)
    assert crawl.query("SELECT count(*) FROM products") == [(PRODUCTS,)]
    assert crawl.query("SELECT count(*) FROM rejected_items") == [(0,)]
    assert crawl.total("buried") == 0

"""Listings that say nowhere how long they are: every product is found, and not much is asked."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest

from crawler.demo.pages import Site
from crawler.demo.served import served

pytestmark = [pytest.mark.acceptance, pytest.mark.redis, pytest.mark.postgres]
PRODUCTS = 1500


@pytest.mark.parametrize("beyond", ["last", "redirect"])
def test_every_page_of_a_listing_is_asked_for_and_few_that_are_not_there(crawl, tmp_path, beyond):
    crawl.workers.settings = {**crawl.workers.settings, "SEINE_SITEMAPS": 0}
    with served(products=PRODUCTS, beyond=beyond, log=tmp_path / "visits") as shop:
        crawl.seed(shop.url)
        crawl.start()
        crawl.wait_for_end(120)
        visits = [urlsplit(visit["path"]) for visit in shop.visits()]
    assert crawl.query("SELECT count(*) FROM products") == [(PRODUCTS,)]
    shelves = Site(PRODUCTS).shelves
    there = {
        (f"/c/{name}", page)
        for name, shelf in shelves.items()
        for page in range(-(-len(shelf) // 24))
    }
    asked = [
        (visit.path, int(dict(parse_qsl(visit.query)).get("page", "1")) - 1)
        for visit in visits
        if visit.path.startswith("/c/")
    ]
    assert there <= set(asked)
    print(f"{len(there)} pages of listings, {len(asked)} asked")
    assert len(asked) <= 1.5 * len(there) + len(shelves)
    assert len(visits) <= 1.5 * (PRODUCTS + len(there))

"""Listings that say nowhere how long they are: every product is found, and not much is asked."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest

from crawler.demo.pages import PER_PAGE, Site
from crawler.demo.shop_process import served

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
        for page in range(-(-len(shelf) // PER_PAGE))
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


def test_a_shop_with_traps_is_crawled_whole_from_its_home_page_alone(crawl, tmp_path):
    """Facets, a calendar without an end, session ids: of three pages two at least are useful."""
    with served(products=300, traps=True, log=tmp_path / "visits") as shop:
        crawl.seed(shop.url)
        crawl.start()
        crawl.wait_for_end(120)
        visits = shop.visits()
    assert crawl.query("SELECT count(*) FROM products") == [(300,)]
    pages = sum(-(-len(shelf) // PER_PAGE) for shelf in Site(300).shelves.values())
    print(f"{len(visits)} fetched, {300 + pages} useful")
    assert len(visits) <= 1.5 * (300 + pages)

"""A shop whose facets stand in its paths: each combination of them is a page of its own."""

from __future__ import annotations

import pytest

from tests.acceptance.conftest import said
from tests.acceptance.site import serve_pages

pytestmark = [pytest.mark.acceptance, pytest.mark.redis, pytest.mark.postgres]
PRODUCTS, PER_PAGE = 30, 10
FACETS = ["color-red", "color-blue", "size-small", "size-large", "made-of-oak", "made-of-tin",
          "line-new", "line-old", "room-hall", "room-attic"]  # fmt: skip
BUTTON = "<button>Add to basket</button>"


def listing(path: str, page: int) -> str:
    chosen = path.split("/")[2:]
    shown = [n for n in range(PRODUCTS) if all((n + len(x)) % 5 for x in chosen)]
    tiles = "".join(
        f'<li><a href="/product/lamp-{n}"><img src="/{n}.jpg"><h3>Lamp {n}</h3></a></li>'
        for n in shown[(page - 1) * PER_PAGE : page * PER_PAGE]
    )
    facets = "".join(f'<a href="{path}/{x}/">{x}</a>' for x in FACETS if x not in chosen)
    pager = "".join(
        f'<a href="{path}/page/{n + 1}/">{n + 1}</a>' for n in range(-(-len(shown) // PER_PAGE))
    )
    return f"<html lang=en><h1>All lamps</h1><aside>{facets}</aside><ul>{tiles}</ul>{pager}"


def page(path: str) -> str:
    """Return a page of a shop of ten facets: a thousand combinations, and more orders of them."""
    place, _, number = path.rstrip("/").partition("/page/")
    if path == "/":
        return '<html lang=en><a href="/shop/">Shop</a>'
    if place.startswith("/shop"):
        return listing(place, int(number or 1))
    if place.startswith("/product/"):
        return f"<html lang=en><h1>Lamp {place[14:]}</h1><p class=price>£9.50</p>{BUTTON}"
    return ""


@pytest.mark.parametrize(("workers", "most"), [(1, 8 * PRODUCTS), (3, 40 * PRODUCTS)])
def test_a_crawl_of_a_shop_with_facets_in_its_paths_ends_with_all_products(
    crawl, workers, most
) -> None:
    """A worker of a fleet reads a part of the pages, so that it knows later what is no news."""
    asked: list[str] = []

    def answer(path: str) -> str:
        asked.append(path)
        return page(path)

    with serve_pages(answer) as base:
        crawl.seed(f"{base}/")
        started = [crawl.start() for _ in range(workers)]
        crawl.wait_for_end(60)
    assert crawl.query("SELECT count(*) FROM products") == [(PRODUCTS,)]
    assert len(asked) < most
    assert any("further pages of this place are left out" in said(worker) for worker in started)

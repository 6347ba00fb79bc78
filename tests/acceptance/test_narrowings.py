"""A shop whose facets stand in its paths: each combination of them is a page of its own."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler

import pytest

from tests.acceptance.conftest import said
from tests.helpers import serving

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


class Shop(BaseHTTPRequestHandler):
    """Ten facets, so that there are a thousand combinations, and more orders of them."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        body, (place, _, page) = "", self.path.rstrip("/").partition("/page/")
        if self.path == "/":
            body = '<html lang=en><a href="/shop/">Shop</a>'
        elif place.startswith("/shop"):
            body = listing(place, int(page or 1))
        elif place.startswith("/product/"):
            body = f"<html lang=en><h1>Lamp {place[14:]}</h1><p class=price>£9.50</p>{BUTTON}"
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize(("workers", "most"), [(1, 8 * PRODUCTS), (3, 40 * PRODUCTS)])
def test_a_crawl_of_a_shop_with_facets_in_its_paths_ends_with_all_products(
    crawl, workers, most
) -> None:
    """A worker of a fleet reads a part of the pages, so that it knows later what is no news."""
    Shop.asked = []
    with serving(Shop) as base:
        crawl.seed(f"{base}/")
        started = [crawl.start() for _ in range(workers)]
        crawl.wait_for_end(60)
    assert crawl.query("SELECT count(*) FROM products") == [(PRODUCTS,)]
    assert len(Shop.asked) < most
    assert any("further pages of this place are left out" in said(worker) for worker in started)

"""Shops whose addresses have unusual forms are crawled whole, in no more requests than pages."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import attrs
import pytest

from tests.acceptance.site import serve_pages

pytestmark = [pytest.mark.acceptance, pytest.mark.redis, pytest.mark.postgres]
PRODUCTS, SHELVES, PER_PAGE = 48, ("chairs", "rugs"), 8
NAMES = ["Oak", "Pine", "Tin", "Clay", "Wool", "Glass", "Brass", "Linen"]
BUTTON = "<button>Add to basket</button>"
FOOT = '<footer><a href="/contact">Contact</a> <a href="/terms">Terms</a></footer>'


def name_of(n: int) -> str:
    return f"{NAMES[n % 8]} {'Rug' if n % 2 else 'Chair'} {n}"


@attrs.define
class Shop:
    """Its pages by the forms of its addresses: *n* is a product, *o* the products before a page."""

    product: str
    pager: str
    menu: str
    asked: list[str] = attrs.Factory(list)

    def page(self, path: str) -> str:
        self.asked.append(path)
        place, query = urlsplit(path).path, parse_qs(urlsplit(path).query)
        body = self._body(place, query)
        menu = " ".join(f'<a href="{self.menu.format(shelf=s)}">{s}</a>' for s in SHELVES)
        return body and f"<html lang=en><title>{path}</title><p>{menu}</p>{body}{FOOT}"

    def _body(self, place: str, query: dict[str, list[str]]) -> str:
        if place == "/":
            return "<h1>Welcome</h1>"
        shelf = place.strip("/")
        if shelf in SHELVES:
            return self._listing(shelf, int(query.get("o", ["0"])[0]))
        number = query.get("code", [place.removesuffix(".htm").rpartition("-")[2]])[0]
        if not number.isdigit():
            return "<h1>Contact</h1><p>Write to us.</p>" if place in {"/contact", "/terms"} else ""
        price = f"<p class=price>£{int(number) + 9}.50</p><p>In stock</p>"
        return f"<h1>{name_of(int(number))}</h1>{price}{BUTTON}"

    def _listing(self, shelf: str, begin: int) -> str:
        goods = range(SHELVES.index(shelf), PRODUCTS, len(SHELVES))
        rows = "".join(
            f'<tr><td><a href="{self.product.format(n=n)}">{name_of(n)}</a></td><td>£{n + 9}.50'
            for n in goods[begin : begin + PER_PAGE]
        )
        pages = " ".join(
            f'<a href="{self.pager.format(shelf=shelf, o=o)}">{o // PER_PAGE + 1}</a>'
            for o in range(PER_PAGE, len(goods), PER_PAGE)
            if o != begin
        )
        return f"<h1>{shelf}</h1><table>{rows}</table><p>{pages}</p>"


@pytest.mark.parametrize(
    "shop",
    [
        Shop("/product/detail?code={n}", "/{shelf}?o={o}", "/{shelf}"),
        Shop("/a-{n}?currency=GBP", "/{shelf}?o={o}&amp;currency=GBP", "/{shelf}?currency=GBP"),
        Shop("/2024/05/a-{n}", "/{shelf}?sort=name&amp;o={o}", "/{shelf}?sort=name"),
        Shop("\\goods\\a-{n}.htm", "\\{shelf}?o={o}", "\\{shelf}"),
    ],
    ids=["parameter", "currency", "date and order", "backslash"],
)
def test_a_shop_with_unusual_addresses_is_crawled_whole(crawl, shop) -> None:
    with serve_pages(shop.page) as base:
        crawl.seed(f"{base}/")
        crawl.start()
        crawl.wait_for_end(60)
    assert crawl.query("SELECT count(*) FROM products") == [(PRODUCTS,)]
    assert len(shop.asked) < 1.4 * PRODUCTS

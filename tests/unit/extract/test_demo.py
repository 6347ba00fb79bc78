"""The demo shop walked in memory: what the default parser alone makes of its pages."""

from collections import Counter
from decimal import Decimal
from urllib.parse import urlsplit

import pytest

from crawler.demo.catalogue import ShopProduct
from crawler.demo.pages import Site
from crawler.extract import extract, find_links, parse
from crawler.items import Product

BASE = "http://shop.invalid"


@pytest.fixture(scope="module")
def shop() -> Site:
    return Site()


def walk(shop: Site) -> tuple[list[Product], Counter[str], int]:
    """Crawl the shop from its home page as the spider does: the highest priority first."""
    queue, seen = [(0, 0, BASE + "/")], {BASE + "/"}
    items, kinds, fetched = [], Counter(), 0
    while queue:
        queue.sort()
        _, _, url = queue.pop(0)
        parts = urlsplit(url)
        answer = shop.page(parts.path + ("?" + parts.query if parts.query else ""))
        fetched += 1
        if answer.location:
            answer = shop.page(answer.location)
            url = BASE + answer.location if answer.location else url
        if answer.status != 200:
            continue
        page = parse(answer.body, url, answer.content_type)
        found = extract(page)
        kinds[found.kind] += 1
        product = found.product()
        if product is not None:
            items.append(product)
        for link in find_links(page, allowed=lambda to: to.startswith(BASE)):
            if link.url not in seen and "/admin/" not in link.url:
                seen.add(link.url)
                queue.append((-link.priority, len(seen), link.url))
    return items, kinds, fetched


def wrong_fields(expected: ShopProduct, item: Product) -> dict[str, tuple[object, object]]:
    wanted = expected.expected()
    if expected.markup in {"plain", "opengraph"}:
        wanted["regular_price"] = expected.regular_price
    return {
        name: (getattr(item, name), value)
        for name, value in wanted.items()
        if getattr(item, name) != value
    }


def test_every_product_of_the_shop_is_found_with_every_field_right(shop: Site) -> None:
    items, kinds, fetched = walk(shop)
    by_sku = {item.sku: item for item in items}
    missing = [p.path for p in shop.products if p.sku not in by_sku]
    wrong = {p.path: bad for p in shop.products if (bad := wrong_fields(p, by_sku[p.sku]))}
    assert len(by_sku) == 1000
    assert missing == []
    assert wrong == {}
    assert kinds["listing"] >= 50
    assert fetched < 1.3 * 1000


@pytest.mark.parametrize(
    ("markup", "source"),
    [("json-ld", "json-ld"), ("microdata", "microdata"), ("opengraph", "opengraph"),
     ("plain", "text")],
)  # fmt: skip
def test_each_value_tells_its_source(shop: Site, markup: str, source: str) -> None:
    expected = next(p for p in shop.products if p.markup == markup)
    product = extract(parse(shop.page(expected.path).body, BASE + expected.path)).product()
    assert product is not None
    assert product.sources["price"] == source
    assert isinstance(product.price, Decimal)


def test_a_listing_is_no_product(shop: Site) -> None:
    found = extract(parse(shop.page("/c/tents").body, BASE + "/c/tents"))
    assert found.kind == "listing"
    assert found.product() is None


def test_a_product_page_without_a_name_is_still_an_item(shop: Site) -> None:
    expected = next(p for p in shop.products if p.markup == "json-ld")
    body = shop.page(expected.path).body.decode()
    start = body.index("<title>")
    body = body[:start] + body[body.index("</title>") :]
    name = f'"name": "{expected.name}", "desc'
    assert name in body or "\\u" in body
    body = body.replace('"name": ', '"noname": ', 1).replace("<h1>", "<!--").replace("</h1>", "-->")
    product = extract(parse(body, BASE + expected.path)).product()
    assert product is not None
    assert product.name is None
    assert product.price == expected.price


def test_a_price_of_nothing_gives_way_to_the_one_shown() -> None:
    html = (
        '<script type="application/ld+json">{"@type":"Product","name":"Lamp","offers":{"price":"0",'
        '"priceCurrency":"USD","availability":"InStock"}}</script><h1>Lamp</h1><p class="price">'
    )
    shown = extract(parse(html + "$5.00</p>", BASE + "/p/1")).product()
    free = extract(parse(html + "Free</p>", BASE + "/p/1")).product()
    assert shown is not None
    assert free is not None
    assert (shown.price, shown.sources["price"]) == (Decimal("5.00"), "text")
    assert free.price == 0


def test_a_price_struck_through_belongs_to_the_price_beside_it() -> None:
    html = (
        '<script type="application/ld+json">{"@type":"Product","name":"Lamp","offers":{"price":"9",'
        '"priceCurrency":"USD","availability":"InStock"}}</script><h1>Lamp</h1>'
        '<p class="price"><del>$20.00</del> $%s</p>'
    )
    own, other = (
        extract(parse(html % price, BASE + "/p/1")).product() for price in ("9.00", "15.00")
    )
    assert own is not None
    assert other is not None
    assert (own.price, own.regular_price) == (Decimal("9.00"), Decimal("20.00"))
    assert (other.price, other.regular_price) == (Decimal("15.00"), Decimal("20.00"))

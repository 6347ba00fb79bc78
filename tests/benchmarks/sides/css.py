"""A product page and its links as a Scrapy tutorial reads them: CSS selectors and LinkExtractor."""

from __future__ import annotations

from functools import partial
from typing import Any

from parsel import Selector
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from w3lib.url import url_query_cleaner

from tests.benchmarks.sides import values

LD = 'script[type="application/ld+json"]::text'
clean = partial(url_query_cleaner, parameterlist=values.KEPT)


def extractor(domain: str) -> LinkExtractor:
    """Links within a domain, without tracking parameters."""
    return LinkExtractor(allow_domains=[domain], deny=values.DENIED, process_value=clean)


def product(response: Response) -> dict[str, Any] | None:
    """The product of a page, or None where it shows none."""
    found = _fields(response)
    if found is None:
        return None
    found["url"] = response.url
    found["canonical_url"] = response.css('link[rel="canonical"]::attr(href)').get()
    found["breadcrumbs"] = response.css("nav.breadcrumb a::text").getall()
    found.setdefault("attributes", _others(response))
    before = response.css("del.old-price::text").get()
    found["regular_price"] = values.price(before) if before else None
    return found


def _fields(response: Response) -> dict[str, Any] | None:
    node = values.product_node(response.css(LD).getall())
    if node is not None:
        return values.from_node(node, response.url)
    item = response.css('[itemtype="https://schema.org/Product"]')
    if item:
        return _microdata(item[0], response)
    if response.css('meta[property="og:type"]::attr(content)').get() == "product":
        return _open_graph(response)
    return _visible(response) if response.css("div.product") else None


def _microdata(item: Selector, response: Response) -> dict[str, Any]:
    def text(name: str) -> str | None:
        found = item.css(f'[itemprop="{name}"]::text').get()
        return found.strip() if found else None

    def content(name: str) -> str | None:
        return item.css(f'[itemprop="{name}"]::attr(content)').get()

    stock = item.css('[itemprop="availability"]::attr(href)').get(default="")
    return {
        "name": text("name"),
        "sku": text("sku"),
        "gtin": content("gtin13"),
        "mpn": content("mpn"),
        "brand": item.css('[itemprop="brand"] [itemprop="name"]::text').get() or text("brand"),
        "price": content("price"),
        "currency": content("priceCurrency"),
        "availability": values.stock(stock),
        "description": item.css('[itemprop="description"] p::text').get(),
        "images": [response.urljoin(u) for u in item.css('[itemprop="image"]::attr(src)').getall()],
        "rating": text("ratingValue"),
        "review_count": text("reviewCount"),
    }


def _open_graph(response: Response) -> dict[str, Any]:
    def meta(name: str) -> str:
        return str(response.css(f'meta[property="{name}"]::attr(content)').get(default=""))

    return values.from_open_graph(meta)


def _visible(response: Response) -> dict[str, Any]:
    price = response.css("span.price::text").get(default="")
    return {
        "name": response.css("h1::text").get(),
        "price": values.price(price),
        "currency": values.currency(price),
        "availability": values.stock(response.css("p.stock::text").get(default="")),
        "description": response.css("div.description p::text").get(),
        "images": [
            response.urljoin(u) for u in response.css("div.product img::attr(src)").getall()
        ],
        **values.from_facts(_facts(response)),
    }


def _others(response: Response) -> dict[str, str]:
    return dict(values.from_facts(_facts(response))["attributes"])


def _facts(response: Response) -> dict[str, str]:
    rows = response.css("table.facts tr")
    if rows:
        return {r.css("th::text").get(""): r.css("td::text").get("") for r in rows}
    facts = response.css("dl.facts")
    return dict(zip(facts.css("dt::text").getall(), facts.css("dd::text").getall(), strict=True))

"""A product page and its links as the tutorials of requests and BeautifulSoup read them."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

from bs4 import BeautifulSoup, Tag

from tests.benchmarks.sides import values

DENIED = re.compile("|".join(values.DENIED))


def links(soup: BeautifulSoup, url: str) -> set[str]:
    """Addresses within the page's own domain, without tracking parameters."""
    host, found = urlsplit(url).netloc, set()
    for anchor in soup.find_all("a", href=True):
        parts = urlsplit(urljoin(url, str(anchor["href"])))
        if parts.netloc == host and not DENIED.search(parts.path):
            query = urlencode([(k, v) for k, v in parse_qsl(parts.query) if k in values.KEPT])
            found.add(urlunsplit(parts._replace(query=query, fragment="")))
    return found


def product(soup: BeautifulSoup, url: str) -> dict[str, Any] | None:
    """The product of a page, or None where it shows none."""
    found = _fields(soup, url)
    if found is None:
        return None
    canonical = soup.find("link", rel="canonical")
    found["url"] = url
    found["canonical_url"] = canonical["href"] if canonical else None
    crumbs = soup.find("nav", class_="breadcrumb")
    found["breadcrumbs"] = [a.get_text() for a in crumbs.find_all("a")] if crumbs else []
    found.setdefault("attributes", values.from_facts(_facts(soup))["attributes"])
    before = soup.find("del", class_="old-price")
    found["regular_price"] = values.price(before.get_text()) if before else None
    return found


def _fields(soup: BeautifulSoup, url: str) -> dict[str, Any] | None:
    scripts = soup.find_all("script", type="application/ld+json")
    node = values.product_node(script.string for script in scripts)
    if node is not None:
        return values.from_node(node, url)
    item = soup.find(itemtype="https://schema.org/Product")
    if item:
        return _microdata(item, url)
    kind = soup.find("meta", property="og:type")
    if kind and kind["content"] == "product":
        return _open_graph(soup)
    return _visible(soup, url) if soup.find("div", class_="product") else None


def _microdata(item: Tag, url: str) -> dict[str, Any]:
    def text(name: str) -> str | None:
        found = item.find(itemprop=name)
        return found.get_text().strip() if found else None

    def value(name: str, attribute: str = "content") -> str | None:
        found = item.find(itemprop=name)
        return found[attribute] if found else None

    return {
        "name": text("name"),
        "sku": text("sku"),
        "gtin": value("gtin13"),
        "mpn": value("mpn"),
        "brand": text("brand"),
        "price": value("price"),
        "currency": value("priceCurrency"),
        "availability": values.stock(value("availability", "href") or ""),
        "description": text("description"),
        "images": [urljoin(url, image["src"]) for image in item.find_all(itemprop="image")],
        "rating": text("ratingValue"),
        "review_count": text("reviewCount"),
    }


def _open_graph(soup: BeautifulSoup) -> dict[str, Any]:
    def meta(name: str) -> str:
        found = soup.find("meta", property=name)
        return found["content"] if found else ""

    return values.from_open_graph(meta)


def _visible(soup: BeautifulSoup, url: str) -> dict[str, Any]:
    box = soup.find("div", class_="product")
    price = box.find("span", class_="price").get_text()
    return {
        "name": box.find("h1").get_text(),
        "price": values.price(price),
        "currency": values.currency(price),
        "availability": values.stock(box.find("p", class_="stock").get_text()),
        "description": box.find("div", class_="description").p.get_text(),
        "images": [urljoin(url, image["src"]) for image in box.find_all("img")],
        **values.from_facts(_facts(soup)),
    }


def _facts(soup: BeautifulSoup) -> dict[str, str]:
    table = soup.find("table", class_="facts")
    if table:
        rows = table.find_all("tr")
        return {row.th.get_text(): row.td.get_text() for row in rows}
    facts = soup.find("dl", class_="facts")
    if not facts:
        return {}
    pairs = zip(facts.find_all("dt"), facts.find_all("dd"), strict=True)
    return {name.get_text(): value.get_text() for name, value in pairs}

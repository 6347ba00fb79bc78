"""The pages of the demo shop as bytes, rendered once and cached."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from email.utils import format_datetime
from html import escape
from http import HTTPStatus
from typing import Literal
from urllib.parse import parse_qsl

import attrs

from crawler.demo import markup
from crawler.demo.catalogue import ShopProduct, by_category, catalogue, slug
from crawler.demo.markup import BASE
from crawler.demo.prices import price_text
from scrapy_seine.attrs_bases import Value

#: Products on one page of a listing.
PER_PAGE = 24
#: Every REDIRECT_EVERY-th product is linked through a redirect only.
REDIRECT_EVERY = 97
#: The date of the shop's first day.
OPENED = date(2026, 1, 1)
_OLDER = 30
#: The response of listings that hide their length, for a page beyond their end.
Beyond = Literal["", "404", "first", "last", "empty", "redirect"]
#: The number of the product whose page takes SLOW_S seconds.
SLOW = 13
SLOW_S = 2.0

#: Digits of a number in a URL of the shop, at most.
_DIGITS = 9

_ROBOTS = f"User-agent: *\nDisallow: /admin/\nAllow: /\n\nSitemap: {BASE}/sitemap.xml\n"
_FILLER = (
    "It arrived within the week and has done what it should ever since. The finish is even, the "
    "seams are straight, and the maker answers letters. I would buy it again for a friend."
)


@attrs.frozen(eq=False, repr=False)
class Page(Value):
    """One response of the shop."""

    body: bytes = b""
    status: int = 200
    content_type: str = "text/html"
    location: str = ""
    """Target of a redirect, a path within the shop."""
    wait_s: float = 0.0
    """Delay of the response, seconds."""
    headers: Mapping[str, str] = attrs.Factory(dict)
    """Further headers of the response."""


class Site:
    """The shop's pages; the same arguments give the same bytes.

    *page_kb* is the minimum size of an HTML page, in kilobytes of 1,000 bytes; *day* 2 is the shop
    a day later, and so on; *opened* is the date of day 1.
    With *beyond*, listings hide their length, link to the next page only, and answer for a page
    beyond their end with a 404, their first or last page, an empty one, or a redirect to the first.
    """

    def __init__(
        self,
        products: int = 1000,
        *,
        seed: int = 1,
        page_kb: float = 0,
        day: int = 1,
        opened: date = OPENED,
        beyond: Beyond = "",
    ) -> None:
        self.products = catalogue(products, seed, day)
        self.product_by_number = {product.number: product for product in self.products}
        self.day = day
        self.opened = opened
        self.beyond = beyond
        self.shelves = by_category(self.products)
        self.min_bytes = int(page_kb * 1000)
        self._cache: dict[str, Page] = {}

    def page(self, target: str) -> Page:
        """Return the page of a request target (path and query), ignoring tracking parameters."""
        path, _, query = target.partition("?")
        number = dict(parse_qsl(query)).get("page", "1") if query else "1"
        key = f"{path}?{number}"
        page = self._cache.get(key)
        if page is None:
            page = self._render(path, number)
            # Errors are not cached, because a client can request any number of URLs.
            if page.status == HTTPStatus.OK:
                digest = hashlib.blake2b(page.body, digest_size=8).hexdigest()
                page = attrs.evolve(page, headers={"ETag": f'"{digest}"', **page.headers})
                self._cache[key] = page
        return page

    def _render(self, path: str, number: str) -> Page:
        section, _, name = path.removeprefix("/").partition("/")
        if path == "/":
            return self._html("Seine Demo Shop", self._home())
        if section == "c" and name in self.shelves and number.isdecimal():
            return self._listing(name, int(number[:_DIGITS]))
        if section in {"p", "go"}:
            return self._product(section, name)
        if path == "/robots.txt":
            return Page(_ROBOTS.encode(), content_type="text/plain")
        if path == "/sitemap.xml":
            return self._sitemap()
        if path in {"/about", "/cart"} or section == "admin":
            return self._html(path, f"<h1>{escape(path)}</h1><p>Nothing is sold here.</p>")
        return self._not_found()

    def _not_found(self) -> Page:
        body = self._html("Not found", "<h1>Nothing here</h1>").body
        return Page(body, status=404)

    def _product(self, section: str, tail: str) -> Page:
        product = self._numbered(tail.partition("/")[0])
        if product is None:
            return self._not_found()
        if section == "go":
            return Page(status=302, location=f"{product.path}?utm_source=go")
        if f"/p/{tail}" not in {product.path, product.twin}:
            return Page(status=301, location=product.path)
        canonical = f'<link rel="canonical" href="{BASE}{product.path}">'
        body = _crumbs(product) + markup.main(product) + self._also(product)
        page = self._html(product.name, body, canonical + markup.head(product))
        modified = datetime.combine(self._date(product.changed), time.min, UTC)
        headers = {"Last-Modified": format_datetime(modified, usegmt=True)}
        return attrs.evolve(page, headers=headers, wait_s=SLOW_S * (product.number == SLOW))

    def _numbered(self, text: str) -> ShopProduct | None:
        number = int(text) if text.isdecimal() and len(text) < _DIGITS else 0
        return self.product_by_number.get(number)

    def _also(self, product: ShopProduct) -> str:
        shelf = self.shelves[_shelf(product)]
        index = shelf.index(product)
        neighbours = [shelf[(index + step) % len(shelf)] for step in range(1, 5)]
        cards = "\n".join(_card(neighbour) for neighbour in neighbours if neighbour is not product)
        return f'<aside class="also"><h2>Customers also looked at</h2><ul>{cards}</ul></aside>'

    def _home(self) -> str:
        links = "\n".join(
            f'<li><a href="/c/{name}?utm_source=home&amp;utm_medium=tile">'
            f"{escape(shelf[0].category)}</a> ({len(shelf)})</li>"
            for name, shelf in self.shelves.items()
        )
        return (
            f'<h1>Seine Demo Shop</h1><ul class="categories">{links}</ul>'
            '<p><a href="/p/999999/last-years-model">Last year’s model</a></p>'
        )

    def _listing(self, name: str, number: int) -> Page:
        shelf = self.shelves[name]
        page_count = -(-len(shelf) // PER_PAGE)
        if not 1 <= number <= page_count:
            if self.beyond == "redirect":
                return Page(status=302, location=f"/c/{name}")
            if self.beyond not in {"first", "last", "empty"}:
                return self._not_found()
            number = {"first": 1, "last": page_count}.get(self.beyond, number)
        start = (number - 1) * PER_PAGE
        products = shelf[start : start + PER_PAGE]
        cards = "\n".join(_card(product) for product in products)
        count = f"Showing {start + 1}–{start + len(products)} of {len(shelf)} results"
        title = shelf[0].category
        body = (
            f'<h1>{escape(title)}</h1><p class="count">{count}</p><ul class="products">{cards}</ul>'
        )
        if self.beyond:
            body = f'<h1>{escape(title)}</h1><ul class="products">{cards}</ul>'
            return self._html(title, body + _next_only(name, number, page_count))
        return self._html(title, body + _pager(name, number, page_count))

    def _sitemap(self) -> Page:
        paths = [(f"/c/{name}", self.day) for name in self.shelves]
        paths += [(product.path, product.changed) for product in self.products]
        entries = "\n".join(
            f"<url><loc>{BASE}{path}</loc><lastmod>{self._date(day)}</lastmod></url>"
            for path, day in paths
        )
        text = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}\n</urlset>\n'
        )
        return Page(text.encode(), content_type="application/xml")

    def _date(self, day: int) -> date:
        # Pages unchanged since day 1 are dated some time before it, as in any shop.
        return self.opened + timedelta(days=day - 1 if day > 1 else -_OLDER)

    def _html(self, title: str, body: str, head: str = "") -> Page:
        text = (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
            f"<title>{escape(title)} | Seine Demo Shop</title>\n{head}\n"
            '<link rel="stylesheet" href="/shop.css"></head><body>\n'
            '<header><a href="/">Home</a> <a href="/about">About us</a> <a href="/cart">Cart</a> '
            '<a href="/admin/">Staff</a> <a href="/admin/p/1/edit">Edit</a></header>\n'
            f"<main>{body}</main>\n"
        )
        return Page((text + _padding(self.min_bytes - len(text)) + "</body></html>\n").encode())


def _shelf(product: ShopProduct) -> str:
    return slug(product.category)


def _link(product: ShopProduct) -> str:
    if product.number % REDIRECT_EVERY == 0:
        return f"/go/{product.number}"
    tracking = "?utm_source=list&amp;utm_campaign=autumn" if product.number % 3 == 0 else ""
    return product.path + tracking


def _card(product: ShopProduct) -> str:
    price = price_text(product.price, product.currency, product.number)
    offer = f' <a class="offer" href="{product.twin}">Offer!</a>' if product.twin else ""
    return (
        f'<li class="card"><a href="{_link(product)}"><img src="{product.image}" alt="">'
        f"<h3>{escape(product.name)}</h3></a><span>{price}</span>{offer}</li>"
    )


def _crumbs(product: ShopProduct) -> str:
    return (
        '<nav class="breadcrumb"><a href="/">Home</a> / '
        f'<a href="/c/{_shelf(product)}">{escape(product.category)}</a></nav>'
    )


def _pager(name: str, number: int, page_count: int) -> str:
    def link(page: int, text: str, rel: str = "") -> str:
        return f'<a href="/c/{name}?page={page}"{rel}>{text}</a>'

    parts = [link(number - 1, "Previous", ' rel="prev"')] if number > 1 else []
    parts += [link(page, str(page)) for page in range(1, page_count + 1) if page != number]
    parts += [link(number + 1, "Next", ' rel="next"')] if number < page_count else []
    return f'<nav class="pager">{" ".join(parts)}</nav>'


def _next_only(name: str, number: int, page_count: int) -> str:
    return f'<nav class="pager"><a rel="next" href="/c/{name}?page={number + 1}">Next</a></nav>' * (
        number < page_count
    )


def _padding(size: int) -> str:
    """Return reviews as in the lower half of a real page, of at least *size* bytes."""
    if size <= 0:
        return ""
    parts, length, count = [], 0, 0
    while length < size:
        count += 1
        part = (
            f'<article class="review" id="r{count}"><header><b>Visitor {count}</b> '
            f'<span class="stars" data-stars="{count % 5 + 1}"></span></header>'
            f'<div class="text"><p>{_FILLER}</p></div>'
            f'<ul class="tags"><li>useful</li><li>kept</li><li>given</li></ul></article>\n'
        )
        parts.append(part)
        length += len(part)
    return f'<section class="reviews"><h2>What others say</h2>{"".join(parts)}</section>\n'

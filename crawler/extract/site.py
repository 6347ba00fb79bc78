"""The base class of site files: each is a small class, and only its domains are required."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from typing import Any, ClassVar

import attrs
from lxml import etree
from parsel.csstranslator import HTMLTranslator

from crawler.extract.default_parser import Found, extract
from crawler.extract.external_id import identify
from crawler.extract.goods_on_one_page import goods_of, withdraw_first
from crawler.extract.links.choice import Link, find_links
from crawler.extract.links.registered_domain import same_site
from crawler.extract.page.lines import HIDDEN, read_all
from crawler.extract.page.page import Page, text_of
from crawler.items import Product
from scrapy_seine import meta as m

#: Fields whose texts are amounts, of which a design may set the cents apart.
_AMOUNTS = frozenset({"price", "regular_price"})


class Site:
    """One shop. A site file subclasses this, names its domains and overrides what it must."""

    name: ClassVar[str] = ""
    """Short name, the items' site id. Default: the registered domain."""
    domains: ClassVar[tuple[str, ...]] = ()
    """Host names of the site, each with all hosts below it."""
    seeds: ClassVar[tuple[str, ...]] = ()
    """Where a full crawl starts, absolute URLs."""
    fields: ClassVar[Mapping[str, str]] = {}
    """CSS (`h1::text`, `img::attr(src)`) or XPath (`//h1/text()`) of a Product's fields; these
    values come before what the default parser found."""
    product_pages: ClassVar[str | None] = None
    """Regular expression of product pages' URLs; with one, other pages are no products."""
    allow: ClassVar[tuple[str, ...]] = ()
    """Regular expressions; with any given, a URL must match one to be followed."""
    deny: ClassVar[tuple[str, ...]] = ()
    """Regular expressions of URLs that are never followed."""
    lane: ClassVar[str | None] = None
    """How pages are fetched: `plain`, `tls` or `browser`; None leaves that to the ladder."""
    identity: ClassVar[str | None] = None
    """Identity of the requests, see SEINE_IDENTITY; None leaves that to the settings."""
    proxy_pool: ClassVar[str | None] = None
    """Pool of proxies to use."""
    delay_ms: ClassVar[int | None] = None
    """Pause between two requests to the site, across the fleet, in milliseconds."""
    concurrency: ClassVar[int | None] = None
    """Requests in flight to the site at once, across the fleet."""

    required: ClassVar[tuple[str, ...]] = ()
    """Fields without which a product of this site is rejected, beside url and name."""

    schedule: ClassVar[str] = ""
    """When a full crawl starts: a cron expression, UTC. Empty: only on demand."""
    sitemaps: ClassVar[tuple[str, ...]] = ()
    """Sitemaps that the coordinator fetches between full crawls."""
    watch_s: ClassVar[float] = 3600
    """Seconds between two fetches of a sitemap."""
    recrawl_s: ClassVar[float] = 0
    """Seconds after which a product that never changes is fetched again; 0: never."""
    budget: ClassVar[int] = 0
    """Products fetched again in a day, at most; 0: no limit."""

    @property
    def request_meta(self) -> dict[str, str]:
        """The meta keys of requests to the site: pool of proxies, lane and identity."""
        values = {m.PROXY_POOL: self.proxy_pool, m.LANE: self.lane, m.IDENTITY: self.identity}
        return {key: value for key, value in values.items() if value}

    def extract(self, page: Page) -> Found:
        """Read a page: the default parser, then this site's selectors over it."""
        result = extract(page)
        is_product = _matches(self.product_pages, page.url)
        if self.product_pages is None:
            withdraw_first(page, result)
        else:
            result.verdict.add("product", 100 if is_product else -100, "the site file says so")
            if is_product and not result.fields:
                result.complete()
        if result.kind == "product":
            for name, selector in self.fields.items():
                self._select(result, page, name, selector)
            if self.fields and "external_id" not in self.fields:
                identify(result.fields, result.sources, page)
        return result

    def products(self, page: Page, found: Found) -> Iterable[Product]:
        """Yield the page's items: its product, or all goods of a shop that has one page."""
        products = [found] if found.kind == "product" else []
        if not products and self.product_pages is None:
            products = goods_of(page, found)
        yield from filter(None, (one.product() for one in products))

    def problem(self, product: Product) -> str | None:
        """Return why a cleaned product of this site is rejected; None if it is accepted."""
        for name in self.required:
            if getattr(product, name) in (None, [], {}):
                return f"no {name}"
        return None

    def importance(self, known: Any) -> float:
        """Return a stored product's weight among those of the site, by the harm of a wrong price.

        The default is 1. *known* has `url`, `external_id`, `name`, `category`, `brand` and `price`.
        Under a `budget`, a product of ten times the weight is fetched about three times as often.
        """
        return 1.0

    def links(self, page: Page, robots: str = "") -> list[Link]:
        """Return the links to follow; *robots* has the directives of X-Robots-Tag."""
        return find_links(page, allowed=lambda url: self.follows(url, page.url), robots=robots)

    def follows(self, url: str, origin: str) -> bool:
        """Return whether a link found at *origin* stays on the site and passes allow and deny."""
        if not same_site(url, origin):
            return False
        if self.deny and any(_matches(pattern, url) for pattern in self.deny):
            return False
        return not self.allow or any(_matches(pattern, url) for pattern in self.allow)

    def _select(self, result: Found, page: Page, name: str, selector: str) -> None:
        read = partial(_amount_text, page) if name in _AMOUNTS else text_of
        values = select(page.root, selector, read)
        if not values:
            return
        if name in {"images", "breadcrumbs"}:
            links = [page.resolve(value) for value in values] if name == "images" else values
            result.fields[name] = [value for value in links if value]
        else:
            result.fields[name] = values[0]
        result.sources[name] = "site"


def _amount_text(page: Page, element: Any) -> str:
    """Return an element's text as its amounts are shown: `12<sup>99</sup> €` is 12.99 €."""
    lines = read_all(attrs.evolve(page, root=element), None).lines
    return " ".join(line.text for line in lines if not line.flags & HIDDEN) or text_of(element)


def select(root: Any, selector: str, read: Callable[[Any], str] = text_of) -> list[str]:
    """Return the texts that a CSS or XPath selector matches, stripped, without empty texts.

    *read* returns the text of an element.

    Raises:
        ValueError: the text is no selector.
    """
    results = select_compiled(selector)(root)
    results = results if isinstance(results, list) else [results]
    texts = (read(r) if hasattr(r, "tag") else " ".join(str(r).split()) for r in results)
    return [text for text in texts if text]


@lru_cache(maxsize=1024)
def select_compiled(selector: str) -> Any:
    """Return a selector as a function of an element.

    Raises:
        Exception: the text is neither CSS nor XPath; each parser has its own error.
    """
    is_xpath = selector.lstrip("(").startswith(("/", "./"))
    path = selector if is_xpath else HTMLTranslator().css_to_xpath(selector)
    return etree.XPath(path)


def _matches(pattern: str | None, url: str) -> bool:
    return pattern is not None and re.search(pattern, url) is not None

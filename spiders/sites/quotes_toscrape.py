"""quotes.toscrape.com: quotes, grouped by who said them."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from crawler.extract import Found, Page
from crawler.extract.site import Site, select
from crawler.items import Product


class QuotesToScrape(Site):
    """A quote is an item whose brand and only breadcrumb is its author; so is an author's page."""

    name = "quotes"
    domains = ("quotes.toscrape.com",)
    seeds = ("https://quotes.toscrape.com/",)
    allow = (r"//[^/]+/(?:page/\d+/?|author/[^/]+/?)?$",)

    def products(self, page: Page, found: Found) -> Iterator[Product]:
        """Yield a page's quotes in the order of their authors, or the author it is about."""
        if select(page.root, ".author-details"):
            yield self._author(page)
            return
        quotes = [_quote(page, element) for element in page.root.iter("div") if _is_quote(element)]
        yield from sorted((q for q in quotes if q.name), key=lambda quote: quote.brand or "")

    @staticmethod
    def _author(page: Page) -> Product:
        name = _one(page.root, "h3.author-title")
        born, place = ".author-born-date::text", ".author-born-location::text"
        facts = {"born": _one(page.root, born), "birthplace": _one(page.root, place)}
        return Product(
            url=page.url,
            name=name,
            external_id=f"author:{page.url.rstrip('/').rpartition('/')[2]}",
            brand=name,
            breadcrumbs=[name] if name else [],
            description=_one(page.root, ".author-description"),
            attributes={key: value for key, value in facts.items() if value},
            sources={"name": "site"},
        )


def _is_quote(element: Any) -> bool:
    return "quote" in (element.get("class") or "").split()


def _quote(page: Page, element: Any) -> Product:
    text = (_one(element, "span.text") or "").strip("“”\"' ")
    author = _one(element, "small.author")
    link = next(iter(select(element, "a[href*='/author/']::attr(href)")), None)
    return Product(
        url=page.url,
        name=text,
        external_id=blake2b(text.encode(), digest_size=8).hexdigest(),
        brand=author,
        breadcrumbs=[author] if author else [],
        canonical_url=page.resolve(link) if link else None,
        attributes={"tags": ", ".join(select(element, "a.tag::text"))},
        sources={"name": "site"},
    )


def _one(root: Any, selector: str) -> str | None:
    return next(iter(select(root, selector)), None)

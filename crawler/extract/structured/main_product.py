"""Which of the products that structured data describes is the one that the page is about."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from crawler.extract import lazy_patterns
from crawler.extract.page.page import Page, short_text
from crawler.extract.structured import schema
from crawler.extract.structured.schema import Node

_SIGNS = lazy_patterns.pattern(r"[\W_]+")
_SHORTEST = 3
_MOST_HEADINGS = 80


def plain_name(node: Node) -> str:
    """A node's name in lower case, words only."""
    return _words(schema.plain(node.get("name")) or "")


def own(products: list[Node], page: Page) -> list[Node]:
    """The nodes that describe the page's product; none where they are several products'."""
    products = _without_groups(products)
    if len({plain_name(p) for p in products}) <= 1:
        return products
    for sign in (_by_address, _by_name, _by_family):
        found = sign(products, page)
        if found:
            first = plain_name(found[0])
            return found if sign is _by_family else [
                p for p in found if (plain_name(p) or first) == first
            ]  # fmt: skip
    return []


def family_name(products: list[Node], page: Page) -> str | None:
    """The heading, where the nodes are variants whose names begin with it."""
    names = {plain_name(p) for p in products}
    if len(names) <= 1:
        return None
    return next((text for text in _headings(page) if _begin(names, _words(text))), None)


def is_shown(name: str, page: Page) -> bool:
    """Whether the page's title, og:title, main heading or address speaks of such a product.

    Half of its words are enough: titles are cut, and names hold colours and sizes.
    """
    if name and name in page.title:  # nearly all
        return True
    words = set(_words(name).split())
    last = page.url.partition("?")[0].rstrip("/").rpartition("/")[2]
    texts = (page.title, page.meta("og:title"), *_headings(page), last)
    shown = [set(_words(text).split()) for text in texts]
    if not words or not any(shown[:-1]):
        return True
    return any(2 * len(words & text) >= min(len(words), len(text)) > 0 for text in shown)


def leads_away(node: Node, page: Page) -> bool:
    """Whether a node says that its product has another page than this one."""
    link = schema.plain(node.get("url")) or _address_around(node)
    target = page.resolve(link) if link else None
    here = (page.url, page.canonical or page.url)
    return target is not None and all(_place(target) != _place(url) for url in here)


def _address_around(node: Node) -> str | None:
    """The address that a node's page or its one offer tells, where the node tells none."""
    about, offers = node.get("mainEntityOfPage"), schema.many(node.get("offers"))
    link = about.get("@id") if isinstance(about, dict) else about
    if not link and len(offers) == 1 and isinstance(offers[0], dict):
        link = offers[0].get("url")
    return schema.plain(link)


def _place(url: str) -> str:
    """The last part of an address's path, which languages and domains of a shop share."""
    return url.partition("?")[0].partition("#")[0].rstrip("/").rpartition("/")[2]


def _without_groups(products: list[Node]) -> list[Node]:
    """Without those of which others are variants: these tell of the group themselves."""
    groups = {_id_of(p.get("isVariantOf")) for p in products} - {None}
    kept = [p for p in products if _id_of(p) not in groups]
    return kept or products


def _id_of(value: Any) -> str | None:
    name = value.get("@id") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None


def _by_address(products: list[Node], page: Page) -> list[Node]:
    here = {page.url, page.canonical}
    linked = [p for p in products if (u := schema.plain(p.get("url"))) and page.resolve(u) in here]
    if linked:
        return linked
    last = _words(page.url.partition("?")[0].rstrip("/").rpartition("/")[2].partition(".")[0])
    named = [p for p in products if last and plain_name(p) == last]
    return named or [p for p in products if schema.is_in_address(p, page.url)]


def _by_name(products: list[Node], page: Page) -> list[Node]:
    titles = [_words(text) for text in (*_headings(page), page.meta("og:title"))]
    title = _words(page.title)
    exact = [p for p in products if plain_name(p) and plain_name(p) in titles]
    return exact or [p for p in products if plain_name(p) and title.startswith(plain_name(p))]


def _by_family(products: list[Node], page: Page) -> list[Node]:
    names = [plain_name(p) for p in products]
    for text in _headings(page):
        start = _words(text)
        found = [p for p, name in zip(products, names, strict=True) if _begin([name], start)]
        # One that begins like the heading is the page's; several are only if all do.
        if len(found) == 1 or (found and len(found) == len(products)):
            return found
    return []


def _begin(names: Iterable[str], start: str) -> bool:
    return len(start) >= _SHORTEST and all(name.startswith(start + " ") for name in names)


def _headings(page: Page) -> list[str]:
    headings = (h for h in page.headings if h.tag == "h1")
    return [text for h in islice(headings, _MOST_HEADINGS) if (text := short_text(h))]


def _words(text: str) -> str:
    return _SIGNS.sub(" ", text).strip().casefold()

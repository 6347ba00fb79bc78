"""The page's own product among those that structured data describes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from crawler.extract import lazy_patterns
from crawler.extract.page.page import Page, holds_digit, short_text
from crawler.extract.structured.nodes import Node, as_list, is_in_address, plain_text

_NON_WORDS = lazy_patterns.pattern(r"[\W_]+")
_MIN_HEADING_LENGTH = 3
_MAX_HEADINGS = 80


def plain_name(node: Node) -> str:
    """Return a node's name in lower case, without punctuation."""
    return _words(plain_text(node.get("name")) or "")


def of_page(products: list[Node], page: Page) -> list[Node]:
    """Return the nodes of the page's own product; none where they describe several products."""
    products = _without_groups(products)
    if len({plain_name(p) for p in products}) <= 1:
        return products
    for rule in (_by_address, _by_name, _by_family):
        matching = rule(products, page)
        if matching:
            first_name = plain_name(matching[0])
            return matching if rule is _by_family else [
                p for p in matching if (plain_name(p) or first_name) == first_name
            ]  # fmt: skip
    return []


def family_name(products: list[Node], page: Page) -> str | None:
    """Return the heading with which all names of the nodes, which are variants, begin."""
    names = {plain_name(p) for p in products}
    if len(names) <= 1:
        return None
    return next((text for text in _headings(page) if _all_begin_with(names, _words(text))), None)


def is_named_on_page(name: str, page: Page) -> bool:
    """Return whether the page's title, og:title, main heading or address names the product.

    Half of the words suffice, because titles are cut, and names hold colours and sizes.
    """
    if name and name in page.title:  # true of nearly all pages
        return True
    words = set(_words(name).split())
    slug = page.url.partition("?")[0].rstrip("/").rpartition("/")[2]
    texts = (page.title, page.meta("og:title"), *_headings(page), slug)
    text_words = [set(_words(text).split()) for text in texts]
    if not words or not any(text_words[:-1]):
        return True
    return any(2 * len(words & text) >= min(len(words), len(text)) > 0 for text in text_words)


def names_other_model(name: str, page: Page) -> bool:
    """Whether a name and the page's heading both have a word with a figure that the other lacks.

    Such a name is that of a tile for a similar product: "Lamp L85X" below the heading "Lamp L85C".
    """
    if name in page.title or not holds_digit(name):
        return False
    name, headings = _words(name), [_words(text) for text in _headings(page)]
    return bool(headings) and all(
        _has_own_model(name, text) and _has_own_model(text, name) for text in headings
    )


def _has_own_model(text: str, other: str) -> bool:
    """Whether a text has a word with a figure that another lacks; "L 85" and "L85" are the same."""
    joined = other.replace(" ", "")
    return any(holds_digit(word) and word not in joined for word in text.split())


def has_other_page(node: Node, page: Page) -> bool:
    """Return whether a node gives the address of another page for its product."""
    link = plain_text(node.get("url") or node.get("@link")) or _address_around(node)
    target = page.resolve(link) if link else None
    page_urls = (page.url, page.canonical or page.url)
    return target is not None and all(_slug(target) != _slug(url) for url in page_urls)


def _address_around(node: Node) -> str | None:
    """Return the address in a node's mainEntityOfPage, or in its only offer."""
    main_entity, offers = node.get("mainEntityOfPage"), as_list(node.get("offers"))
    link = main_entity.get("@id") if isinstance(main_entity, dict) else main_entity
    if not link and len(offers) == 1 and isinstance(offers[0], dict):
        link = offers[0].get("url")
    return plain_text(link)


def _slug(url: str) -> str:
    """Return the last part of an address's path, which a shop's languages and domains share."""
    return url.partition("?")[0].partition("#")[0].rstrip("/").rpartition("/")[2]


def _without_groups(products: list[Node]) -> list[Node]:
    """Drop the groups of which other nodes are variants, because each variant names its group."""
    groups = {_id_of(p.get("isVariantOf")) for p in products} - {None}
    variants = [p for p in products if _id_of(p) not in groups]
    return variants or products


def _id_of(value: Any) -> str | None:
    name = value.get("@id") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None


def _by_address(products: list[Node], page: Page) -> list[Node]:
    page_urls = {page.url, page.canonical}
    linked = [
        p for p in products if (u := plain_text(p.get("url"))) and page.resolve(u) in page_urls
    ]
    if linked:
        return linked
    slug = _words(page.url.partition("?")[0].rstrip("/").rpartition("/")[2].partition(".")[0])
    named_by_slug = [p for p in products if slug and plain_name(p) == slug]
    return named_by_slug or [p for p in products if is_in_address(p, page.url)]


def _by_name(products: list[Node], page: Page) -> list[Node]:
    titles = [_words(text) for text in (*_headings(page), page.meta("og:title"))]
    title = _words(page.title)
    exact = [p for p in products if plain_name(p) and plain_name(p) in titles]
    return exact or [p for p in products if plain_name(p) and title.startswith(plain_name(p))]


def _by_family(products: list[Node], page: Page) -> list[Node]:
    names = [plain_name(p) for p in products]
    for text in _headings(page):
        start = _words(text)
        variants = [
            p for p, name in zip(products, names, strict=True) if _all_begin_with([name], start)
        ]
        # One name that begins with the heading is the page's product; several only if all begin so.
        if len(variants) == 1 or (variants and len(variants) == len(products)):
            return variants
    return []


def _all_begin_with(names: Iterable[str], start: str) -> bool:
    return len(start) >= _MIN_HEADING_LENGTH and all(name.startswith(start + " ") for name in names)


def _headings(page: Page) -> list[str]:
    headings = (h for h in page.headings if h.tag == "h1")
    return [text for h in islice(headings, _MAX_HEADINGS) if (text := short_text(h))]


def _words(text: str) -> str:
    return _NON_WORDS.sub(" ", text).strip().casefold()

"""The categories above a product: a BreadcrumbList's, and what no trail of categories holds."""

from __future__ import annotations

import re
from typing import Any

from crawler.extract.amounts import number
from crawler.extract.schema import Node, first, many, plain
from crawler.extract.words import any_of

_HOME = re.compile(rf"(?:{any_of('trail', 'home')}|»|›|>|/|\W*)", re.I)
#: More categories than any product stands in.
_MOST = 1000
_FRONT = re.compile(r"(?:https?://[^/]+)?/?")


def is_home(text: str) -> bool:
    """Whether a breadcrumb names the shop's front page instead of a category."""
    return _HOME.fullmatch(text.strip()) is not None


def breadcrumbs(node: Node, name: str | None = None) -> list[str]:
    """Category names of a BreadcrumbList, without the front page and the product itself."""
    places: list[tuple[float, str]] = []
    for index, entry in enumerate(many(node.get("itemListElement"))[:_MOST]):
        if not isinstance(entry, dict):
            continue
        text = plain(entry.get("name")) or plain(entry.get("item"))
        position = number(plain(entry.get("position")))
        link = plain(first(entry, "item", "url")) if isinstance(entry.get("item"), str) else None
        link = link or _link_of(entry.get("item"))
        if text and not text.startswith(("http://", "https://")) and not is_front(link):
            told = position is not None and position < _MOST * _MOST
            places.append((float(position or 0) if told else index, text))
    places.sort(key=lambda place: place[0])
    return trail([text for _, text in places], name)


def _link_of(item: Any) -> str | None:
    value = first(item, "@id", "url", "item") if isinstance(item, dict) else None
    return value if isinstance(value, str) else None


def is_front(url: str | None) -> bool:
    """Whether an address is a site's front page.

    >>> is_front("https://a.example/"), is_front("/"), is_front("https://a.example/x")
    (True, True, False)
    """
    return url is not None and _FRONT.fullmatch(url.strip()) is not None


def trail(texts: list[str], name: str | None) -> list[str]:
    """Drop the front page and the product's own name from a list of breadcrumbs."""
    texts = [text for text in texts if text and not is_home(text)]
    if texts and name and texts[-1].casefold() == name.casefold():
        texts.pop()
    return texts

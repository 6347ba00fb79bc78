"""The categories above a product in a BreadcrumbList, without the front page and the product."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import is_front, looks_like_product
from crawler.extract.money.amounts import number
from crawler.extract.structured.nodes import Node, as_list, first_value, plain_text
from crawler.extract.words import any_of

_HOME = lazy_patterns.pattern(rf"(?:{any_of('trail', 'home')}|»|›|>|/|\W*)", re.I)
#: Entries of one BreadcrumbList that are read; no product has as many categories.
_MAX_CATEGORIES = 1000
#: An address, also one below the page's own: `./lamps.html?c=2`.
_IS_LINK = re.compile(r"(?:\.{0,2}/|\?)\S*").fullmatch
#: A sign within a breadcrumb's link, behind its text.
_SIGN_AT_END = re.compile(r" (?:[/>»›→|-]|>>|::)\Z").sub
_HOST_PART = lazy_patterns.pattern(r"^https?://[^/]*")


def is_home(text: str) -> bool:
    """Return whether a breadcrumb names the shop's front page instead of a category."""
    return _HOME.fullmatch(text.strip()) is not None


def breadcrumbs(node: Node, name: str | None = None, page_urls: Sequence[str] = ()) -> list[str]:
    """Return a BreadcrumbList's category names, without the front page and the product itself.

    *page_urls* are the page's own address and its canonical one.
    """
    steps: list[tuple[float, str, str | None]] = []
    front_is_linked = False
    for index, entry in enumerate(as_list(node.get("itemListElement"))[:_MAX_CATEGORIES]):
        if not isinstance(entry, dict):
            continue
        text = plain_text(entry.get("name")) or _text_of(entry.get("item"))
        position = number(plain_text(entry.get("position")))
        link = (
            plain_text(first_value(entry, "item", "url"))
            if isinstance(entry.get("item"), str)
            else None
        )
        link = link or _link_of(entry.get("item"))
        front_is_linked = front_is_linked or is_front(link)
        if text and not text.startswith(("http://", "https://")) and not is_front(link):
            has_position = position is not None and position < _MAX_CATEGORIES * _MAX_CATEGORIES
            steps.append((float(position or 0) if has_position else index, text, link))
    steps.sort(key=lambda step: step[0])
    ends_in_product = not ends_in_category([link for _, _, link in steps], page_urls)
    return trail([text for _, text, _ in steps], name if ends_in_product else None, front_is_linked)


def _text_of(item: Any) -> str | None:
    """Return the name of a breadcrumb that stands in the place of its link; None: it is a link."""
    text = plain_text(item)
    return None if text and isinstance(item, str) and _IS_LINK(text) else text


def ends_in_category(links: Sequence[str | None], page_urls: Sequence[str]) -> bool:
    """Return whether a trail's last link leads to a category and not to the page's own product.

    Its path has to continue the path before it and to end unlike all *page_urls*. Names do not
    decide, because a category may have its product's name, and a product several addresses.

    >>> tools, own = "https://a.example/tools", ["https://a.example/p/drill-12"]
    >>> ends_in_category([tools, f"{tools}/drills"], own)
    True
    >>> ends_in_category([tools, f"{tools}/drill-12"], own), ends_in_category([tools], own)
    (False, False)
    """
    paths = [_HOST_PART.sub("", link) for link in links[-2:] if link]
    if not page_urls or len(paths) < 2:
        return False
    parent, path = paths
    nested = path.startswith(f"{parent.rstrip('/')}/") and path.rstrip("/") != parent.rstrip("/")
    return nested and _slug(path) not in map(_slug, page_urls) and not looks_like_product(path)


def _slug(url: str) -> str:
    """Return the last part of an address, without a file's suffix."""
    return url.partition("?")[0].rstrip("/").rpartition("/")[2].partition(".")[0]


def _link_of(item: Any) -> str | None:
    value = first_value(item, "@id", "url", "item") if isinstance(item, dict) else None
    return value if isinstance(value, str) else None


def trail(texts: list[str], name: str | None, front_is_linked: bool = False) -> list[str]:
    """Drop the front page and the product's own name from a list of breadcrumbs.

    With *front_is_linked*, another link of the trail leads to the front page; "Home" is then a
    category, for instance of home textiles.

    >>> trail(["Home", "Lamps"], None), trail(["Home", "Lamps"], None, front_is_linked=True)
    (['Lamps'], ['Home', 'Lamps'])
    """
    texts = [_SIGN_AT_END("", text) for text in texts]
    texts = [
        t for t in texts if t and ((front_is_linked and t.casefold() == "home") or not is_home(t))
    ]
    if texts and name and texts[-1].casefold() == name.casefold():
        texts.pop()
    return texts

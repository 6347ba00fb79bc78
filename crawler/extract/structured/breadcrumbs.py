"""The categories above a product: a BreadcrumbList's, and what no trail of categories holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import is_front, looks_like_product
from crawler.extract.money.amounts import number
from crawler.extract.structured.schema import Node, first, many, plain
from crawler.extract.words import any_of

_HOME = lazy_patterns.pattern(rf"(?:{any_of('trail', 'home')}|»|›|>|/|\W*)", re.I)
#: More categories than any product stands in.
_MOST = 1000
_PATH = lazy_patterns.pattern(r"^https?://[^/]*")


def is_home(text: str) -> bool:
    """Whether a breadcrumb names the shop's front page instead of a category."""
    return _HOME.fullmatch(text.strip()) is not None


def breadcrumbs(node: Node, name: str | None = None, here: Sequence[str] = ()) -> list[str]:
    """Category names of a BreadcrumbList, without the front page and the product itself.

    *here* are the page's addresses.
    """
    places: list[tuple[float, str, str | None]] = []
    led = False
    for index, entry in enumerate(many(node.get("itemListElement"))[:_MOST]):
        if not isinstance(entry, dict):
            continue
        text = plain(entry.get("name")) or plain(entry.get("item"))
        position = number(plain(entry.get("position")))
        link = plain(first(entry, "item", "url")) if isinstance(entry.get("item"), str) else None
        link = link or _link_of(entry.get("item"))
        led = led or is_front(link)
        if text and not text.startswith(("http://", "https://")) and not is_front(link):
            told = position is not None and position < _MOST * _MOST
            places.append((float(position or 0) if told else index, text, link))
    places.sort(key=lambda place: place[0])
    own = not ends_in_category([link for _, _, link in places], here)
    return trail([text for _, text, _ in places], name if own else None, led)


def ends_in_category(links: Sequence[str | None], here: Sequence[str]) -> bool:
    """Whether a trail's last link is a category's: below the one before, and not the product's own.

    A category may be called as its product is; a product, whose addresses are *here*, may have more.

    >>> tools, own = "https://a.example/tools", ["https://a.example/p/drill-12"]
    >>> ends_in_category([tools, f"{tools}/drills"], own)
    True
    >>> ends_in_category([tools, f"{tools}/drill-12"], own), ends_in_category([tools], own)
    (False, False)
    """
    told = [_PATH.sub("", link) for link in links[-2:] if link]
    if not here or len(told) < 2:
        return False
    ends = {_end(address) for address in here}
    before, last = told
    nested = last.startswith(f"{before.rstrip('/')}/") and last.rstrip("/") != before.rstrip("/")
    return nested and _end(last) not in ends and not looks_like_product(last)


def _end(url: str) -> str:
    """The last part of an address, without the ending of a file."""
    return url.partition("?")[0].rstrip("/").rpartition("/")[2].partition(".")[0]


def _link_of(item: Any) -> str | None:
    value = first(item, "@id", "url", "item") if isinstance(item, dict) else None
    return value if isinstance(value, str) else None


def trail(texts: list[str], name: str | None, led: bool = False) -> list[str]:
    """Drop the front page and the product's own name from a list of breadcrumbs.

    Where another link *led* to the front page, "Home" is a category: of things for one.

    >>> trail(["Home", "Lamps"], None), trail(["Home", "Lamps"], None, led=True)
    (['Lamps'], ['Home', 'Lamps'])
    """
    texts = [t for t in texts if t and ((led and t.casefold() == "home") or not is_home(t))]
    if texts and name and texts[-1].casefold() == name.casefold():
        texts.pop()
    return texts

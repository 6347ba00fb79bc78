"""The name of a page whose title says nothing of it: the heading beside the price.

Hand-made shops have one title for all their pages, and a banner that says what kind of page it is.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from unicodedata import combining, normalize

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import is_front, is_front_of_language
from crawler.extract.money.amounts import find_prices
from crawler.extract.page.page import Element, Page, short_text
from crawler.extract.page.places import box as place_box
from crawler.extract.words import Marks, whole_of

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_MOST_HEADINGS, _MOST_AROUND = 80, 12
_LONGEST_PRICE, _LONGEST_NAME = 40, 200
_WORD = lazy_patterns.pattern(r"[^\W\d_]{2}")
#: Boxes that hold a price, the classes of one, and those of carts in a page's head.
_BOXES, _MOST_BOXES, _MOST_LEVELS, _MOST_ALIKE = (
    ("span", "div", "p", "b", "strong", "li"),
    4_000,
    4,
    2,
)
_IS_PRICE_BOX = Marks(
    lambda words: (
        re.search(r"pric(?:e|ing)|preis|prix|precio|prezzo|preco|cena|fiyat", words.lower())
        is not None
    )
)
_IS_FRAME = Marks(
    lambda words: re.search(r"cart|basket|nav|menu|search", words.lower()) is not None
)
_FOOT = re.compile(r"(?:^|\s)(?:(?:site|page|main|global)[-_]?)?footer").search
_HEAD = re.compile(r"(?:^|\s)(?:(?:site|main|global)[-_]?)?header(?=\s|$)").search
_IS_FOOT = Marks(lambda words: _FOOT(words[:200].lower()) is not None)
_IS_HEAD = Marks(lambda words: _HEAD(words[:200].lower()) is not None)
#: Links of a head that is called one: a product's own may hold one to its category.
_MENU = 2
_FRAMES = frozenset({"header", "nav", "footer", "aside"})
#: What banners call a page that shows one product.
_IS_GENERAL = whole_of(lambda any_of: rf"\W{{0,3}}(?:{any_of('headings', 'general')})\W{{0,3}}")
#: Classes and ids of boxes that hold a name.
_NAMING = re.compile(r"title|name|titel|titre|nombre|heading").search
_LONGEST_CLASS = 1_000
#: Letters of a host's name, and of a word in it, that tell enough.
_SHORTEST_HOST, _LONG_WORD = 5, 3
_WORDS = lazy_patterns.pattern(r"\w+")


def is_general(text: str) -> bool:
    """Whether a heading says no more than what kind of page it is.

    >>> is_general("Single Product"), is_general("Single Malt")
    (True, False)
    """
    return len(text) <= _LONGEST_PRICE and _IS_GENERAL(text) is not None


def says_host(text: str, host: str) -> bool:
    """Whether a text is the name by which a shop's host is called.

    >>> says_host("'t red house", "www.redhouse.example"), says_host("oak lamp", "www.redhouse.example")
    (True, False)
    """
    bare = "".join(c for c in normalize("NFKD", text) if not combining(c))
    words = _WORDS.findall(bare)
    told, long = "".join(words), [word for word in words if len(word) >= _LONG_WORD]
    for name in (n.replace("-", "") for n in host.split(".")[:-1] if len(n) >= _SHORTEST_HOST):
        said = sum(map(len, long)) if all(word in name for word in long) else 0
        if name in told or 3 * said >= 2 * len(name):
            return True
    return False


def is_called_name(element: Element) -> bool:
    """Whether the class or the id of an element, or of the box around it, says that it holds a name."""
    boxes = (element, element.getparent())
    words = " ".join(
        box.get(name) or "" for box in boxes for name in ("class", "id", "data-testid")
    )
    return element.tag != "a" and _NAMING(words[:_LONGEST_CLASS].lower()) is not None


def is_of_frame(heading: Element) -> bool:
    """Whether a heading stands in the page's foot, or in its head, which holds the menu too."""
    headers: list[Element] = []
    for level, box in enumerate(heading.iterancestors()):
        if level < _MOST_AROUND and (words := box.get("class")):
            if _IS_FOOT[words]:
                return True
            if _IS_HEAD[words] and len([*islice(box.iter("a"), _MENU)]) == _MENU:
                return True
        tag = box.tag
        if tag in {"footer", "nav"} and len(headers) < _MOST_LEVELS:
            return True
        if tag == "header":
            headers.append(box)
    for box in headers[:_MOST_LEVELS]:
        menus = (
            nav for nav in box.iter("nav") if "crumb" not in f"{nav.get('class')}{nav.get('id')}"
        )
        below = box.getnext()
        if next(menus, None) is not None or (below is not None and below.tag == "nav"):
            return True
    return False


def is_logo(page: Page, heading: Element) -> bool:
    """Whether a heading is a link to the front page, as the shop's name is on many pages."""
    if heading.tag != "h1" or len(heading) != 1 or heading[0].tag != "a":
        return False
    target = page.resolve(heading[0].get("href") or "") or ""
    front = is_front(target) or (is_front_of_language(target) and page.url.startswith(target))
    return bool(front) and not is_front(page.url) and target != page.url


def beside_price(page: Page) -> Element | None:
    """The heading next to the only one that holds nothing but a price; None where several do.

    In a listing each tile has such a pair. Where none does, the one right before a box for the price.
    """
    headings = islice(page.root.iter(*_HEADINGS), _MOST_HEADINGS)
    priced = [heading for heading in headings if _is_price(short_text(heading))]
    if not priced:
        return _before_box(page)
    if len(priced) != 1:
        return None
    before = islice(priced[0].itersiblings(preceding=True), _MOST_AROUND)
    behind = islice(priced[0].itersiblings(), _MOST_AROUND)
    for heading in (*before, *behind):
        if heading.tag in _HEADINGS and _is_name(heading):
            return heading
    return None


def _before_box(page: Page) -> Element | None:
    """The heading right before the first box for a price of which the page has one or two."""
    boxes = islice(page.root.iter(*_BOXES), _MOST_BOXES)
    called = [box for box in boxes if _IS_PRICE_BOX[box.get("class") or ""]]
    times = Counter(map(place_box, called))
    for box in called:
        if times[place_box(box)] > _MOST_ALIKE or not _holds_price(box):
            continue
        around = [box, *islice(box.iterancestors(), _MOST_HEADINGS)]
        if not any(e.tag in _FRAMES or _IS_FRAME[e.get("class") or ""] for e in around):
            return _last_before(around[:_MOST_LEVELS])
    return None


def _holds_price(box: Element) -> bool:
    text = short_text(box, _LONGEST_PRICE + 1)
    return len(text) <= _LONGEST_PRICE and next(find_prices(text), None) is not None


def _last_before(boxes: list[Element]) -> Element | None:
    """The last heading before the innermost of some boxes, within the box around them all."""
    for box in boxes:
        for before in islice(box.itersiblings(preceding=True), _MOST_AROUND):
            inside = [h for h in islice(before.iter(*_HEADINGS), _MOST_AROUND) if short_text(h)]
            if inside:
                text = short_text(inside[-1])
                return inside[-1] if _is_name(inside[-1]) and not is_general(text) else None
    return None


def _is_price(text: str) -> bool:
    if len(text) > _LONGEST_PRICE or not any(map(str.isdigit, text)):
        return False
    monies = list(find_prices(text))
    for money in reversed(monies):
        text = text[: money.start] + text[money.end :]
    return bool(monies) and not _WORD.search(text)


def _is_name(heading: Element) -> bool:
    text = short_text(heading)
    linked = next(heading.iter("a"), None) is not None
    return not linked and len(text) <= _LONGEST_NAME and _WORD.search(text) is not None

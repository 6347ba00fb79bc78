"""Find the heading beside the price, for a page whose title does not name the product.

Hand-made shops have one title for all their pages, and a banner with the kind of page.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from unicodedata import combining

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import is_front, is_front_of_language
from crawler.extract.money.amounts import find_prices
from crawler.extract.page.lines import begins_other_section
from crawler.extract.page.link_targets import link_around
from crawler.extract.page.page import Element, Page, short_text
from crawler.extract.page.places import box as place_box
from crawler.extract.words import CachedRule, entry_matcher
from crawler.normal_form import normal_form

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_MAX_HEADINGS, _MAX_AROUND = 80, 12
#: Elements of a box among which its headings are searched.
_MAX_SEARCHED = 500
_LONGEST_PRICE, _LONGEST_NAME = 40, 200
_WORD = lazy_patterns.pattern(r"[^\W\d_]{2}")
#: Tags of boxes for a price, boxes of a page, levels around one, and boxes with the same place.
_BOXES, _MAX_BOXES, _MAX_LEVELS, _MAX_ALIKE = (
    ("span", "div", "p", "b", "strong", "li"),
    4_000,
    4,
    2,
)
_IS_PRICE_BOX = CachedRule(
    lambda words: (
        re.search(r"pric(?:e|ing)|preis|prix|precio|prezzo|preco|cena|fiyat", words.lower())
        is not None
    )
)
_IS_FRAME = CachedRule(
    lambda words: re.search(r"cart|basket|nav|menu|search", words.lower()) is not None
)
_IS_RATING = CachedRule(
    lambda words: (
        re.search(r"(?<![a-z])(?:ratings?|reviews?|stars)(?![a-z])", words.lower()) is not None
    )
)
#: Tags of headings, and of boxes that have a heading's letters by their class.
_TITLE_TAGS = (*_HEADINGS, "span", "div", "p")
_IS_TITLED = CachedRule(lambda words: not {"h1", "h2"}.isdisjoint(words[:200].lower().split()))
_FOOT = re.compile(r"(?:^|\s)(?:(?:site|page|main|global)[-_]?)?footer").search
_HEAD = re.compile(r"(?:^|\s)(?:(?:site|main|global)[-_]?)?header(?=\s|$)").search
_IS_FOOT = CachedRule(lambda words: _FOOT(words[:200].lower()) is not None)
_IS_HEAD = CachedRule(lambda words: _HEAD(words[:200].lower()) is not None)
#: Links of a page's head; the head of a product may have one link, to its category.
_MIN_MENU_LINKS = 2
_FRAME_TAGS = frozenset({"header", "nav", "footer", "aside"})
#: Banners of a page with one product: "Single Product".
_IS_GENERAL = entry_matcher("headings", "general", 3)
#: Classes and ids of boxes with a product's name, for pages whose headings name none.
_NAMES_PRODUCT = re.compile(
    r"(?:product|prod|item|goods|artikel|produkt|produs|tovar|urun|lbl)[-_]{0,2}"
    r"(?:name|title|naam|nazwa|nazev|naziv|nome|titel|adi)(?![-_\w])"
    r"|(?<![a-z])(?:page|main|content)[-_]?(?:heading|title)(?![-_\w])",
    re.I,
).search
IS_PRODUCT_NAME = CachedRule(lambda words: _NAMES_PRODUCT(words) is not None)
#: Classes and ids of boxes that hold a name.
_NAME_CLASS = re.compile(r"title|name|titel|titre|nombre|nome|heading").search
_LONGEST_CLASS = 1_000
#: Letters of a host's name, and of a word in it, that are enough for a comparison.
_MIN_HOST, _MIN_WORD = 5, 3
_WORDS = lazy_patterns.pattern(r"\w+")


def is_general(text: str) -> bool:
    """Whether a heading just names the kind of page.

    >>> is_general("Single Product"), is_general("Single Malt")
    (True, False)
    """
    return len(text) <= _LONGEST_PRICE and _IS_GENERAL(text) is not None


def says_host(text: str, host: str) -> bool:
    """Whether a text is the shop's name, because its words make up the name of the host.

    >>> says_host("'t red house", "www.redhouse.example"), says_host("oak lamp", "www.redhouse.example")
    (True, False)
    """
    bare = "".join(c for c in normal_form("NFKD", text) if not combining(c))
    words = _WORDS.findall(bare)
    joined, long_words = "".join(words), [word for word in words if len(word) >= _MIN_WORD]
    for name in (n.replace("-", "") for n in host.split(".")[:-1] if len(n) >= _MIN_HOST):
        matched_letters = (
            sum(map(len, long_words)) if all(word in name for word in long_words) else 0
        )
        if name in joined or 3 * matched_letters >= 2 * len(name):
            return True
    return False


def has_name_class(element: Element) -> bool:
    """Whether the class or id of an element, or of the box around it, is one for a name."""
    boxes = (element, element.getparent())
    class_words = " ".join(
        box.get(name) or "" for box in boxes for name in ("class", "id", "data-testid")
    )
    return element.tag != "a" and _NAME_CLASS(class_words[:_LONGEST_CLASS].lower()) is not None


def is_of_frame(heading: Element) -> bool:
    """Whether a heading stands in the page's foot, or in the page's head with the menu."""
    headers: list[Element] = []
    for level, box in enumerate(heading.iterancestors()):
        if level < _MAX_AROUND and (words := box.get("class")):
            if _IS_FOOT[words]:
                return True
            if (
                _IS_HEAD[words]
                and len([*islice(box.iter("a"), _MIN_MENU_LINKS)]) == _MIN_MENU_LINKS
            ):
                return True
        tag = box.tag
        if tag in {"footer", "nav"} and len(headers) < _MAX_LEVELS:
            return True
        if tag == "header":
            headers.append(box)
    for box in headers[:_MAX_LEVELS]:
        menus = (
            nav for nav in box.iter("nav") if "crumb" not in f"{nav.get('class')}{nav.get('id')}"
        )
        below = box.getnext()
        if next(menus, None) is not None or (below is not None and below.tag == "nav"):
            return True
    return False


def is_logo(page: Page, heading: Element) -> bool:
    """Whether a heading is a link to the front page, as with the shop's name on many pages."""
    if heading.tag != "h1" or len(heading) != 1 or heading[0].tag != "a":
        return False
    target = page.resolve(heading[0].get("href") or "") or ""
    front = is_front(target) or (is_front_of_language(target) and page.url.startswith(target))
    return bool(front) and not is_front(page.url) and target != page.url


def heading_by_price(page: Page) -> Element | None:
    """Return the heading next to the only heading that is just a price; None if several are.

    In a listing each tile has such a pair. If none is, return the heading right before a price box.
    """
    headings = islice(page.root.iter(*_HEADINGS), _MAX_HEADINGS)
    price_headings = [heading for heading in headings if is_price(short_text(heading))]
    if not price_headings:
        return _before_box(page)
    if len(price_headings) != 1:
        return None
    before = islice(price_headings[0].itersiblings(preceding=True), _MAX_AROUND)
    behind = islice(price_headings[0].itersiblings(), _MAX_AROUND)
    for heading in (*before, *behind):
        if heading.tag in _HEADINGS and _is_name(heading):
            return heading
    return None


def _before_box(page: Page) -> Element | None:
    """Return the heading before the first price box whose place at most two boxes share."""
    boxes = islice(page.root.iter(*_BOXES), _MAX_BOXES)
    price_boxes = [box for box in boxes if _IS_PRICE_BOX[box.get("class") or ""]]
    box_counts = Counter(map(place_box, price_boxes))
    for box in price_boxes:
        if box_counts[place_box(box)] > _MAX_ALIKE or not _holds_price(box):
            continue
        around = [box, *islice(box.iterancestors(), _MAX_HEADINGS)]
        if not any(e.tag in _FRAME_TAGS or _IS_FRAME[e.get("class") or ""] for e in around):
            return _last_before(around[:_MAX_LEVELS])
    return None


def _holds_price(box: Element) -> bool:
    text = short_text(box, _LONGEST_PRICE + 1)
    return len(text) <= _LONGEST_PRICE and next(find_prices(text), None) is not None


def _last_before(boxes: list[Element]) -> Element | None:
    """Return the last heading before the innermost box that has any before it; None if unnamed."""
    for box in boxes:
        for sibling in islice(box.itersiblings(preceding=True), _MAX_AROUND):
            titled = filter(_is_heading, islice(sibling.iter(*_TITLE_TAGS), _MAX_SEARCHED))
            headings = [
                h
                for h in islice(titled, _MAX_AROUND)
                if short_text(h) and not _is_of_rating(h, box)
            ]
            if headings:
                text = short_text(headings[-1])
                is_name = _is_name(headings[-1]) and not (
                    is_general(text) or begins_other_section(text)
                )
                return headings[-1] if is_name else None
    return None


def _is_of_rating(heading: Element, price: Element) -> bool:
    """Whether a heading stands in a box for stars or reviews: "Be the first to review it".

    A box that holds that of the *price* as well is none: `<div class="product has-reviews">`.
    """
    box = heading.getparent()
    around = box if box is not None and box is not price.getparent() else heading
    return _IS_RATING[f"{heading.get('class')} {around.get('class')}"]


def _is_heading(element: Element) -> bool:
    """Whether an element is a heading by its tag, or by a class for one: `<span class="h1">`."""
    return element.tag in _HEADINGS or _IS_TITLED[element.get("class") or ""]


def is_price(text: str) -> bool:
    """Whether a heading just says a price, or the price with the one before.

    >>> is_price("$49.00 $39.20"), is_price("Lamp $39.20")
    (True, False)
    """
    if len(text) > _LONGEST_PRICE or not any(map(str.isdigit, text)):
        return False
    monies = list(find_prices(text))
    for money in reversed(monies):
        text = text[: money.start] + text[money.end :]
    return bool(monies) and not _WORD.search(text)


def _is_name(heading: Element) -> bool:
    text = short_text(heading)
    is_linked = next(heading.iter("a"), link_around(heading, _MAX_LEVELS)) is not None
    return not is_linked and len(text) <= _LONGEST_NAME and _WORD.search(text) is not None

"""Boxes that show other products than the page's own: cards, and the tiles of a listing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain, islice, takewhile

from crawler.extract.page.link_targets import (
    checks_out,
    is_of_picture,
    leads_away,
    maker_led_to,
)
from crawler.extract.page.page import Element, holds_digit, short_text

_TITLES = ("h2", "h3", "h4", "h5", "h6")
_MAX_AROUND = 6
#: Elements of a column in which an amount is looked for.
_MAX_INSIDE, _MAX_AMOUNT_TEXT = 40, 24
#: Characters of a size in a table of sizes: `C5`, `40-60 cm`.
_MAX_MEASURE = 12
_IS_BUTTON = re.compile(r"(?:^|[\s_-])(?:btn|button)(?=$|[\s_-])").search


def section_of(title: Element, main: Element) -> Element | None:
    """The section that ends what a title begins, unless the page's main heading is in it, too."""
    around = islice(title.iterancestors(), _MAX_AROUND)
    box = next((box for box in around if box.tag in {"section", "aside"}), None)
    is_page_section = box is None or any(above is box for above in main.iterancestors())
    return None if is_page_section or not leads_away(box) else box


def _buys(card: Element) -> bool:
    """Whether all links of a box lead to the cart or the checkout."""
    return all(map(checks_out, islice(card.iter("a"), _MAX_AROUND)))


def _sells_here(card: Element, first_link: Element) -> bool:
    """Whether a column without pictures has an amount before its first link.

    The column is about the page's own product, because another product's tile begins with its link.
    """
    if next(card.iter("img"), None) is not None:
        return False
    elements_before = takewhile(
        lambda inner: inner is not first_link, islice(card.iter(), _MAX_INSIDE)
    )
    texts_before = (inner.text for inner in elements_before if inner.text)
    return any(holds_digit(text) and len(text) < _MAX_AMOUNT_TEXT for text in texts_before)


def shows_another(card: Element) -> bool:
    """Whether a box called a card shows another product, and does not just hold buttons."""
    first = first_link = next(card.iter("a"), None)
    if first is not None and is_of_picture(first):
        first_link = next((link for link in card.iter("a") if not is_of_picture(link)), None)
    if first_link is None:
        return False
    buys = checks_out(first) and _buys(card)  # the first link of nearly all cards does not buy
    if buys or (card.tag == "aside" and _sells_here(card, first_link)):
        return False
    words = first_link.get("class")
    if first_link.get("href") and not (words and _IS_BUTTON(words)):
        away = leads_away(first_link)  # nearly all
        return away and (
            maker_led_to(first_link) is None or not all(map(maker_led_to, card.iter("a")))
        )
    if not leads_away(card):
        return False
    links = (link.get("class") or "" for link in card.iter("a"))
    return not all(map(_IS_BUTTON, links)) or next(card.iter("img", *_TITLES), None) is not None


def tiles_of(members: list[Element], min_tiles: int) -> list[Element]:
    """Those of the boxes of one make that are a listing's: *min_tiles* or more, of which each leads to a page.

    The first ones that lead nowhere, or one that does or holds the page's main heading, are the page's own thing, which a template writes as it writes tiles.
    """
    if len(members) < min_tiles:
        return []
    sample = members[:12]
    outer_boxes = largest_own_boxes(sample, 6)
    own_boxes = [
        member
        for member, box in zip(sample, outer_boxes, strict=True)
        if box is None or not leads_away(box) or is_choice(box)
    ]
    if not own_boxes:  # the page's own thing may lead to its category, or to the cart
        own_boxes = [
            member
            for member, box in zip(sample, outer_boxes, strict=True)
            if next(box.iter("h1"), None) is not None
        ]
        if len(own_boxes) != 1:
            first, second = outer_boxes[:2]
            is_apart = first.getparent() is not second.getparent()
            own_boxes = sample[:1] if is_apart and _buys(first) and not _buys(second) else []
        if not own_boxes:
            return members
    if (len(sample) - len(own_boxes)) * 5 < len(sample) * 3:
        return []
    are_first = own_boxes == sample[: len(own_boxes)]
    own_boxes = own_boxes if len(own_boxes) == 1 or are_first else []
    return [member for member in members if member not in own_boxes]


def largest_own_boxes(members: Iterable[Element], levels: int) -> list[Element]:
    """Return for each member the largest box, at most *levels* around it, that is around no other.

    None where another member is in the box of the member itself.
    """
    around = [[member, *islice(member.iterancestors(), levels)] for member in members]
    shared = Counter(chain.from_iterable(around))
    own: list[Element] = []
    for boxes in around:
        for box in reversed(boxes):
            if shared[box] == 1:
                own.append(box)
                break
        else:
            own.append(None)
    return own


def is_choice(row: Element) -> bool:
    """Whether a table row is a size of the page's own thing: a measure, and a link to the cart."""
    first = next(row.iterchildren("td"), None) if row.tag == "tr" else None
    if first is None or not _buys(row):
        return False
    measure = short_text(first, _MAX_MEASURE + 1)
    return len(measure) <= _MAX_MEASURE and holds_digit(measure)

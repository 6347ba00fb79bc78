"""Where in a page's markup a text stands, the same for all pages of one template."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import chain, islice, takewhile
from urllib.parse import unquote

from crawler.extract.page.page import Element, holds_digit

#: What the folder above a maker's own page is called.
_MAKERS = frozenset(
    f"{word}{end}"
    for word, ends in {
        "brand": ("", "s", "i", "y"), "mark": ("e", "en", "a", "alar"), "marque": ("", "s"), "marca": ("", "s"),
        "march": ("e", "io", "i"), "merk": ("", "en"), "manufacturer": ("", "s"), "vendor": ("", "s"),
        "hersteller": ("",), "znack": ("a", "y"), "vyrobc": ("e", "i"), "producent": ("", "s", "i"),
        "producer": ("", "s"), "proizvoditel": ("", "i"), "brend": ("", "i", "y"),
        "gyarto": ("", "k"), "producator": ("", "i"), "tillverkare": ("",),
        "varumarke": ("", "n"), "maerke": ("", "r"), "designer": ("", "s"),
        "fabricante": ("", "s"), "merek": ("",),
    }.items()
    for end in ends
)  # fmt: skip
#: How one shop system asks for all of one maker.
_OF_VENDOR = "/vendors?q="
_TITLES = ("h2", "h3", "h4", "h5", "h6")
#: Classes of an element, and characters of them, that count.
_MOST_CLASSES, _LONGEST = 6, 200
_MOST_AROUND = 6
#: Elements of a column in which an amount is looked for.
_MOST_INSIDE, _SHORT = 40, 24

#: An element's tag, and as much of its class as counts.
Box = tuple[str, str]


def box(element: Element) -> Box:
    """What an element's place is made of."""
    return element.tag, (element.get("class") or "")[:_LONGEST]


def place(box: Box) -> str:
    """An element's tag with its classes, those with figures left out."""
    return f"{box[0]}{_named(box[1])}"


def path(element: Element, levels: int = 3) -> str:
    """Where a text stands: the element's place and those of the boxes around it."""
    return _path((box(element), *map(box, islice(element.iterancestors(), levels - 1))))


@lru_cache(maxsize=1024)
def _path(boxes: tuple[Box, ...]) -> str:
    return "<".join(map(place, boxes))


def maker_led_to(link: Element) -> str | None:
    """The maker whose page a link leads to, as its address names it.

    >>> maker_led_to({"href": "/brands/l-oreal/"}), maker_led_to({"href": "/p/l-oreal"})
    ('l-oreal', None)
    """
    address, _, asked = (link.get("href") or "").partition("?")
    parts = address.rstrip("/").rsplit("/", 2)
    if len(parts) > 1 and parts[-2] in _MAKERS:
        return unquote(parts[-1])
    if asked and _OF_VENDOR in link.get("href"):
        return unquote(asked.partition("=")[2].partition("&")[0].replace("+", " "))
    return None


def leads_away(element: Element) -> bool:
    """Whether a box that is called a product's card links to a page, as a listing's cards do."""
    links = (element,) if element.tag == "a" else element.iter("a")
    reference = next((href for link in links if (href := link.get("href")) is not None), "")
    return bool(reference) and not reference.startswith(("#", "javascript:", "tel:", "mailto:"))


def link_around(element: Element, levels: int) -> Element | None:
    """Return the link that an element is, or that is among so many boxes around it."""
    boxes = (element, *islice(element.iterancestors(), levels))
    return next((box for box in boxes if box.tag == "a"), None)


def section_of(title: Element, main: Element) -> Element | None:
    """The section that ends what a title begins, unless the page's main heading is in it, too."""
    around = islice(title.iterancestors(), _MOST_AROUND)
    box = next((box for box in around if box.tag in {"section", "aside"}), None)
    held = box is None or any(above is box for above in main.iterancestors())
    return None if held or not leads_away(box) else box


_IS_BUTTON = re.compile(r"(?:^|[\s_-])(?:btn|button)(?=$|[\s_-])").search


_CHECKS_OUT = re.compile(r"/(?:checkout|cart|basket|order|buy)(?=[/?#.]|$)").search


def checks_out(link: Element) -> bool:
    """Whether a link leads to the cart or to paying."""
    return _CHECKS_OUT(link.get("href") or "") is not None


def _buys(card: Element) -> bool:
    """Whether all links of a box lead to the cart or to paying."""
    return all(map(checks_out, islice(card.iter("a"), _MOST_AROUND)))


def _sells_here(card: Element, first: Element) -> bool:
    """Whether a column without pictures has an amount before its first link.

    It tells of the page's own thing: a tile of another begins with the link to that.
    """
    if next(card.iter("img"), None) is not None:
        return False
    texts = takewhile(lambda inner: inner is not first, islice(card.iter(), _MOST_INSIDE))
    told = (inner.text for inner in texts if inner.text)
    return any(holds_digit(text) and len(text) < _SHORT for text in told)


_IS_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif)(?:\?|\Z)", re.I).search


def shows_another(card: Element) -> bool:
    """Whether a box that is called a card shows another thing: not, where it only holds buttons."""
    # A link to a picture enlarges the product's own.
    links = (link for link in card.iter("a") if not _IS_PICTURE(link.get("href") or ""))
    first = next(links, None)
    if first is None:
        return False
    if _buys(card) or (card.tag == "aside" and _sells_here(card, first)):
        return False
    if first.get("href") and not _IS_BUTTON(first.get("class") or ""):
        away = leads_away(first)  # nearly all
        return away and (maker_led_to(first) is None or not all(map(maker_led_to, card.iter("a"))))
    if not leads_away(card):
        return False
    links = (link.get("class") or "" for link in card.iter("a"))
    return not all(map(_IS_BUTTON, links)) or next(card.iter("img", *_TITLES), None) is not None


def tiles_of(members: list[Element], most: int) -> list[Element]:
    """Those of the boxes of one make that are a listing's: *most* or more, of which each leads to a page.

    One alone that leads nowhere, or holds the page's main heading, is the page's own thing, which a template writes as it writes tiles.
    """
    if len(members) < most:
        return []
    sample = members[:12]
    around = [[m, *islice(m.iterancestors(), 6)] for m in sample]
    shared = Counter(chain.from_iterable(around))
    still, whole = [], []
    for boxes in around:
        own = [element for element in boxes if shared[element] == 1]
        whole += own[-1:]
        if not own or not leads_away(own[-1]):
            still.append(boxes[0])
    if not still:  # the page's own thing may lead to its category
        still = [
            boxes[0]
            for boxes, box in zip(around, whole, strict=True)
            if next(box.iter("h1"), None) is not None
        ]
        still = still if len(still) == 1 else []
    if (len(sample) - len(still)) * 5 < len(sample) * 3:
        return []
    alone = still[0] if len(still) == 1 else None
    return [member for member in members if member is not alone]


@lru_cache(maxsize=4096)
def _named(classes: str) -> str:
    words = [word for word in classes.split() if not any(map(str.isdigit, word))]
    return "".join(f".{word}" for word in words[:_MOST_CLASSES])

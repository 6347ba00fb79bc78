"""The place of a text in a page's markup, which is the same on all pages of one template."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, islice, takewhile
from urllib.parse import unquote

from crawler.extract.page.page import Element, holds_digit, short_text

#: Names of the folder above a maker's own page; `bodega` and `cantina` are also aisles, of all wines.
_MAKERS = frozenset(
    f"{word}{end}"
    for word, ends in {
        "brand": ("", "s", "i", "y"), "mark": ("e", "en", "a", "alar"), "marque": ("", "s"), "marca": ("", "s"),
        "march": ("e", "io", "i"), "merk": ("", "en", "e", "er", "ki", "it"), "manufacturer": ("", "s"), "vendor": ("", "s"),
        "hersteller": ("",), "nach-hersteller": ("",), "znack": ("a", "y"), "vyrobc": ("e", "i", "a", "ovia"), "producent": ("", "s", "i"),
        "producer": ("", "s"), "proizvoditel": ("", "i"), "brend": ("", "i", "y"),
        "gyarto": ("", "k"), "producator": ("", "i"), "tillverkare": ("",),
        "varumarke": ("", "n"), "maerke": ("", "r"), "designer": ("", "s"),
        "fabricante": ("", "s"), "merek": ("",), "maker": ("", "s"), "mærke": ("", "r"),
        "produttor": ("e", "i"), "produttric": ("i",), "producteur": ("", "s"), "tootja": ("", "d"),
        "proizvodac": ("", "i"), "proizvođač": ("", "i"), "editeur": ("", "s"), "verlag": ("", "e"),
        "uitgever": ("", "s"), "kiado": ("", "k"), "wydawnictwo": ("",), "forlag": ("",),
        "produzent": ("", "en"), "valmistaja": ("", "t"), "razotaj": ("s", "i"),
        "gamintoj": ("as", "ai"), "znamk": ("a", "e"), "virobnik": ("", "i"), "vyrobnyk": ("", "y"),
        "bodega": ("s",), "winer": ("y", "ies"), "weing": ("ut", "ueter"),
        "cantin": ("e",), "brewer": ("y", "ies"), "brauerei": ("", "en"), "destillerie": ("", "n"),
        "distiller": ("y", "ies", "ie"), "pivovar": ("", "y"),
    }.items()
    for end in ends
)  # fmt: skip
#: The address by which one shop system lists a maker's products.
_VENDOR_QUERY = "/vendors?q="
_TITLES = ("h2", "h3", "h4", "h5", "h6")
#: Classes of an element that its place names, and characters of the class attribute that are read.
_MAX_CLASSES, _MAX_CLASS_LENGTH = 6, 200
_MAX_AROUND = 6
#: Elements of a column in which an amount is looked for.
_MAX_INSIDE, _MAX_AMOUNT_TEXT = 40, 24
#: Characters of a size in a table of sizes: `C5`, `40-60 cm`.
_MAX_MEASURE = 12

#: An element's tag, and the characters of its class attribute that are read.
Box = tuple[str, str]


def box(element: Element) -> Box:
    """Return the tag and the class attribute of which an element's place is made."""
    return element.tag, (element.get("class") or "")[:_MAX_CLASS_LENGTH]


def place(box: Box) -> str:
    """Return an element's tag with its classes, except classes with figures."""
    return f"{box[0]}{_class_suffix(box[1])}"


def path(element: Element, levels: int = 3) -> str:
    """Return a text's path: the places of its element and of the boxes around that."""
    return _path((box(element), *map(box, islice(element.iterancestors(), levels - 1))))


@lru_cache(maxsize=1024)
def _path(boxes: tuple[Box, ...]) -> str:
    return "<".join(map(place, boxes))


def maker_led_to(link: Element) -> str | None:
    """Return the maker whose page a link leads to, as the address names the maker, or None.

    >>> maker_led_to({"href": "/brands/l-oreal/"}), maker_led_to({"href": "/p/l-oreal"})
    ('l-oreal', None)
    """
    address, _, query = (link.get("href") or "").partition("?")
    parts = address.rstrip("/").rsplit("/", 2)
    if len(parts) > 1 and parts[-2].lower() in _MAKERS:
        return unquote(parts[-1])
    if query and _VENDOR_QUERY in link.get("href"):
        return unquote(query.partition("=")[2].partition("&")[0].replace("+", " "))
    return None


def leads_away(element: Element) -> bool:
    """Whether a box that is called a product's card links to a page, as a listing's cards do."""
    if element.tag == "a":
        reference = element.get("href")
    else:
        links = element.iter("a")
        reference = next((href for link in links if (href := link.get("href")) is not None), "")
    return bool(reference) and not reference.startswith(("#", "javascript:", "tel:", "mailto:"))


def link_around(element: Element, levels: int) -> Element | None:
    """Return the link that an element is, or that is among so many boxes around it."""
    boxes = (element, *islice(element.iterancestors(), levels))
    return next((box for box in boxes if box.tag == "a"), None)


def section_of(title: Element, main: Element) -> Element | None:
    """The section that ends what a title begins, unless the page's main heading is in it, too."""
    around = islice(title.iterancestors(), _MAX_AROUND)
    box = next((box for box in around if box.tag in {"section", "aside"}), None)
    is_page_section = box is None or any(above is box for above in main.iterancestors())
    return None if is_page_section or not leads_away(box) else box


_IS_BUTTON = re.compile(r"(?:^|[\s_-])(?:btn|button)(?=$|[\s_-])").search


_CHECKS_OUT = re.compile(
    r"/(?:checkout|cart|basket|order|buy|warenkorb|winkelwagen|panier|carrello|carrito|carrinho"
    r"|kosz(?:yk)?|kos[ií]k|kosar|kosarica|sepet|korzina|cos|kurv|varukorg|ostoskori)(?=[/?#.]|$)"
).search


def checks_out(link: Element) -> bool:
    """Whether a link leads to the cart or the checkout."""
    # The slash is put first, because a pattern that begins with one letter is found fastest.
    return _CHECKS_OUT(f"/{link.get('href') or ''}") is not None


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


def shows_several(links: Iterable[Element]) -> bool:
    """Whether links hold pictures of several pages: tiles, or the colours of a product."""
    return len({a.get("href") for a in links if next(a.iter("img"), None) is not None}) > 1


_IS_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif)(?:\?|\Z)", re.I).search


def _is_of_picture(link: Element) -> bool:
    """Whether a link leads to a picture, because such a link enlarges the product's own."""
    return _IS_PICTURE(link.get("href") or "") is not None


def shows_another(card: Element) -> bool:
    """Whether a box called a card shows another product, and does not just hold buttons."""
    first = first_link = next(card.iter("a"), None)
    if first is not None and _is_of_picture(first):
        first_link = next((link for link in card.iter("a") if not _is_of_picture(link)), None)
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


@lru_cache(maxsize=4096)
def _class_suffix(classes: str) -> str:
    words = [word for word in classes.split() if not any(map(str.isdigit, word))]
    return "".join(f".{word}" for word in words[:_MAX_CLASSES])

"""Find a product's name by the page's title: its parts, and the box that holds one of them."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.page.link_targets import link_around
from crawler.extract.page.page import MAX_TEXT_LENGTH, Element, Page, short_text, squashed
from crawler.extract.visible.fact_labels import is_number_cell, label_of
from crawler.extract.visible.priced_heading import IS_PRODUCT_NAME, has_name_class, says_host
from crawler.extract.words import CachedRule
from scrapy_seine.urls import host_of

#: Separators of a title: rules between blanks, and the brackets and rules of East Asian titles.
_TITLE_RULES = lazy_patterns.pattern(
    r"\s(?:[|–—·•:»/-]|::)\s|[|｜【】「」：\[\]]|(?<=\S):\s|-(?=[^\x00-\x7f]+$)"
)
#: Tags of boxes that may hold a name, and how many of a page are read.
BOXES = ("div", "td", "p", "h4", "h5", "h6", "b", "strong", "font", "span")
MAX_BOXES = 6000
#: Characters of a name in any box, and of one in a box whose class is for names.
_MIN_NAME, _MIN_CALLED = 7, 3
#: Characters of a text that is a name in any box, if it is most of the title.
_MIN_LONG_NAME = 20
_MAX_NAME = 200
#: The last character before those of East Asian scripts.
_LAST_LETTER = "\u2e7f"
_BOLD_TAGS, _INLINE = frozenset({"b", "strong"}), frozenset({"b", "strong", "font", "i", "span"})
#: Font sizes of a heading.
_LARGE_SIZES = frozenset({"4", "5", "6", "7", "+1", "+2", "+3", "+4"})
#: Classes for letters of a heading's size: Bootstrap's `h2` and `fs-1`, Tailwind's `text-2xl`.
_LARGE_CLASS = lazy_patterns.pattern(
    r"(?:^|\s)(?:h([1-3])|fs-([1-3])|(?:\w{2}:)?text-([2-9])xl)(?=\s|$)"
)
_LARGE_STYLE = lazy_patterns.pattern(
    r"font-size\s{0,3}:\s{0,3}(\d{1,3}(?:\.\d{1,3})?)(px|r?em)", re.I
)
_MIN_LARGE = 1.25
#: Signs between the author and the name in a title.
_BETWEEN = " :-–—|/,"
#: Boxes around one that may be breadcrumbs.
_MAX_AROUND = 3


@lru_cache(maxsize=64)
def title_parts(title: str) -> tuple[str, ...]:
    """Split a title at rules and brackets.

    >>> title_parts("tea shop / green tea 50g"), title_parts("【new】green tea【price】-shop")
    (('tea shop', 'green tea 50g'), ('new', 'green tea', 'price', '-shop'))
    """
    return tuple(part for text in _TITLE_RULES.split(title) if (part := text.strip()))


def named_by_title(
    page: Page, titles: tuple[str, ...], *, is_headed: bool = False
) -> Element | None:
    """Return the box with the longest text with which a title begins.

    Else one whose class is for names and whose text is a part of a title, or begins with one,
    because titles leave out the ends of long names. *is_headed*: a main heading may be the name, so
    that a word of the title in some box is none.
    """
    title_start, named_part, long_part, named_box, longest = None, None, None, None, _MIN_NAME
    titles = tuple(_without_shop(title, page.url) for title in titles)
    if all(len(title) <= longest for title in titles):
        return None
    parts = tuple({p for title in titles for p in title_parts(title) if len(p) > longest})
    all_titles = "\n".join(titles)
    for element in islice(page.root.iter(*BOXES, "h2", "h3"), MAX_BOXES):
        text = element.text
        if len(element) == 1 and element[0].tag == "img" and not (text or "").strip():
            text = element[0].tail  # an icon stands before the name
        is_plain = len(element) <= 1 or element[0].tag == "br"
        if text is None or not is_plain or not _MIN_CALLED <= len(text) <= 9 * MAX_TEXT_LENGTH:
            continue
        text = squashed(text).casefold()
        is_in_titles = text != "" and text in all_titles and not is_number_cell(element)
        starts_title = is_in_titles and any(title.startswith(text) for title in titles)
        if (
            starts_title
            and longest < (length := _length(text)) <= MAX_TEXT_LENGTH
            and not _is_in_trail(element)
        ):
            title_start, longest = element, length
        elif is_in_titles and named_part is None:
            if _names_part(element, text, titles, parts, is_headed):
                named_part = element
            elif long_part is None and _is_long_name(element, text, titles, parts, is_headed):
                long_part = element
        elif named_box is None and text.startswith(parts) and _is_whole_name(element, text):
            named_box = element
    return next(
        (
            element
            for element in (
                _unless_fact(title_start, page, titles[-1]),
                named_part,
                named_box,
                long_part,
            )
            if element is not None
        ),
        None,
    )


def _unless_fact(box: Element | None, page: Page, title: str) -> Element | None:
    """Return a box, or the one in large letters with a part of the title if the box has a label.

    A label makes a text a fact, `Artist:`, and a maker's is none of a name. The shop's name in large
    letters is no part.
    """
    label = box.getprevious() if box is not None and box.tag == "td" else None
    label_text = "" if label is None else short_text(label, _MAX_NAME)
    if label_of(label_text) == "brand":
        return None
    if not label_text.endswith(":"):
        return box
    parts, site = title_parts(title), host_of(page.url)
    for element in islice(page.root.iter("font", "big"), MAX_BOXES):
        if element.tag == "big" or is_large(element):
            text = short_text(element, _MAX_NAME).casefold()
            if text in parts and not says_host(text, site):
                return element
    return box


def name_behind_author(box: Element, title: str) -> Element:
    """Return the bolder or larger box right behind one, if the title has both texts in a row.

    Shops of books and music write the author above the name: `Voss, Anna` and `The far shore`.
    """
    outer, emphasis = box, _emphasis(box)
    while len(parent := outer.getparent()) == 1 and parent.tag in _INLINE:
        outer, emphasis = parent, max(emphasis, _emphasis(parent))
    following = outer.getnext()
    if following is not None and following.tag == "br":
        following = following.getnext()
    if following is None or emphasis >= _emphasis(following):
        return box
    name, rest = short_text(following).casefold(), title.partition(short_text(box).casefold())[2]
    return following if name and rest.lstrip(_BETWEEN).startswith(name) else box


def _emphasis(box: Element) -> float:
    """Return 2 or more for large letters, by their size, 1 for bold ones, 0 for others."""
    if box.tag == "big" or is_large(box):
        size = (box.get("size") or "").strip()[-1:]
        return 2 + (int(size) / 10 if size.isdecimal() else 0)
    return int(box.tag in _BOLD_TAGS or "bold" in (box.get("style") or ""))


def is_large(element: Element) -> bool:
    """Whether a font element has a size for headings."""
    size = element.get("size") if element.tag == "font" else None
    return (size or "").strip() in _LARGE_SIZES


def _size_of_class(classes: str) -> float:
    """Return the size that a class of the usual frameworks gives to letters."""
    match = _LARGE_CLASS.search(classes[:_MAX_NAME])
    if match is None:
        return 0.0
    return 1 + int(match[3]) / 2 if match[3] else 3.5 - int(match[1] or match[2]) / 2


#: The size of a box's letters by its class, in usual letters; 0 if it is no heading's.
SIZE_BY_CLASS = CachedRule(_size_of_class)


def size_of_letters(element: Element) -> float:
    """Return the size of a box's letters by its tag or style, in usual letters; 0 if it is no heading's."""
    if element.tag == "big" or is_large(element):
        return 1.5
    match = _LARGE_STYLE.search((element.get("style") or "")[:_MAX_NAME])
    size = 0.0 if match is None else float(match[1]) / (16 if match[2].lower() == "px" else 1)
    return size if size >= _MIN_LARGE else 0.0


def _length(text: str) -> int:
    """Return the characters of a name, of which one in Chinese or Japanese counts as two.

    >>> _length("red lamp"), _length("萩焼 抹茶碗")
    (8, 11)
    """
    return len(text) if text.isascii() else len(text) + sum(c > _LAST_LETTER for c in text)


def _is_in_trail(element: Element) -> bool:
    """Whether a box is in breadcrumbs, of which the last one often has the product's name."""
    boxes = (element, *islice(element.iterancestors(), _MAX_AROUND))
    return any("crumb" in (box.get("class") or "")[:_MAX_NAME].lower() for box in boxes)


def _is_long_name(
    element: Element, text: str, titles: tuple[str, ...], parts: tuple[str, ...], is_headed: bool
) -> bool:
    """Whether a box holds so much of a title that it is a name without a class for names.

    Behind the shop's slogan, a short name in bold letters ends the title.
    """
    if element.tag in _BOLD_TAGS and text in parts and titles[-1].endswith(text):
        return True
    if not is_headed and _goes_on_as_title(element, text, parts):
        return True
    is_long = len(text) > _MIN_LONG_NAME and element.tag != "a"
    return is_long and _is_most_of(text, titles)


def _goes_on_as_title(element: Element, text: str, parts: tuple[str, ...]) -> bool:
    """Whether a title has the text right before a box and the box's own in a row: maker and name.

    Not where the text behind the box goes on, or both are in one line: each word of the name has a
    box of its own.
    """
    if element.tag in _INLINE:
        return False
    before, behind = (
        "" if beside is None else short_text(beside, _MAX_NAME).casefold()
        for beside in (element.getprevious(), element.getnext())
    )
    start, more = f"{before} {text}", f"{before} {text} {behind}"
    return before != "" and any(
        part.startswith(start)
        and not part[len(start) :][:1].isalnum()
        and not (behind and part.startswith(more))
        for part in parts
    )


def _names_part(
    element: Element, text: str, titles: tuple[str, ...], parts: tuple[str, ...], is_headed: bool
) -> bool:
    """Whether a box whose class is for names holds a part of a title.

    On a page without a main heading, in a box for a product's name, and not in a tile, which is a
    link, any words of the title are one: it may begin with the maker, and go on with a slogan.
    """
    if has_name_class(element) and _is_part(text, parts, titles):
        return True
    words = element.get("class")
    if is_headed or not words or not IS_PRODUCT_NAME[words]:
        return False
    is_tile = link_around(element, _MAX_AROUND) is not None
    return not is_tile and any(_stands_in(text, title) for title in titles)


def _stands_in(text: str, title: str) -> bool:
    """Whether a title has a text as whole words: `lamp`, and not the begin of `lampshades`."""
    before, found, behind = title.partition(text)
    return found != "" and not (before[-1:].isalnum() or behind[:1].isalnum())


def _is_whole_name(element: Element, text: str) -> bool:
    """Whether a box has a class for names and is short enough for one."""
    return len(text) <= _MAX_NAME and has_name_class(element)


def _is_part(text: str, parts: tuple[str, ...], titles: tuple[str, ...]) -> bool:
    """Whether a text is a part of a title, most of a title, or its first words."""
    return text in parts or _ends_word(text, titles) or _is_most_of(text, titles)


def begins_with_shop(title: str, text: str, url: str) -> bool:
    """Whether a text is the first part of a title and the shop's name by its host."""
    return text in title_parts(title)[:1] and _without_shop(title, url) != title


def _without_shop(title: str, url: str) -> str:
    """Return a title without its first part, if that part alone is the shop's name by its host.

    >>> _without_shop("red house: oak lamp", "https://www.redhouse.example/12")
    'oak lamp'
    """
    shop, *name_parts = title_parts(title)[:2] or ("",)
    if (
        not name_parts
        or not says_host(shop, host_of(url))
        or says_host(name_parts[0], host_of(url))
    ):
        return title
    return title[title.index(name_parts[0], len(shop)) :]


def _ends_word(text: str, titles: tuple[str, ...]) -> bool:
    """Whether a short text is the first words of a title."""
    return len(text) >= _MIN_CALLED and any(
        title.startswith(text) and not title[len(text) : len(text) + 1].isalnum()
        for title in titles
    )


def _is_most_of(text: str, titles: tuple[str, ...]) -> bool:
    """Whether a text is more than half of a title."""
    return len(text) > _MIN_NAME and any(
        2 * len(text) > len(title) and text in title for title in titles
    )

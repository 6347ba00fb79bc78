"""What a page's title says of its name: its parts, and the box that holds one of them."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.page.page import LONGEST, Element, Page, squashed
from crawler.extract.visible.facts import is_number_cell
from crawler.extract.visible.priced_heading import is_called_name, says_host
from scrapy_seine.urls import host

#: What divides a title: rules between blanks, and the brackets and rules of East Asian titles.
_TITLE_RULES = lazy_patterns.pattern(
    r"\s(?:[|–—·•:»/-]|::)\s|[|｜【】「」：\[\]]|(?<=\S):\s|-(?=[^\x00-\x7f]+$)"
)
#: Boxes that may hold a name, so many at most.
BOXES = ("div", "td", "p", "h4", "h5", "h6", "b", "strong", "font", "span")
MOST_BOXES = 6000
#: The score of what is in a title is told by its length: of a name, and of one in a box that is called so.
_SHORTEST_NAME, _SHORTEST_CALLED = 7, 3
#: What is longer and most of the title is a name in any box.
_SURELY_NAME = 20
_LONGEST_WORDS = 200


@lru_cache(maxsize=64)
def title_parts(title: str) -> tuple[str, ...]:
    """What rules and brackets divide a title into.

    >>> title_parts("tea shop / green tea 50g"), title_parts("【new】green tea【price】-shop")
    (('tea shop', 'green tea 50g'), ('new', 'green tea', 'price', '-shop'))
    """
    return tuple(part for text in _TITLE_RULES.split(title) if (part := text.strip()))


def named_by_title(page: Page, titles: tuple[str, ...]) -> Element | None:
    """The first box that holds nothing but the words with which a title begins.

    Else one that is called a name and holds another part of a title, or begins with one and goes on:
    titles leave out the ends of long names.
    """
    best, part, loose, whole, longest = None, None, None, None, _SHORTEST_NAME
    titles = tuple(_without_shop(title, page.url) for title in titles)
    if all(len(title) <= longest for title in titles):
        return None
    parts = tuple({p for title in titles for p in title_parts(title) if len(p) > longest})
    told = "\n".join(titles)
    for element in islice(page.root.iter(*BOXES, "h2", "h3"), MOST_BOXES):
        text = element.text
        if len(element) == 1 and element[0].tag == "img" and not (text or "").strip():
            text = element[0].tail  # a mark stands before the name
        if text is None or len(text) < _SHORTEST_CALLED or len(text) > 9 * LONGEST:
            continue
        alone = len(element) <= 1 or element[0].tag == "br"
        text = squashed(text).casefold() if alone else ""
        stands = text != "" and text in told and not is_number_cell(element)
        begins = stands and any(title.startswith(text) for title in titles)
        if begins and longest < len(text) <= LONGEST:
            best, longest = element, len(text)
        elif stands and part is None and _is_part(text, parts, titles):
            if is_called_name(element):
                part = element
            elif loose is None and _is_long_name(element, text, titles):
                loose = element
        elif whole is None and text.startswith(parts) and _is_whole_name(element, text):
            whole = element
    return next((found for found in (best, part, whole, loose) if found is not None), None)


def _is_long_name(element: Element, text: str, titles: tuple[str, ...]) -> bool:
    """Whether a box holds so much of a title that it is a name wherever it stands."""
    return len(text) > _SURELY_NAME and element.tag != "a" and _is_most_of(text, titles)


def _is_whole_name(element: Element, text: str) -> bool:
    """Whether a box is called a name and holds no more than one."""
    return len(text) <= _LONGEST_WORDS and is_called_name(element)


def _is_part(text: str, parts: tuple[str, ...], titles: tuple[str, ...]) -> bool:
    """Whether a text is a part of a title, most of it, or the words with which one begins."""
    return text in parts or _ends_word(text, titles) or _is_most_of(text, titles)


def begins_with_shop(title: str, text: str, url: str) -> bool:
    """Whether the shop's name, as its host has it, is a text that is the first part of a title."""
    return text in title_parts(title)[:1] and _without_shop(title, url) != title


def _without_shop(title: str, url: str) -> str:
    """A title without its first part, where that alone says the host's name.

    >>> _without_shop("red house: oak lamp", "https://www.redhouse.example/12")
    'oak lamp'
    """
    first, *others = title_parts(title)[:2] or ("",)
    if not others or not says_host(first, host_of(url)) or says_host(others[0], host_of(url)):
        return title
    return title[title.index(others[0], len(first)) :]


def _ends_word(text: str, titles: tuple[str, ...]) -> bool:
    """Whether a short text is the first word or words of a title."""
    return len(text) >= _SHORTEST_CALLED and any(
        title.startswith(text) and not title[len(text) : len(text) + 1].isalnum()
        for title in titles
    )


def _is_most_of(text: str, titles: tuple[str, ...]) -> bool:
    """Whether a text stands in a title, of which it is more than half."""
    return len(text) > _SHORTEST_NAME and any(
        2 * len(text) > len(title) and text in title for title in titles
    )


def host_of(url: str) -> str:
    """The host of an address, '' of one that is none."""
    try:
        return host(url)
    except ValueError:
        return ""

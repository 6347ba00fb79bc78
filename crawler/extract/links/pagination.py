"""Pagination: which links turn the page of a listing, and to which page.

Shops name the parameter as they like: `?page=2`, `?pag=2`, `?stranka=2`. A usual name is enough;
of any other the link must look like a pager's: it says "next" in some language, an arrow, or the
number that it leads to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache

from crawler.extract import lazy_patterns
from crawler.extract.page.page import Element, short_text
from crawler.extract.words import any_of, whole

Address = tuple[str, str, tuple[tuple[str, str], ...]]
"""Origin, path and parameters."""

#: Parameters that order or dress a listing; what it lists stays the same.
_DRESS = whole(
    r"sort\w*|order\w*|dir|direction|view|mode|limit|per_?page|show|display|layout|grid|list|style"
    r"|product_list_\w+|items_?per_?page|pagesize|page_size|rpp|n|sz|srule|sort[-_]?by|view_?as",
)
_PAGE = whole(r"page|p|pg|pag|paged|pagina|pageno|page_?n(?:o|um|umber)|seite|start|offset|cp"
                   r"|product-page|currentpage|pageindex|str|sida|strona|from|pn|(?!per)[a-z]+_page|side|sivu|sayfa|oldal|strana|stranka|stranica|halaman|trang|lehekulg"
                   r"|puslapis|lapa|pagin[ei]|pagen_\d|sahife|sehife|selida|counter")  # fmt: skip
_PAGE_PATH = lazy_patterns.pattern(
    rf"(?:/|-)(?:{any_of('paging', 'page')})[/-]?(\d{{1,6}})(?:/|\.html?|$)", re.I
)
#: What says where a page of a listing begins, in words that only the shop reads.
_CURSOR = whole(
    r"(?:end_?|start_?|next_?)?cursor|after|starting_?after|page_?token|next_?token|page_?info|continuation"
)
_NEXT = whole(rf"\s*(?:{any_of('paging', 'next')})\s*[»›>→]*\s*|\s*[»›>→]+\s*")
_LONGEST = 1000
_DIGITS = 9
#: How far a number may lie ahead of the page where its parameter's name says nothing: "24" and "48"
#: say how many things a page shows.
_AHEAD = 5


def dresses(name: str) -> bool:
    """Whether a parameter orders or dresses a listing, and leaves what it lists."""
    return _DRESS(name) is not None


def is_page(name: str) -> bool:
    """Whether a parameter usually says which page of a listing is meant."""
    return _PAGE(name) is not None


def page_number(address: Address, unusual: Collection[str] = ()) -> int:
    """Return which page of a listing an address shows; 0: it does not say.

    *unusual* are more names of parameters that say it.
    """
    named = _page_number(address)
    if named or not unusual:
        return named
    return max((_whole(value) for name, value in address[2] if name in unusual), default=0)


@lru_cache(maxsize=1024)
def _page_number(address: Address) -> int:
    for name, value in address[2]:
        if _PAGE(name) and value.isdecimal() and len(value) <= _DIGITS:
            return int(value)
    match = _PAGE_PATH.search(address[1])
    return int(match[1]) if match else 0


def says_page(url: str) -> bool:
    """Whether an address' path says which page of a listing it is.

    >>> says_page("https://a.example/lamps/page-3/"), says_page("https://a.example/lamps/page-turner")
    (True, False)
    """
    return _PAGE_PATH.search(url.partition("?")[0]) is not None


def turns_page(element: Element, rel: str, there: Address, here: Address, *, pager: bool) -> bool:
    """Whether a link leads from one page of a listing to another, by what is usual.

    *pager*: the link stands in a box that calls itself one.
    """
    if rel and rel.lower() in {"next", "prev", "previous"}:
        return True
    number = page_number(there)
    if not (number or pager or there[2]):
        return False  # nearly all
    new = set(there[2]) - set(here[2])
    if there[1] == here[1] and len(new) == 1 and _CURSOR(next(iter(new))[0]):
        return _says_next(element)
    if not number and not pager:
        return False
    dressed = any(_DRESS(name) and not _PAGE(name) for name, _ in new)
    if dressed and not (number and there[1] == here[1] and _tells(element, number)):
        return False
    same = there[1] == here[1] or _unpaged(there[1]) == _unpaged(here[1])
    if number and same:
        others = {
            (name, value)
            for name, value in new
            if not _PAGE(name) and not (dressed and _DRESS(name)) and _whole(value) != number
        }
        return not others
    return pager and (short_text(element).isdigit() or _says_next(element))


def turned(
    element: Element, there: Address, here: Address, *, is_identity: Callable[[str], object]
) -> tuple[str, int] | None:
    """Return the unusual parameter by which a link turns the page, and its value.

    *is_identity* knows parameters that say which listing or product is meant: none of them turns
    a page, though "next" may lead to the next product.
    """
    if there[1] != here[1] or not there[2] or there[0] != here[0]:
        return None
    shown, wanted = dict(here[2]), dict(there[2])
    new = {name: value for name, value in wanted.items() if shown.get(name) != value}
    if len(new) != 1 or not set(shown) <= set(wanted):
        return None
    ((name, value),) = new.items()
    number = _whole(value)
    if not number or _PAGE(name) or _DRESS(name) or is_identity(name):
        return None
    text = short_text(element)
    is_near = number <= max(_whole(shown.get(name, "")), 1) + _AHEAD
    if (text.isdigit() and _whole(text) == number and is_near) or _says_next(element):
        return name, number
    return None


def _tells(element: Element, number: int) -> bool:
    """Whether a link says no more than the page's number: a pager's keeps the usual order as well."""
    text = short_text(element)
    return text.isdigit() and _whole(text) == number


def _says_next(element: Element) -> bool:
    text = short_text(element) or (element.get("aria-label") or "")[:_LONGEST]
    return _NEXT(text) is not None


def _whole(text: str) -> int:
    """Read a whole number; 0 for anything else."""
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else 0


def _unpaged(path: str) -> str:
    return _PAGE_PATH.sub("/", path).rstrip("/")

"""Pagination: find the links to other pages of a listing, and their page numbers.

Shops name the parameter as they like: `?page=2`, `?pag=2`, `?stranka=2`. A usual name is enough.
With any other name the link must be labelled as a pager's: "next" in some language, an arrow, or
the page's number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache
from itertools import islice
from urllib.parse import unquote, unquote_plus

from crawler.extract import lazy_patterns
from crawler.extract.page.page import Element, short_text
from crawler.extract.words import any_of, full_matcher

Address = tuple[str, str, tuple[tuple[str, str], ...]]
"""Origin, path and parameters."""

#: Names of parameters that sort or restyle a listing without changing which products it lists.
_DISPLAY_PARAMETER = full_matcher(
    r"sort\w*|order\w*|dir|direction|view|mode|limit|per_?page|show|display|layout|grid|list|style"
    r"|product_list_\w+|items_?per_?page|pagesize|page_size|rpp|n|sz|srule|sort[-_]?by|view_?as"
    r"|ord(?:ina\w*|en(?:ar\w*|amento)?|em|re|ering)|tri(?:er\w*)?|sorteer\w*|s[iı]rala\w*|razeni"
    r"|razvrsti|rendez\w*|ldtype|listorder\w*|_artperpage",
)
#: Usual names of the parameter with a listing's page number, and of that with the products before it.
OFFSETS = r"start(?:_?index)?|begin_?index|offset|skip|from"
PAGE_NAMES = (rf"page|p|pg|pag|paged|pagina|pageno|page_?n(?:o|um|umber)|pgnr|seite|{OFFSETS}|cp"
              r"|product-page|currentpage|pageindex|str|sida|strona|pn|(?!per)[a-z]+_page|side|sivu|sayfa|oldal|strana|stranka|stranica|halaman|trang|lehekulg"
              r"|puslapis|lapa|pagin[ei]|pagen_\d|sahife|sehife|selida|counter")  # fmt: skip
_PAGE_PARAMETER = full_matcher(PAGE_NAMES)
_PAGE_PATH = lazy_patterns.pattern(
    rf"(?:/|-)(?:{any_of('paging', 'page')})[/-]?(\d{{1,6}})(?:/|\.html?|$)", re.I
)
#: Names of parameters that hold an opaque cursor: the start of a listing's page.
_CURSOR_PARAMETER = full_matcher(
    r"(?:end_?|start_?|next_?)?cursor|after|starting_?after|page_?token|next_?token|page_?info|continuation"
)
#: Characters of a cursor, in one word.
_TOKEN = re.compile(r"[\w%=~+-]{16,}").fullmatch
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{0,30}").fullmatch
_NEXT_LABEL = full_matcher(rf"\s*(?:{any_of('paging', 'next')})\s*[»›>→↓]*\s*|\s*[»›>→]+\s*")
#: A class of a pager's link, or of the box around it, that leads nowhere.
_IDLE = re.compile(r"(?:^|[\s_-])[Dd]isabled(?:\s|$)").search
_MAX_LABEL_LENGTH = 1000
_MAX_DIGITS = 9
#: Pages that a link may skip ahead if its parameter has an unusual name, because numbers such as
#: "24" and "48" are page sizes.
_MAX_PAGES_AHEAD = 5
#: Products on a page of a pager that counts products; the first page whose link has their number.
_MIN_STEP, _MAX_STEP, _FIRST_NUMBERED = 4, 500, 2
#: Boxes around a pager's link that hold another one, and links and texts of such a box.
_PAGER_LEVELS, _MAX_PAGER_LINKS, _MAX_PAGER_TEXTS = 2, 60, 130
#: The last page of a listing that is read.
_MAX_PAGE_NUMBER = 5000


@lru_cache(maxsize=1024)
def split_url(url: str) -> Address:
    """Return the origin, the path and the parameters of a URL."""
    base, _, query = url.partition("?")
    end = base.find("/", 8)
    origin, path = (base, "/") if end < 0 else (base[:end], base[end:])
    pairs = []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if part:
            pairs.append((unquote_plus(name), value))
    return origin, path, tuple(pairs)


def is_display_parameter(name: str) -> bool:
    """Whether a parameter sorts or restyles a listing, and keeps its products."""
    return _DISPLAY_PARAMETER(name) is not None


def is_page_parameter(name: str) -> bool:
    """Whether a parameter has a usual name for the page number of a listing."""
    return _PAGE_PARAMETER(name) is not None


def page_number(address: Address, extra_names: Collection[str] = ()) -> int:
    """Return the page number of a listing's address; 0 if it has none.

    *extra_names* are further names of page parameters.
    """
    number = number_in(address)
    if number or not extra_names:
        return number
    return max((_to_number(value) for name, value in address[2] if name in extra_names), default=0)


def is_next_page(url: str, page: str) -> bool:
    """Whether an address is that of the page behind a listing's page, by their numbers.

    >>> is_next_page("https://a.example/c?page=2", "https://a.example/c")
    True
    >>> is_next_page("https://a.example/c?page=9", "https://a.example/c?page=4")
    False
    """
    return page_number(split_url(url)) - (page_number(split_url(page)) or 1) == 1


@lru_cache(maxsize=1024)
def number_in(address: Address) -> int:
    """Return the page number of a listing's address by usual names; 0 if it has none."""
    for name, value in address[2]:
        if _PAGE_PARAMETER(name) and value.isdecimal() and len(value) <= _MAX_DIGITS:
            return int(value)
    match = _PAGE_PATH.search(address[1])
    return int(match[1]) if match else 0


def has_page_number(url: str) -> bool:
    """Whether the path of a URL has the page number of a listing.

    >>> has_page_number("https://a.example/lamps/page-3/"), has_page_number("https://a.example/lamps/page-turner")
    (True, False)
    """
    return _PAGE_PATH.search(url.partition("?")[0]) is not None


def _is_opaque(value: str) -> bool:
    """Whether a value is a cursor and no filter's: a long word with letters of both cases.

    >>> _is_opaque("eyJpZCI6MTIzNDU2fQ"), _is_opaque("2026-01-31t00-00-00")
    (True, False)
    """
    return _TOKEN(value) is not None and value.lower() != value != value.upper()


def turns_page(
    element: Element, rel: str, target: Address, page_address: Address, *, pager: bool
) -> bool:
    """Whether a link leads to another page of the same listing, by usual names and labels.

    *pager*: the link stands in a box whose class names a pager.
    """
    if rel and rel.lower() in {"next", "prev", "previous"}:
        return True
    number = page_number(target)
    if not (number or pager or target[2]):
        return False  # nearly all links
    added = set(target[2]) - set(page_address[2])
    if target[1] == page_address[1] and any(_CURSOR_PARAMETER(name) for name, _ in added):
        others = [value for name, value in added if not _CURSOR_PARAMETER(name)]
        if others == [] and any(_is_opaque(value) for _, value in added):
            return True
        return all(value == "next" for value in others) and _is_labelled_next(element)
    if not number and not pager:
        return False
    changes = [(name, value) for name, value in added if not _PAGE_PARAMETER(name)]
    if (
        number
        and changes
        and target[1] == page_address[1]
        and _shows_page(element, number, changes, is_first=not page_number(page_address))
    ):
        page_names = {name for name, _ in page_address[2]}
        # A visit's new number would make pages without end, and a word for the link's place not.
        if all(name not in page_names or _WORD(value) for name, value in changes):
            return True
    if any(_DISPLAY_PARAMETER(name) for name, _ in changes):
        return False
    is_same_listing = target[1] == page_address[1] or without_page(target[1]) == without_page(
        page_address[1]
    )
    if number and is_same_listing:
        return all(_to_number(value) == number for _, value in changes)
    return pager and (short_text(element).isdigit() or _is_labelled_next(element))


def is_too_far(number: int, own_number: int) -> bool:
    """Whether a page's number is beyond those of any listing.

    A pager that counts products goes on by as many as a page shows.

    >>> is_too_far(5001, 5000), is_too_far(5040, 5016), is_too_far(999_999, 5000)
    (True, False, True)
    """
    step = abs(number - own_number)
    return number > _MAX_PAGE_NUMBER * (step if _MIN_STEP < step <= _MAX_STEP else 1)


def without_first_page(element: Element, url: str, odd_name: str = "") -> str:
    """Return a pager's address without its page number if it is the first page's and labelled so.

    That is the listing's own address, which is read already. A link with an arrow may stand before
    that with the number. *odd_name* is a page parameter of an unusual name.
    """
    place, _, query = url.partition("?")
    pairs = query.split("&")
    others = [pair for pair in pairs if not _is_first_page(pair, odd_name)]
    if not query or len(others) != len(pairs) - 1 or not _is_numbered_first(element):
        return url
    return f"{place}?{'&'.join(others)}" if others else place


def is_idle(element: Element, target: Address, page_address: Address) -> bool:
    """Whether a pager's link is marked as one that leads nowhere, as "back" on the first page is.

    Scripts mark whole pagers, or links that they follow themselves; those lead forward.
    """
    box = element.getparent()
    classes = f"{element.get('class') or ''} {'' if box is None else box.get('class') or ''}"
    if "isabled" not in classes or _IDLE(classes) is None:
        return False
    is_numbered = any(is_page_parameter(name) for name, _ in target[2])
    return is_numbered and number_in(target) <= max(number_in(page_address), 1)


def _is_numbered_first(element: Element) -> bool:
    """Whether a pager's link shows the number 1, or another link of its box with the same address."""
    text, href = short_text(element), element.get("href")
    if text.isdecimal():
        return text == "1"
    boxes = islice(element.iterancestors(), _PAGER_LEVELS)
    links = (link for box in boxes for link in islice(box.iter("a"), _MAX_PAGER_LINKS))
    return any(link.get("href") == href and short_text(link) == "1" for link in links)


def leads_here(first: Address, own: Address, own_number: int) -> bool:
    """Whether a pager's first page is the page itself, because that has no number.

    The pager may name parameters that the page's own address lacks.
    """
    return not own_number and first[:2] == own[:2] and set(own[2]) <= set(first[2])


def _is_first_page(pair: str, odd_name: str) -> bool:
    name, _, value = pair.partition("=")
    return value in {"0", "1"} and (name == odd_name or is_page_parameter(name))


def odd_page_parameter(
    element: Element,
    target: Address,
    page_address: Address,
    *,
    is_identity: Callable[[str], object],
    is_product: bool = False,
) -> tuple[str, int] | None:
    """Return the page parameter of an unusual name by which a link turns the page, and its value.

    *is_identity* matches parameters that identify a listing or product: none of them is a page
    number, although "next" may lead to the next product. On a page that *is_product*, pictures,
    reviews and choices are counted from 0.
    """
    if target[1] != page_address[1] or not target[2] or target[0] != page_address[0]:
        return None
    page_parameters, target_parameters = dict(page_address[2]), dict(target[2])
    changed = {
        name: value
        for name, value in target_parameters.items()
        if page_parameters.get(name) != value
        and (name in page_parameters or not _DISPLAY_PARAMETER(name))
    }
    if len(changed) != 1 or not set(page_parameters) <= set(target_parameters):
        return None
    ((name, value),) = changed.items()
    number = _to_number(value)
    if not number or _PAGE_PARAMETER(name) or _DISPLAY_PARAMETER(name) or is_identity(name):
        return None
    text = short_text(element)
    shown = _to_number(text)
    is_near = number <= max(_to_number(page_parameters.get(name, "")), 1) + _MAX_PAGES_AHEAD
    if shown == number and is_near:
        return name, number
    if (
        _is_labelled_next(element)
        or _counts_products(element, name, number, shown)
        or (
            is_near
            and shown == number + 1
            and not is_product
            and _counts_from_zero(element, name, shown)
        )
    ):
        return name, number
    return None


def _shows_page(
    element: Element, number: int, changes: list[tuple[str, str]], *, is_first: bool
) -> bool:
    """Whether a link's text is the page's number, counted from 0 or from 1.

    Such a pager link also adds what the listing's own address leaves out: an order, a query, and
    the number of products on a page, by which the products before it are counted. *is_first*: the
    page itself has no number.
    """
    text = short_text(element)
    sizes = {1, *(_to_number(value) for name, value in changes if _DISPLAY_PARAMETER(name))} - {0}
    if not text.isdigit():
        counts = is_first or (len(sizes) > 1 and number % max(sizes) == 0)
        return counts and _is_labelled_next(element)
    shown = _to_number(text)
    is_count = is_first and shown > 1 and _is_step(number, shown)
    return is_count or any(shown - number / size in (0, 1) for size in sizes)


def _is_step(number: int, page: int) -> bool:
    """Whether a number may be that of the products before a page."""
    return number % (page - 1) == 0 and _MIN_STEP <= number // (page - 1) <= _MAX_STEP


def _counts_products(element: Element, name: str, number: int, page: int) -> bool:
    """Whether a parameter is the number of products before a page, as in the link beside this one."""
    if page < _FIRST_NUMBERED or not _is_step(number, page):
        return False
    parameter = re.compile(rf"[?&]{re.escape(name)}=(\d{{1,{_MAX_DIGITS}}})(?:&|$)")
    for box in islice(element.iterancestors(), _PAGER_LEVELS):
        for other in islice(box.iter("a"), _MAX_PAGER_LINKS):
            shown, match = (
                _to_number(short_text(other)),
                parameter.search(unquote(other.get("href") or "")),
            )
            if match and shown not in {0, 1, page}:
                return int(match[1]) * (page - 1) == number * (shown - 1)
    return False


def _counts_from_zero(element: Element, name: str, shown: int) -> bool:
    """Whether a link is in a pager that counts pages from 0, and shows the page before this one.

    All links of its box have labels that are one higher than the value of the parameter.
    """
    value = re.compile(rf"[?&]{re.escape(name)}=(\d{{1,{_MAX_DIGITS}}})(?:&|$)")
    for box in islice(element.iterancestors(), _PAGER_LEVELS):
        text = "".join(islice(box.itertext(), _MAX_PAGER_TEXTS))
        if not re.search(rf"(?<!\d){shown - 1}(?!\d)", text):
            continue
        links = [*islice(box.iter("a"), _MAX_PAGER_LINKS)]
        matches = [(a, value.search(unquote(a.get("href") or ""))) for a in links]
        labels = [(short_text(a), match[1]) for a, match in matches if match]
        return all(label == str(int(v) + 1) for label, v in labels if label.isdecimal())
    return False


def _is_labelled_next(element: Element) -> bool:
    text = short_text(element) or (element.get("aria-label") or "")[:_MAX_LABEL_LENGTH]
    return _NEXT_LABEL(text) is not None


def _to_number(text: str) -> int:
    """Return a text as a whole number; 0 for any other text."""
    return int(text) if text.isdecimal() and len(text) <= _MAX_DIGITS else 0


def without_page(path: str) -> str:
    """Return a path without its page number and without a slash at its end."""
    return _PAGE_PATH.sub("/", path).rstrip("/")

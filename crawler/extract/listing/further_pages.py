"""Count a listing's pages from its first page, so that all are fetched at once and not one by one.

The count comes from the links to further pages (the highest number), or from a text such as "page 1
of 57" or "1-20 of 1,140 results". The links also show where an address has the page number.
`probing` searches for the last page if neither names it.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import is_front
from crawler.extract.links.choice import Link
from crawler.extract.links.facets import is_script_path
from crawler.extract.links.pagination import OFFSETS, PAGE_NAMES, is_display_parameter, without_page
from crawler.extract.page.page import Page, text_of
from crawler.extract.words import any_of

#: Of a longer listing only the linked pages are fetched, because such a pager is probably a trap.
MAX_PAGES = 500
_NUMBER = lazy_patterns.pattern(
    rf"(?P<front>[?&](?:{PAGE_NAMES})="
    rf"|/(?:{any_of('paging', 'page')})[/-]?|-(?:page|seite)-?)(?P<number>\d{{1,6}})(?=$|[&/#.])",
    re.IGNORECASE,
)
_OFFSETS = lazy_patterns.pattern(rf"[?&](?:{OFFSETS})=$", re.IGNORECASE)
_OF = rf"(?:{any_of('paging', 'of')}|/)"
_PAGE_OF = lazy_patterns.pattern(
    rf"(?<![^\W\d_])(?:{any_of('paging', 'page')}|{any_of('paging', 'page_shown')})"
    rf"\s*\d{{1,5}}\s*{_OF}\s*(\d{{1,5}})(?!\d)",
    re.IGNORECASE,
)
_RESULTS_OF = lazy_patterns.pattern(
    rf"\b1\s*(?:-|–|{any_of('paging', 'to')})\s*(\d{{1,4}})\s*{_OF}\s*(\d{{1,3}}(?:[.,\s]\d{{3}}){{1,3}}|\d{{1,6}})\b",
    re.IGNORECASE,
)


def further_pages(page: Page, links: Iterable[Link]) -> list[str]:
    """Return the addresses of the pages that a listing's first page does not link to."""
    numbers = numbers_of(links)
    if not numbers:
        return []
    template, linked_numbers = max(numbers.items(), key=lambda pair: len(pair[1]))
    current = split_number(page.url)
    if current is not None and current[1] > 1:
        return []
    step = step_of(template, linked_numbers)
    last_number = max(*linked_numbers, _last_number_in_text(page, step))
    numbers_in_range = range(step if step > 1 else 2, last_number + 1, step)
    if len(numbers_in_range) > MAX_PAGES:
        return []
    return [template.replace("{}", str(n)) for n in numbers_in_range if n not in linked_numbers]


def split_number(url: str) -> tuple[str, int] | None:
    """Return an address with `{}` for its page number, and the number; None if it has none.

    >>> split_number("https://a.example/tents?page=7&sort=price")
    ('https://a.example/tents?page={}&sort=price', 7)
    >>> split_number("https://a.example/tents/page/7/")
    ('https://a.example/tents/page/{}/', 7)
    """
    match = _NUMBER.search(url)
    if match is None:
        return None
    template = f"{url[: match.start('number')]}{{}}{url[match.end('number') :]}"
    return template, int(match["number"])


def first_page_again(page_url: str, links: Iterable[Link]) -> tuple[str, set[str]]:
    """Return a listing's own address, and a later page's links to its first page, which is that.

    Such a link may have the number 0 or 1, and orders or sizes that the own address has not.

    >>> pager = [Link(f"https://a.example/c{end}", "pagination", "") for end in ("?p=1&sort=x", "?p=0")]
    >>> own, again = first_page_again("https://a.example/c?p=2&sort=x", pager)
    >>> own, sorted(again)
    ('https://a.example/c', ['https://a.example/c?p=0', 'https://a.example/c?p=1&sort=x'])
    >>> first_page_again("https://a.example/c", pager), first_page_again("https://a.example/?p=2", pager)
    (('', set()), ('', set()))
    """
    template, current = split_number(page_url) or (page_url, 0)
    own = own_address(template)
    if not current or is_front(own) or is_script_path(own):  # there its number may be any page's
        return "", set()
    return own, {x.url for x in links if x.kind != "product" and _is_first(x.url, own, current)}


def _is_first(url: str, own: str, current: int) -> bool:
    """Whether an address is that of a listing's first page; pages are counted from 0 or from 1."""
    template, number = split_number(url) or (url, 0)
    return number < min(current, 2) and own_address(template) == own


def own_address(template: str) -> str:
    """Return an address without its page number (`{}`), its order and its size."""
    place, _, query = template.partition("?")
    kept = [
        pair
        for pair in query.split("&")
        if "{}" not in pair and not is_display_parameter(pair.partition("=")[0])
    ]
    place = without_page(place.replace("{}", "1")) if "{}" in place else place
    return f"{place}?{'&'.join(kept)}" if any(kept) else place


def numbers_of(links: Iterable[Link]) -> dict[str, set[int]]:
    """Return the page numbers of pagination links, by the template of their addresses."""
    numbers: dict[str, set[int]] = defaultdict(set)
    for link in links:
        parts = (
            split_number(link.url) if link.kind == "pagination" and "{" not in link.url else None
        )
        if parts is not None and parts[1] > 0:
            numbers[parts[0]].add(parts[1])
    return numbers


def step_of(template: str, numbers: set[int]) -> int:
    """Return 1, or the products on a page if the addresses count products (`start=40`)."""
    if not _OFFSETS.search(template.partition("{}")[0]):
        return 1
    return math.gcd(*numbers)


def _last_number_in_text(page: Page, step: int) -> int:
    """Return the number of the last page, as addresses count, from the text; 0 if it has none."""
    text = text_of(page.root)
    pages = _PAGE_OF.search(text)
    if pages is not None:
        return int(pages[1]) if step == 1 else (int(pages[1]) - 1) * step
    results = _RESULTS_OF.search(text)
    if results is None or int(results[1]) < 2:  # a page with one result is no listing
        return 0
    total = int(re.sub(r"\D", "", results[2]))
    count = math.ceil(total / int(results[1]))
    return count if step == 1 else (count - 1) * step

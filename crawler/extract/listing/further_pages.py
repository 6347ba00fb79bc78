"""How many pages a listing has, so that all of them can be fetched at once and not one by one.

Three signs, the best first: the page's links to further pages (the last one counts), "page 1 of
57", "1-20 of 1,140 results". The links also show how an address carries its page's number.
Where none of them tells, `probing` finds out.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable

from crawler.extract import lazy_patterns
from crawler.extract.links.choice import Link
from crawler.extract.page.page import Page, text_of
from crawler.extract.words import any_of

#: More pages than this are left to the links from page to page: such a pager is rather a trap.
MOST_PAGES = 500
_NUMBER = lazy_patterns.pattern(
    r"(?P<front>[?&](?:page|p|pg|paged|pagina|pageno|page_?num(?:ber)?|seite|start|offset|from|cp)="
    rf"|/(?:{any_of('paging', 'page')})[/-]?|-(?:page|seite)-?)(?P<number>\d{{1,6}})(?=$|[&/#.])",
    re.IGNORECASE,
)
_OFFSETS = lazy_patterns.pattern(r"[?&](?:start|offset|from)=$", re.IGNORECASE)
_OF = rf"(?:{any_of('paging', 'of')}|/)"
_PAGE_OF = lazy_patterns.pattern(
    rf"\b(?:{any_of('paging', 'page')}|{any_of('paging', 'page_shown')})"
    rf"\s*\d{{1,5}}\s*{_OF}\s*(\d{{1,5}})\b",
    re.IGNORECASE,
)
_RESULTS_OF = lazy_patterns.pattern(
    rf"\b1\s*(?:-|–|{any_of('paging', 'to')})\s*(\d{{1,4}})\s*{_OF}\s*(\d{{1,3}}(?:[.,\s]\d{{3}}){{1,3}}|\d{{1,6}})\b",
    re.IGNORECASE,
)


def further_pages(page: Page, links: Iterable[Link]) -> list[str]:
    """Addresses of the listing's pages that it has no link to; none except from its first page."""
    numbers = numbers_of(links)
    if not numbers:
        return []
    template, found = max(numbers.items(), key=lambda pair: len(pair[1]))
    here = split(page.url)
    if here is not None and here[1] > 1:
        return []
    step = step_of(template, found)
    last = max(*found, _told(page, step))
    wanted = range(step if step > 1 else 2, last + 1, step)
    if len(wanted) > MOST_PAGES:
        return []
    return [template.replace("{}", str(n)) for n in wanted if n not in found]


def split(url: str) -> tuple[str, int] | None:
    """An address without its page's number, and the number; None where it has none.

    >>> split("https://a.example/tents?page=7&sort=price")
    ('https://a.example/tents?page={}&sort=price', 7)
    >>> split("https://a.example/tents/page/7/")
    ('https://a.example/tents/page/{}/', 7)
    """
    match = _NUMBER.search(url)
    if match is None:
        return None
    template = f"{url[: match.start('number')]}{{}}{url[match.end('number') :]}"
    return template, int(match["number"])


def numbers_of(links: Iterable[Link]) -> dict[str, set[int]]:
    """The numbers of the pages that are linked, by how their addresses look."""
    found: dict[str, set[int]] = defaultdict(set)
    for link in links:
        parts = split(link.url) if link.kind == "pagination" and "{" not in link.url else None
        if parts is not None and parts[1] > 0:
            found[parts[0]].add(parts[1])
    return found


def step_of(template: str, found: set[int]) -> int:
    """One, or the length of a page where addresses count products."""
    if not _OFFSETS.search(template.partition("{}")[0]):
        return 1
    return math.gcd(*found)


def _told(page: Page, step: int) -> int:
    """The last page's number, as the text has it; 0 where it says nothing."""
    text = text_of(page.root)
    pages = _PAGE_OF.search(text)
    if pages is not None:
        return int(pages[1]) if step == 1 else (int(pages[1]) - 1) * step
    results = _RESULTS_OF.search(text)
    if results is None or int(results[1]) < 2:  # one result a page is no listing
        return 0
    total = int(re.sub(r"\D", "", results[2]))
    count = math.ceil(total / int(results[1]))
    return count if step == 1 else (count - 1) * step

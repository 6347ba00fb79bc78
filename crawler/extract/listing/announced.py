"""What a listing without links to its further pages says of them: how many products, how many pages.

Pagers of scripts have `href="#"`, and no address. The state in the page, attributes, the buttons'
labels and the text over the tiles tell how many there are; the address of the second page is tried
in the few forms that shops' servers read. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.links.choice import Link, url_checksum
from crawler.extract.links.scripted import SCRIPTED
from crawler.extract.listing.further_pages import MOST_PAGES, numbers_of, split
from crawler.extract.page import lines
from crawler.extract.page.page import Page
from crawler.extract.words import any_of
from scrapy_seine.records import Value
from scrapy_seine.urls import MAX_LENGTH

#: Forms of a second page's address, the most frequent first; each costs one request of a site.
_FORMS = ("page={}", "p={}", "/page/{}")
#: Bytes of a page, and letters of a line, in which numbers are looked for.
_MOST_RAW, _LONGEST = 2_000_000, 120
#: What is told as a number in JSON, in a script or in an attribute, and the name before it. Patterns
#: begin with what is rare in a page, because each letter is looked at.
_NUMBER = lazy_patterns.pattern(rb"[:=]\s{0,3}[\"']?(\d{1,6})\b")
_NAME = lazy_patterns.pattern(rb"[\w-]++")
_LONGEST_NAME = 34
_STATE = lazy_patterns.pattern(
    rb"(?:[\w-]{1,26}-)?(?P<what>(?:total|num|nb|count|last|max)[_-]?(?:of[_-]?)?(?P<pages>pages?)"
    rb"|page[_-]?count|pages[_-]?total"
    rb"|(?:total|num|nb)[_-]?(?:of[_-]?)?(?:results?|items?|products?|hits|count|elements?|records?)"
    rb"|(?:results?|items?|products?|hits)[_-]?(?:total|count))",
    re.I,
)
_ATTRIBUTE = lazy_patterns.pattern(
    rb"\bdata-(?:page|page-?n(?:o|um|umber)|pg)=[\"']?(\d{1,4})\b", re.I
)
#: For texts in lower case: to fold each letter costs four times as much.
_TOTAL = lazy_patterns.pattern(
    rf"(\d(?<![\d.,]\d)(?:\d{{0,2}}(?:[.,\s]\d{{3}})+|\d{{0,5}}))\s?(?:{any_of('paging', 'things')})(?!\w)"
)
_PAGES = frozenset({b"pagecount", b"pagestotal"})
#: Products of a first page that are remembered, and products of any listing.
_MOST_MARKS, _MOST_PRODUCTS = 300, 1_000_000
_MOST_BUTTONS = 3_000
_NOWHERE = ("#", "javascript:")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Search(Value):
    """A search for a listing's second page, as a stored request holds it."""

    listing: str
    """The first page's address."""
    templates: Sequence[str]
    """Addresses that are tried, with `{}` for the number; the first one is asked."""
    seen: Sequence[int]
    """The first page's products (`url_checksum`)."""
    products: int
    pages: int

    @property
    def url(self) -> str:
        """Address to look at next."""
        return self.templates[0].replace("{}", "2")

    def next(self) -> Search | None:
        """The search with the next address; None: there is none left."""
        left = self.templates[1:]
        return attrs.evolve(self, templates=left) if left else None

    def further(self, links: Sequence[Link]) -> list[str] | None:
        """The addresses from the third page on, by what the second one leads to; None: it is none.

        Half of its products have to be new: a shop may answer any address with its first page.
        """
        marks = [url_checksum(link.url) for link in links if link.kind == "product"]
        fresh = len(set(marks) - set(self.seen))
        if not fresh or 2 * fresh < len(marks):
            return None
        last = self.pages or math.ceil(self.products / fresh)
        return [
            self.templates[0].replace("{}", str(n)) for n in range(3, min(last, MOST_PAGES) + 1)
        ]

    def plain(self) -> dict[str, object]:
        """Lay it out for a stored request."""
        return attrs.asdict(self)


def begin(page: Page, links: Sequence[Link], told: Announced) -> Search | None:
    """Begin a search at a listing's first page; None where its address may not be extended."""
    templates = list(guesses(page.url))
    if not templates:
        return None
    seen = [url_checksum(link.url) for link in links if link.kind == "product"][:_MOST_MARKS]
    return Search(
        listing=page.url, templates=templates, seen=seen, products=told.products, pages=told.pages
    )


def resume(plain: Mapping[str, object]) -> Search:
    """Read what `Search.plain` laid out.

    Raises:
        TypeError: it is something else.
        ValueError: it asks for an address that no search makes.
    """
    search = Search(**plain)  # type: ignore[arg-type]  # a stored request holds any value
    for number in (search.products, search.pages):
        if type(number) is not int or not 0 <= number < _MOST_PRODUCTS:
            raise ValueError(f"a listing's further pages are looked for with {number!r:.40}")
    for template in search.templates:
        if len(template) > MAX_LENGTH or template.count("{}") != 1:
            raise ValueError(f"a listing's further pages are looked for at {template!r:.80}")
    if not search.templates:
        raise ValueError("a listing's further pages are looked for nowhere")
    return search


@attrs.frozen(eq=False, repr=False)
class Announced(Value):
    """What a listing says of itself beyond what it shows."""

    products: int
    """All of them; 0: it does not say."""
    pages: int
    """0: it does not say."""
    shown: int
    """Products that the page leads to."""


def has_list(kind: str, links: Sequence[Link]) -> bool:
    """Whether a page of that kind shows a list, or a script of it does: a browser draws it then."""
    return kind == "listing" or any(link.reason == SCRIPTED for link in links)


def announced(page: Page, links: Sequence[Link]) -> Announced | None:
    """What the first page of a listing says of more; None where it shows all, or links lead on."""
    here = split(page.url)
    if numbers_of(links) or any(link.kind == "pagination" for link in links):
        return None
    if here is not None and here[1] > 1:
        return None
    shown = sum(link.kind == "product" for link in links)
    if not shown:
        return None
    products, pages = _in_state(page)
    pages = max(pages, _labels(page))
    pages = pages if pages <= MOST_PAGES else 0  # such a pager is rather a trap
    products = products or _in_text(page, shown)
    if pages > 1 or products > shown:
        return Announced(products if products > shown else 0, pages if pages > 1 else 0, shown)
    return None


def guesses(url: str) -> Iterator[str]:
    """Addresses that a listing's pages may have, with `{}` for the number.

    >>> list(guesses("https://a.example/c/lamps?sort=price"))[0]
    'https://a.example/c/lamps?sort=price&page={}'
    >>> list(guesses("https://a.example/c/lamps/"))[1:]
    ['https://a.example/c/lamps/?p={}', 'https://a.example/c/lamps/page/{}']
    """
    address = url.partition("#")[0]
    if "{" in address or "}" in address:
        return
    path, mark, query = address.partition("?")
    for form in _FORMS:
        if form[0] != "/":
            yield f"{address}{'&' if query else '?' * (not mark)}{form}"
        elif not query:
            yield f"{path.rstrip('/')}{form}"


def _in_state(page: Page) -> tuple[int, int]:
    """Products and pages that scripts and attributes tell, where each is told as one number."""
    told: dict[bool, set[int]] = {True: set(), False: set()}
    for match in _NUMBER.finditer(page.raw, 0, _MOST_RAW):
        if found := _STATE.fullmatch(_name_before(page.raw, match.start())):
            what = re.sub(rb"[_-]", b"", found["what"].lower())
            told[bool(found["pages"]) or what in _PAGES].add(int(match[1]))
    products, pages = (told[kind] - {0} for kind in (False, True))
    return (
        products.pop() if len(products) == 1 else 0,
        pages.pop() if len(pages) == 1 else 0,
    )


def _name_before(raw: bytes, place: int) -> bytes:
    """The name that ends at a place, without its quotes; empty where none does.

    >>> _name_before(b'{"total_pages" : 4}', 15)
    b'total_pages'
    """
    before = raw[max(0, place - _LONGEST_NAME) : place].rstrip().rstrip(b"\"'")
    names = _NAME.findall(before)
    return names[-1] if names and before.endswith(names[-1]) else b""


def _labels(page: Page) -> int:
    """The highest number on a pager's buttons that lead nowhere; 0 where there is no pager."""
    numbers = {int(found) for found in _ATTRIBUTE.findall(page.raw, 0, _MOST_RAW)}
    for element, _ in zip(page.root.iter("a", "button"), range(_MOST_BUTTONS), strict=False):
        text = (element.text or "").strip()
        if text.isdecimal() and len(text) < 5 and (element.get("href") or "#").startswith(_NOWHERE):
            numbers.add(int(text))
    return max(numbers) if {1, 2} <= numbers else 0


def _in_text(page: Page, least: int) -> int:
    """The one number of products that the page's text tells; 0 where it tells none, or several.

    Numbers up to *least* are of no interest: a page without larger ones is not read by lines.
    """
    whole = "".join(page.root.itertext()).lower()
    if all(_number(match) <= least for match in _TOTAL.finditer(whole)):
        return 0
    shown = (
        line.text for line in lines.read_all(page, None).lines if not line.flags & lines.HIDDEN
    )
    short = (text for text in shown if len(text) <= _LONGEST)
    found = {_number(match) for text in short for match in _TOTAL.finditer(text.lower())}
    return found.pop() if len(found) == 1 else 0


def _number(match: re.Match[str]) -> int:
    return int(re.sub(r"\D", "", match[1]))

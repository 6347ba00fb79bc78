"""The counts of products and pages that a listing without links to further pages announces.

A script's pager has `href="#"` and no address. The counts stand in the page's state, in attributes,
on the pager's buttons or in the text above the tiles. The address of the second page is tried in
the few forms that shops' servers understand. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from urllib.parse import parse_qsl, urlsplit

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.links.choice import Link
from crawler.extract.links.fingerprints import url_checksum
from crawler.extract.links.pagination import is_page_parameter, page_number
from crawler.extract.links.scripted import SCRIPTED
from crawler.extract.links.traps import is_trap
from crawler.extract.listing.further_pages import MAX_PAGES, numbers_of, split_number, step_of
from crawler.extract.page import lines
from crawler.extract.page.page import Page
from crawler.extract.words import any_of
from scrapy_seine.attrs_bases import Value
from scrapy_seine.urls import MAX_LENGTH, domain_of_tidy

#: Forms of a second page's address, the most frequent first; each costs one request of a site.
_ADDRESS_FORMS = ("page={}", "p={}", "/page/{}")
_MAX_OWN_FORMS, _SECOND = 2, 2
#: Bytes of a page that are searched for numbers, and characters of a line.
_MAX_RAW_BYTES, _MAX_LINE_LENGTH = 2_000_000, 120
#: A number as a value in JSON, in a script or in an attribute; its name is read backwards from it.
#: Patterns begin with characters that are rare in a page, because every position is tried.
_NUMBER = lazy_patterns.pattern(rb"[:=]\s{0,3}[\"']?(\d{1,6})\b")
_NAME = lazy_patterns.pattern(rb"[\w-]++")
_MAX_NAME_LENGTH = 34
_STATE = lazy_patterns.pattern(
    rb"(?:[\w-]{1,26}-)?(?P<what>(?:total|num|nb|count|last|max)[_-]?(?:of[_-]?)?(?P<pages>pages?)"
    rb"|page[_-]?count|pages[_-]?total"
    rb"|(?:total|num|nb)[_-]?(?:of[_-]?)?(?:results?|items?|products?|hits|count|elements?|records?)"
    rb"|(?:results?|items?|products?|hits)[_-]?(?:total|count))",
    re.I,
)
_PAGE_ATTRIBUTE = lazy_patterns.pattern(
    rb"\bdata-(?:page|page-?n(?:o|um|umber)|pg)=[\"']?(\d{1,4})\b", re.I
)
#: For lower-case texts, because ignoring case makes the search four times as slow.
_TOTAL = lazy_patterns.pattern(
    rf"(\d(?<![\d.,]\d)(?:\d{{0,2}}(?:[.,\s]\d{{3}}){{1,3}}|\d{{0,5}}))\s{{0,3}}(?:{any_of('paging', 'things')})(?!\w)"
)
_AFTER_FIELD = lazy_patterns.pattern(r"\D{1,20}(\d{1,4})\b(?!\s*\d)")
_PAGE_COUNT_NAMES = frozenset({b"pagecount", b"pagestotal"})
_PAGES_ATTRIBUTE = lazy_patterns.pattern(rb"\sdata-pages=[\"']?(\d{1,4})\b")
#: The name of a product's address in a script's list, and names that make a list.
MIN_HANDLES = 3
HANDLE_NAMES = (b"handle", b"slug", b"rl_key", b"rlKey", b"rlkey")
_HANDLE = lazy_patterns.pattern(
    rb"\"(?:handle|slug|url_?key)\\?\"\s?:\s?\\?\"([\w-]{3,100})\\?\"", re.I
)
#: A parameter to which a script adds a number, and the end of an address with a place for one.
_ADDED = lazy_patterns.pattern(rb"[?&]([a-z_]{1,20})=(?:[\"'`]\s?\+|\$?\{)", re.I)
_PLACE = rb"((?:\\?[/?&-]|\?[\w=&%.-]{1,80}&)[A-Za-z_]{1,20}(?:\\?/|[-=]))(?:[\"'`]\s?\+|\$?\{)"
#: An address that a script completes with a page's number, and with what follows it.
_COMPLETED = lazy_patterns.pattern(
    rb"[\"'`](\\?/[\w./\\-]{1,120}\?(?:[\w%.\[\]-]{1,30}=[\w%.-]{0,40}&){0,6}([a-z_]{1,20})=)"
    rb"(?:\$\{[^{}`]{1,40}\}|[\"'`]\s?\+\s?[\w.()* ]{1,40}\+\s?[\"'`]|[\"'`]\s?\+)"
    rb"((?:&[\w\[\]-]{1,30}=[\w%.-]{1,40}(?=[&\"'`])){0,6})",
    re.I,
)
_MAX_COMPLETED = 20
#: An attribute with the path of a page that a script requests.
_OF_LIST = lazy_patterns.pattern(
    rb"\sdata-(?:[a-z]{1,12}-){0,2}(?:url|href|endpoint|action|source)=[\"'](/[\w./-]{1,150})[\"']"
)
#: How many products a page of an address has.
_SIZE = lazy_patterns.pattern(
    r"[?&](?:limit|take|size|count|per_?page|page_?size|first)=(\d{1,3})(?=&|$)", re.I
)
#: A total of the list in which a page's size stands beside it; the name alone may be a cart's.
_TOTAL_OF_PAGES = lazy_patterns.pattern(
    rb"\"total\\?\"\s?:\s?(\d{1,6})\b[^{}\[\]]{0,80}?\"(?:limit|offset|skip|per_?page|page_?size)\\?\""
    rb"|\"(?:limit|offset|skip|per_?page|page_?size)\\?\"\s?:[^{}\[\]]{0,80}?\"total\\?\"\s?:\s?(\d{1,6})\b",
    re.I,
)
#: How scripts ask for data by POST.
_POSTS = (b"'POST'", b'"POST"', b"'post'", b'"post"', b".post(", b"graphql")
#: Products of the first page that are stored, and products that a listing may announce.
_MAX_CHECKSUMS, _MAX_PRODUCTS = 300, 1_000_000
_MAX_BUTTONS = 3_000
_NOWHERE = ("#", "javascript:")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Search(Value):
    """The search for a listing's second page, as it is stored in a request."""

    listing: str
    """The first page's address."""
    templates: Sequence[str]
    """Possible addresses, with `{}` for the page number; the first one is requested."""
    seen: Sequence[int]
    """Checksums (`url_checksum`) of the first page's product links."""
    products: int
    pages: int
    linked: int = 0
    """Products to which the first page links."""
    by_post: bool = False
    """Whether the listing's script or form asks for something by POST."""

    @property
    def url(self) -> str:
        """The address to request next."""
        return self._address(_SECOND)

    def _address(self, place: int) -> str:
        number = place if self._step == 1 else (place - 1) * self._step
        return self.templates[0].replace("{}", str(number))

    @property
    def _step(self) -> int:
        """The number of products on a page if the addresses count products, else 1."""
        template = self.templates[0]
        return step_of(template, {_size_in(template) or self.linked or 1})

    def next_search(self) -> Search | None:
        """Return the search with the next address; None if none remains."""
        remaining = self.templates[1:]
        return attrs.evolve(self, templates=remaining) if remaining else None

    def further_urls(self, links: Sequence[Link]) -> list[str] | None:
        """Return the addresses of the other pages; None if *links* are not of a second page.

        Half of the products must be new, because a shop may answer any address with its first page.
        A script's own address may count pages from 0, so that its page 1 is asked for as well.
        """
        marks = _checksums(links, "product")
        has_products = bool(marks)  # a later page's tiles are not read, by which links are products
        marks = marks or _checksums(links, "other")
        fresh = len(set(marks) - set(self.seen))
        if not fresh or (has_products and 2 * fresh < len(marks)):
            return None
        last_page = self.pages or math.ceil(self.products / fresh)
        places = [*range(_SECOND + 1, min(last_page, MAX_PAGES) + 1)]
        if self._step == 1 and _place_of(self.templates[0]) != _place_of(self.listing):
            places.append(1)
        return [self._address(place) for place in places]

    def plain(self) -> dict[str, object]:
        """Return the search as a dictionary for a stored request."""
        return attrs.asdict(self)


def begin(page: Page, links: Sequence[Link], notice: Announced) -> Search | None:
    """Begin a search at a listing's first page; None if its address cannot be extended."""
    fields = (field.get("name") or "" for field in page.root.iter("input"))
    names = [name for name in fields if is_page_parameter(name)]
    usual = [*guesses(page.url, [*names, *_names_in_scripts(page)])]
    own = [
        *_own_templates(page),
        *islice(_templates_in_scripts(page), _MAX_OWN_FORMS),
        *islice(_templates_in_attributes(page, links), _MAX_OWN_FORMS),
    ]
    templates = [*dict.fromkeys([*own, *usual])] if usual else []
    if not templates:
        return None
    checksums = [*_checksums(links, "product"), *_checksums(links, "other")][:_MAX_CHECKSUMS]
    return Search(
        listing=page.url,
        templates=templates,
        seen=checksums,
        products=notice.products,
        pages=notice.pages,
        linked=notice.linked,
        by_post=notice.by_post,
    )


def _checksums(links: Sequence[Link], kind: str) -> list[int]:
    return [url_checksum(link.url) for link in links if link.kind == kind]


def _names_in_scripts(page: Page) -> list[str]:
    """Return the page parameters to which a script adds a number: `"?sayfa=" + number`."""
    names = [name.decode() for name in _ADDED.findall(page.raw, 0, _MAX_RAW_BYTES)]
    return [name for name in names if is_page_parameter(name)]


def _own_templates(page: Page) -> Iterator[str]:
    """Yield the listing's own address with a place for a number: `/lamps/page-{page}`."""
    path = urlsplit(page.url).path.rstrip("/")
    for spelt in dict.fromkeys((path, path.replace("/", "\\/"))) if path else ():
        pattern = re.escape(spelt.encode()) + _PLACE
        for match in islice(re.finditer(pattern, page.raw[:_MAX_RAW_BYTES]), _MAX_OWN_FORMS):
            url = page.resolve(path + match[1].decode().replace("\\", ""))
            if url is not None and "{" not in url and _number_of(f"{url}2") == _SECOND:
                yield f"{url}{{}}"


def _templates_in_scripts(page: Page) -> Iterator[str]:
    """Yield the addresses that a script completes with a number: `/api/lamps?offset=${n}&limit=24`."""
    for match in islice(_COMPLETED.finditer(page.raw, 0, _MAX_RAW_BYTES), _MAX_COMPLETED):
        address, name, rest = (part.decode("utf-8", "replace") for part in match.groups(b""))
        if not is_page_parameter(name):
            continue
        url = page.resolve(f"{address}2{rest}".replace("\\/", "/"))
        if url is not None and "{" not in url and domain_of_tidy(url) == domain_of_tidy(page.url):
            begin = url.index(f"{name}=2", url.index("?")) + len(name) + 1
            yield f"{url[:begin]}{{}}{url[begin + 1 :]}"


def _templates_in_attributes(page: Page, links: Sequence[Link]) -> Iterator[str]:
    """Yield addresses of attributes with the page parameter to which a script adds a number."""
    name = next(iter(_names_in_scripts(page)), "")
    known = {link.url for link in links}
    references = _OF_LIST.findall(page.raw, 0, _MAX_RAW_BYTES) if name else ()
    for reference in dict.fromkeys(references):
        url = page.resolve(reference.decode())
        if url is not None and url not in known and not is_trap(url):
            yield f"{url}?{name}={{}}"


def _size_in(template: str) -> int:
    """Return the number of products on a page that an address asks for; 0 if it has none."""
    sizes = (match[1] for match in _SIZE.finditer(template))
    return int(next(sizes, "0"))


def _place_of(url: str) -> str:
    return url.partition("?")[0].rstrip("/")


def _number_of(url: str) -> int:
    """Return the page number in an address, under any usual name; 0 without one."""
    parts = urlsplit(url)
    return page_number(("", parts.path, tuple(parse_qsl(parts.query))))


def resume(plain: Mapping[str, object]) -> Search:
    """Restore a search from `Search.plain`.

    Raises:
        TypeError: *plain* has other fields than a search.
        ValueError: a number or an address is one that no search makes.
    """
    search = Search(**plain)  # type: ignore[arg-type]  # a stored request holds any value
    for number in (search.products, search.pages, search.linked):
        if type(number) is not int or not 0 <= number < _MAX_PRODUCTS:
            raise ValueError(f"a listing's further pages are looked for with {number!r:.40}")
    for template in search.templates:
        if len(template) > MAX_LENGTH or template.count("{}") != 1:
            raise ValueError(f"a listing's further pages are looked for at {template!r:.80}")
    if not search.templates:
        raise ValueError("a listing's further pages are looked for nowhere")
    return search


@attrs.frozen(eq=False, repr=False)
class Announced(Value):
    """The size of a listing as its first page announces it."""

    products: int
    """Products of the listing; 0: not announced."""
    pages: int
    """Pages of the listing; 0: not announced."""
    linked: int
    """Products that the first page links to."""
    by_post: bool = False
    """Whether a script or a form of the page asks for something by POST."""


def has_list(kind: str, page: Page, links: Sequence[Link]) -> bool:
    """Whether a page is a listing, or one of its scripts holds a list for the browser to render.

    Such a list may have a name for each product's address alone.
    """
    if kind == "listing" or any(link.reason == SCRIPTED for link in links):
        return True
    return kind == "other" and _lists_unlinked(page, links)


def announced(page: Page, links: Sequence[Link]) -> Announced | None:
    """Return what a listing's first page announces; None if it shows all or links to more pages."""
    if numbers_of(links) or any(link.kind == "pagination" for link in links):
        return None
    current = split_number(page.url)
    if max(current[1] if current is not None else 0, _number_of(page.url)) > 1:
        return None
    linked = sum(link.kind == "product" for link in links)
    if not linked and not _lists_unlinked(page, links):
        return None
    products, pages = _counts_in_state(page)
    if not linked:
        return Announced(products, pages, 0) if products else None
    pages = max(pages, _highest_label(page))
    pages = pages if pages <= MAX_PAGES else 0  # a longer pager is probably a trap
    products = products or _total_in_text(page, linked)
    if pages > 1 or products > linked:
        by_post = any(map(page.holds, _POSTS))
        counts = products if products > linked else 0, pages if pages > 1 else 0
        return Announced(*counts, linked, by_post)
    return None


def shows_all(page: Page, links: Sequence[Link]) -> bool:
    """Whether a listing's text has its count of products, and it links to as many."""
    linked = sum(link.kind == "product" for link in links)
    page_text = " ".join(page.root.itertext()).lower()
    totals = {_to_number(match) for match in _TOTAL.finditer(page_text)}
    return max(totals, default=0) == linked


def handles_of(page: Page) -> set[str]:
    """Return the last parts of products' addresses that a page's scripts hold."""
    return {*map(bytes.decode, _HANDLE.findall(page.raw, 0, _MAX_RAW_BYTES))}


def _lists_unlinked(page: Page, links: Sequence[Link]) -> bool:
    """Whether a script lists products by the names in their addresses, most of them without a link."""
    handles = handles_of(page)
    if len(handles) < MIN_HANDLES:
        return False
    return 2 * sum(link.url.rpartition("/")[2] in handles for link in links) < len(handles)


def guesses(url: str, names: Iterable[str] = ()) -> Iterator[str]:
    """Yield addresses that a listing's pages may have, with `{}` for the page number.

    *names* are the names of the page's own fields for a page number, which come first.

    >>> list(guesses("https://a.example/c/lamps?sort=price"))[0]
    'https://a.example/c/lamps?sort=price&page={}'
    >>> list(guesses("https://a.example/c/lamps/"))[1:]
    ['https://a.example/c/lamps/?p={}', 'https://a.example/c/lamps/page/{}/']
    """
    address = url.partition("#")[0]
    if "{" in address or "}" in address:
        return
    path, mark, query = address.partition("?")
    own_forms = [f"{name}={{}}" for name in dict.fromkeys(names)][:_MAX_OWN_FORMS]
    for form in dict.fromkeys((*own_forms, *_ADDRESS_FORMS)):
        if form[0] != "/":
            yield f"{address}{'&' if query else '?' * (not mark)}{form}"
        elif not query:
            yield f"{path.rstrip('/')}{form}{'/' * path.endswith('/')}"


def _counts_in_state(page: Page) -> tuple[int, int]:
    """Return the counts of products and pages in scripts and attributes; 0 if they are ambiguous."""
    numbers: dict[bool, set[int]] = {True: set(), False: set()}
    for match in _NUMBER.finditer(page.raw, 0, _MAX_RAW_BYTES):
        if match_of_name := _STATE.fullmatch(_name_before(page.raw, match.start())):
            name = re.sub(rb"[_-]", b"", match_of_name["what"].lower())
            numbers[bool(match_of_name["pages"]) or name in _PAGE_COUNT_NAMES].add(int(match[1]))
    numbers[True].update(map(int, _PAGES_ATTRIBUTE.findall(page.raw, 0, _MAX_RAW_BYTES)))
    products, pages = (numbers[kind] - {0} for kind in (False, True))
    if not products and page.holds(b'"total'):
        found = _TOTAL_OF_PAGES.finditer(page.raw, 0, _MAX_RAW_BYTES)
        products = {int(match[1] or match[2]) for match in found} - {0}
    return (
        products.pop() if len(products) == 1 else 0,
        pages.pop() if len(pages) == 1 else 0,
    )


def _name_before(raw: bytes, place: int) -> bytes:
    """Return the name that ends at a place, without quotes; empty if there is none.

    >>> _name_before(b'{"total_pages" : 4}', 15)
    b'total_pages'
    """
    before = raw[max(0, place - _MAX_NAME_LENGTH) : place].rstrip().rstrip(b"\"'")
    names = _NAME.findall(before)
    return names[-1] if names and before.endswith(names[-1]) else b""


def _highest_label(page: Page) -> int:
    """Return the highest number on a pager's buttons without an address; 0 without a pager."""
    numbers = {int(digits) for digits in _PAGE_ATTRIBUTE.findall(page.raw, 0, _MAX_RAW_BYTES)}
    for element, _ in zip(page.root.iter("a", "button"), range(_MAX_BUTTONS), strict=False):
        text = (element.text or "").strip()
        if text.isdecimal() and len(text) < 5 and (element.get("href") or "#").startswith(_NOWHERE):
            numbers.add(int(text))
    is_pager = 2 in numbers and not numbers.isdisjoint({1, 3})  # the current page is no button
    return max(numbers) if is_pager else _number_after_field(page)


def _number_after_field(page: Page) -> int:
    """Return the number after a field for the page number: `Page [1] of 57`; 0 without one."""
    for field in page.root.iter("input"):
        if is_page_parameter(field.get("name") or "") and field.get("value") == "1":
            digits = _AFTER_FIELD.match(field.tail or "")
            return int(digits[1]) if digits else 0
    return 0


def _total_in_text(page: Page, minimum: int) -> int:
    """Return the total of products in the page's text; 0 if there is none, or several differ.

    Totals up to *minimum* do not matter: a page without a larger one is not read line by line.
    """
    page_text = " ".join(page.root.itertext()).lower()
    if all(_to_number(match) <= minimum for match in _TOTAL.finditer(page_text)):
        return 0
    visible_texts = (
        line.text for line in lines.read_all(page, None).lines if not line.flags & lines.HIDDEN
    )
    short_texts = (text for text in visible_texts if len(text) <= _MAX_LINE_LENGTH)
    totals = {_to_number(match) for text in short_texts for match in _TOTAL.finditer(text.lower())}
    return totals.pop() if len(totals) == 1 else 0


def _to_number(match: re.Match[str]) -> int:
    return int(re.sub(r"\D", "", match[1]))

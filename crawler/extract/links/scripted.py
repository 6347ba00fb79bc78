"""Addresses that only a page's scripts contain: a listing that is rendered in the browser."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.links.other_languages import is_market_front
from crawler.extract.page.page import Element, Page

#: The reason of a link that stands only in a script.
SCRIPTED = "a script holds a list of such addresses"
#: A page with more links is rendered by the server.
_MAX_LINKS = 40
#: Addresses of one shape that make a list, and addresses of a list that are followed.
_MIN_LISTED, _MAX_LISTED = 3, 300
#: Characters of a script that are searched.
_MAX_SCRIPT_LENGTH = 1_000_000
#: An address after a key such as `url` or `href`, in JSON or a script's literal; inside a string of
#: either, quotes and slashes are escaped. Astro's islands have a value's type before it:
#: `[0,"/p/lamp"]`.
_ADDRESS = lazy_patterns.pattern(
    r"(?:[uU]rl|[hH]ref|[lL]ink|[pP]ath|[uU]ri)(?:Path|Key)?\\?[\"']?\s?:\s?(?:\[0,)?\\?[\"']"
    r"((?:https?:)?(?:\\?/|\\u002[fF]){1,2}[\w%][^\"'\s<>\\{}]{0,300}"
    r"(?:(?:\\/|\\u002[fF])[^\"'\s<>\\{}]{1,300}){0,12})"
)
#: A string of a JSON array that is a path.
_STRING = lazy_patterns.pattern(r",\s?\\?\"(/[\w%][^\"\s<>\\{}]{0,300})\\?\"(?=[,\]])")
#: The call that writes such an array into the page as one string, and where it begins.
_STREAM, _MAX_STREAM_START = ".streamController.enqueue(", 80
_ADDRESS_STARTS = (':"/', ': "/', ":'/", ':"\\/', ':\\"/', ':"http', ': "http', ':"\\u002',
                   ':[0,"/')  # fmt: skip
#: JSON in attributes: signs of an address there, and attributes that are searched.
_JSON_SIGNS = (b'"http', b'":"/', b'": "/', b"&quot;http", b"&quot;:&quot;/", b"&quot;: &quot;/",
               b":[0,&quot;/")  # fmt: skip
_MAY_HOLD_JSON = lazy_patterns.pattern(rb"=[\"']?[\[{]")
_JSON_ATTRIBUTES = "//@*[starts-with(., '{') or starts-with(., '[')]"
_MAX_ATTRIBUTES = 300
#: A letter beyond ASCII, as PHP and Python write it in JSON.
_LETTER = lazy_patterns.pattern(r"(?<!\\)\\u(?!00[0-7]|[dD][89a-fA-F])([\da-fA-F]{4})")
#: The next page's address in a paginator's JSON.
_NEXT_KEYS = (b"next_page", b"nextPage", b"next_url", b"nextUrl")
_NEXT = lazy_patterns.pattern(
    r"(?:next_?[pP]age|next_?[uU]rl|next_page_url|nextPageUrl)\\?[\"']?\s?:\s?\\?[\"'](?=[/h?])([^\"'\s<>{}]{1,600}?)\\?[\"']"
)
#: Scripts of a page that are searched for a menu that they write, and its entries.
_MAX_SCRIPTS, _MAX_ENTRIES = 30, 200
#: An entry of such a menu: its text and its address side by side, or a link.
_WRITTEN = (
    r"(?:/|\.{1,2}/)?[\w%-]{1,60}(?:/[\w%-]{1,60}){0,4}"
    r"(?:\.(?:php|html?|aspx?|jsp|cgi)(?:\?[\w%=&;+-]{1,100})?|/)"
)
#: In an array or a call that names a menu, because other calls send something: `("POST", "/add/")`.
_ENTRY = lazy_patterns.pattern(
    r"(?:\[|rray\(|enu\w{0,20}\()[^\"'()\[\]]{0,30}(?:"
    rf"([\"'])(?=\w)[^\"'<>\\\n=]{{2,60}}\1\s?,\s?([\"'])(?P<behind>{_WRITTEN})\2"
    rf"|([\"'])(?P<before>{_WRITTEN})\4\s?,\s?([\"'])(?=\w)[^\"'<>\\\n=/.]{{2,60}}\6)"
)
#: A link in a script that writes into the page as it is read.
_LINKED = lazy_patterns.pattern(
    rf"<a\s[^<>+]{{0,100}}href=\\?[\"']?(?P<linked>{_WRITTEN})\\?[\"' >]"
)
_WRITE_SIGNS = (b"document.write", b"innerHTML", b"Array(", b"enu(")
_SLASH = lazy_patterns.pattern(r"\\/|\\u002[fF]")
#: Addresses of files and APIs, which are no pages.
is_no_page = re.compile(
    r"\.(?:jpe?g|png|webp|avif|gif|svg|ico|js|mjs|css|json|woff2?|ttf|mp4|pdf|xml|txt)(?:\?|$)"
    r"|/(?:api|graphql|rest|static|assets?|media|images?|img|_next|_nuxt|cdn|uploads?|fonts?)/",
    re.I,
).search
#: A member with the text of a menu's entry, and how far from the address it stands.
_TITLE = lazy_patterns.pattern(
    r"\b(?:title|name|label|text|caption)\\?[\"']?\s?:\s?\\?[\"']\w", re.I
)
_BRACES = lazy_patterns.pattern(r"[{}\[\]]")
_MAX_BESIDE = 300
_LAST_SEGMENT = lazy_patterns.pattern(r"[^/]+/?$")
_DIGITS = lazy_patterns.pattern(r"\d+")


def scripted(page: Page) -> Iterator[tuple[Element, str]]:
    """Yield the scripts of a page with few links, each with an address of a list in it."""
    if len(page.anchors) > _MAX_LINKS:
        return
    for script in page.scripts:
        text = script.text
        # Strings of a flat array, without their keys: Nuxt's payload, and the stream of Remix.
        if text and (text[:1] == "[" or _STREAM in text[:_MAX_STREAM_START]):
            addresses = (
                (script, match[1]) for match in _STRING.finditer(text[:_MAX_SCRIPT_LENGTH])
            )
            for members in lists_of(x for x in addresses if not is_no_page(x[1])):
                yield from members[:_MAX_LISTED]
        elif text and _may_list(text) and "ld+json" not in (script.get("type") or ""):
            yield from _listed_addresses(script, text[:_MAX_SCRIPT_LENGTH])


def written_menus(page: Page) -> Iterator[tuple[Element, str]]:
    """Yield the scripts that write a menu into the page, each with the address of an entry."""
    if not any(map(page.holds, _WRITE_SIGNS)):
        return
    entries = (
        (script, address)
        for script in page.scripts[:_MAX_SCRIPTS]
        if script.text
        for address in islice(_written(script.text[:_MAX_SCRIPT_LENGTH]), _MAX_ENTRIES)
    )
    for members in lists_of(entry for entry in entries if not _is_none(entry[1])):
        yield from members[:_MAX_LISTED]


def _written(text: str) -> Iterator[str]:
    """Yield the addresses of a script's entries of a menu."""
    for match in _ENTRY.finditer(text):
        yield match["behind"] or match["before"]
    for match in _LINKED.finditer(text) if "document.write" in text else ():
        yield match["linked"]


def _is_none(address: str) -> bool:
    """Whether an address is that of a file, or of the shop in another language."""
    return bool(is_no_page(address)) or is_market_front(f"/{address.lstrip('/')}")


def described(page: Page) -> Iterator[tuple[Element, str]]:
    """Yield structured data and elements with JSON in an attribute, each with an address of a list.

    These also list variants and reviews, so that a page whose products have links needs none.
    """
    for script in page.scripts:
        text = script.text
        if text and "ld+json" in (script.get("type") or "") and _may_list(text):
            yield from _listed_addresses(script, text[:_MAX_SCRIPT_LENGTH])
    if any(map(page.holds, _JSON_SIGNS)) and _MAY_HOLD_JSON.search(page.raw):
        for value in page.root.xpath(_JSON_ATTRIBUTES)[:_MAX_ATTRIBUTES]:
            if _may_list(value):
                yield from _listed_addresses(value.getparent(), value[:_MAX_SCRIPT_LENGTH])


def next_pages(page: Page) -> Iterator[tuple[Element, str]]:
    """Yield elements with the next page's address in their JSON, as Laravel's paginator names it."""
    if not any(map(page.holds, _NEXT_KEYS)):
        return
    texts = [(script, script.text or "") for script in page.scripts]
    attributes = page.root.xpath(_JSON_ATTRIBUTES)[:_MAX_ATTRIBUTES]
    for element, text in [*texts, *((value.getparent(), value) for value in attributes)]:
        for match in _NEXT.finditer(text[:_MAX_SCRIPT_LENGTH]):
            yield element, _SLASH.sub("/", match[1])


def _may_list(text: str) -> bool:
    """Whether a script has enough values that begin like an address; most scripts have none."""
    return sum(map(text.count, _ADDRESS_STARTS)) >= _MIN_LISTED


def _listed_addresses(element: Element, text: str) -> Iterator[tuple[Element, str]]:
    """Yield the addresses of an element's text that belong to a list.

    A text without such addresses may hold the entries of a menu.
    """
    if "\\u" in text:
        text = _LETTER.sub(lambda match: chr(int(match[1], 16)), text)
    addresses = (_SLASH.sub("/", match[1]) for match in _ADDRESS.finditer(text))
    lists = lists_of((element, address) for address in addresses if not is_no_page(address))
    for members in lists or [[(element, address) for address in _menu(text)]]:
        yield from members[:_MAX_LISTED]


def lists_of(addresses: Iterable[tuple[Element, str]]) -> list[list[tuple[Element, str]]]:
    """Return the addresses, each once, that differ from several others in their last segment only.

    Each list has the addresses of one shape.
    """
    shapes: dict[str, dict[str, Element]] = defaultdict(dict)
    for element, address in addresses:
        shapes[_shape_of(address)].setdefault(address, element)
    return [
        [(element, address) for address, element in members.items()]
        for members in shapes.values()
        if len(members) >= _MIN_LISTED
    ]


def _menu(text: str) -> list[str]:
    """Return addresses of different shapes whose objects have a title, as entries of a menu have."""
    entries = [
        _SLASH.sub("/", match[1])
        for match in _ADDRESS.finditer(text)
        if _TITLE.search(_object_around(text, match))
    ]
    distinct = list(dict.fromkeys(address for address in entries if not is_no_page(address)))
    return distinct if len(distinct) >= _MIN_LISTED else []


def _object_around(text: str, match: re.Match[str]) -> str:
    """Return the members beside a match within the same object, without nested ones."""
    before = text[max(0, match.start() - _MAX_BESIDE) : match.start()]
    after = text[match.end() : match.end() + _MAX_BESIDE]
    return _BRACES.split(before)[-1] + _BRACES.split(after)[0]


def _shape_of(address: str) -> str:
    """Return an address without the part that names one product.

    >>> _shape_of("/p/red-lamp"), _shape_of("/p?id=12"), _shape_of("/p/red-lamp/12")
    ('/p/', '/p?id=#', '/p/red-lamp/')
    """
    path, mark, query = address.partition("?")
    if mark:
        return f"{path}?{_DIGITS.sub('#', query)}"
    return _LAST_SEGMENT.sub("", path)

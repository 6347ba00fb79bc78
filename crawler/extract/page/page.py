"""A page, decoded and parsed once; all readers use the tree made here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any
from unicodedata import category

import attrs
from lxml import etree

from crawler.extract import lazy_patterns
from crawler.extract.page.encoding import SNIFFED_BYTES, utf8
from crawler.extract.page.json_page import as_html
from scrapy_seine.attribute_limit import bounded
from scrapy_seine.urls import MAX_LENGTH, absolute, tidy

#: An lxml element; lxml ships no types.
Element = Any

#: Bytes of a page that are parsed. The product is near the top; the remainder of a 20 MB page is
#: a log, an export or a trap.
MAX_BYTES = 4_000_000

#: Soft hyphens, blanks without width and other marks that nobody sees; joiners are letters' parts.
INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_MARKUP = lazy_patterns.pattern(
    rb"<\s*(?:!doctype|html|head|body|meta|div|p|h1|a|span|table|title)\b", re.I
)
#: Bytes that libxml2 parses in one call, which no signal interrupts. A closing tag without its
#: opening tag takes time in proportion to the depth of the page there.
_PIECE_BYTES = 500_000


def _parser() -> etree.HTMLParser:
    return etree.HTMLParser(
        encoding="utf-8",
        huge_tree=True,
        remove_comments=True,
        remove_pis=True,
        no_network=True,
        collect_ids=False,
    )


_PARSER = _parser()
_COLLECTED_TAGS = ("a", "meta", "link", "script", "h1", "h2", "h3", "title", "base", "area",
           "frame", "select")  # fmt: skip
_EMPTY = b"<html><body></body></html>"


@attrs.define(eq=False, repr=False, kw_only=True)
class Page:
    """One HTML page as a tree, with lists of the elements that most extractors use."""

    url: str
    """The page's address, absolute."""
    base: str
    """The address against which the page's relative links are resolved."""
    root: Element
    raw: bytes
    """The page as UTF-8, for quick checks whether a word occurs."""
    is_html: bool = True
    lang: str = ""
    """The html element's language, lower case: `en-au`."""
    title: str = ""
    anchors: list[Element] = attrs.Factory(list)
    headings: list[Element] = attrs.Factory(list)
    scripts: list[Element] = attrs.Factory(list)
    frames: list[Element] = attrs.Factory(list)
    selects: list[Element] = attrs.Factory(list)
    links: list[Element] = attrs.Factory(list)
    metas: list[tuple[str, str]] = attrs.Factory(list)
    """Name or property (lower case) and content of each meta element, in order."""
    unreadable_json_ld: str = ""
    """The part of its JSON-LD about a product that could not be read, and the reason."""
    guessed_texts: set[str] = attrs.Factory(set)
    """Texts of its JSON-LD whose end is a guess of the repair."""
    other_languages: dict[str, list[str]] = attrs.Factory(dict)
    """Folders and origins of other languages, each with its links, which are not followed."""
    unfollowed: list[str] = attrs.Factory(list)
    """A link to a listing's other page that is not followed, because it says `nofollow`, or the
    page itself, if it says so of all of its links."""
    shows_product: bool = False
    """Whether `extract` judged the page to be a product's."""
    number: str | None = None
    """The product's number in the shop, as `extract` read it."""
    tile_amounts: Sequence[Element] = ()
    """The elements of the prices in a listing's tiles (`classify.visible_signs`)."""
    is_at_service: bool = False
    """Whether a folder of its address holds services (`classify.address_signs`)."""
    is_part: bool = False
    """Whether it is a quick view, a part of a page with a link to the product's own page
    (`classify.copy_signs`)."""
    headings_by_name: dict[str, Element | None] = attrs.Factory(dict)
    """Product headings that were searched, by the expected name (`product_heading.heading_of`)."""
    trails_by_name: dict[str | None, list[str]] = attrs.Factory(dict)
    """Breadcrumbs that were searched, by the product's name (`shown_breadcrumbs.breadcrumbs`)."""
    _canonical: str | None = attrs.field(default="", init=False)
    _has_data: bool | None = attrs.field(default=None, init=False)

    def meta(self, name: str) -> str:
        """Return the content of the first meta element of that name or property, or ''."""
        for key, content in self.metas:
            if key == name and content:
                return content
        return ""

    def meta_list(self, name: str) -> str:
        """Return the contents of all meta elements of that name as one list with commas."""
        return ",".join([content for key, content in self.metas if key == name])

    def holds(self, word: bytes) -> bool:
        """Whether a word of at most some 40 letters occurs in the page's bytes, in this case.

        A search from the end takes a third of the time of `in` and half of a pattern's; of a
        longer text that the page chose it could take the product of both lengths.
        """
        return self.raw.rfind(word) >= 0

    def resolve(self, reference: str) -> str | None:
        """Return a reference of the page as an absolute http address, or None."""
        try:
            url = absolute(self.base, reference.strip())
        except ValueError:
            return None
        return url if url[:4].lower() == "http" else None

    @property
    def canonical(self) -> str | None:
        """The page's canonical link, absolute."""
        if self._canonical == "":  # cached, because several readers use it
            self._canonical = self._find_canonical()
        return self._canonical

    @property
    def has_data(self) -> bool:
        """Whether an attribute may be named `data-…`, searched once for several readers."""
        if self._has_data is None:
            self._has_data = self.holds(b"data-")
        return self._has_data

    def _find_canonical(self) -> str | None:
        for link in self.links:
            if (link.get("rel") or "").strip().lower() == "canonical":
                reference = (link.get("href") or "").strip()
                if reference:
                    url = self.resolve(reference)
                    # Some templates name the front page on all pages.
                    return url if url and (not is_root(url) or is_root(self.url)) else None
        return None


def is_root(url: str) -> bool:
    """Whether an absolute address is that of a site's front page.

    >>> is_root("https://a.example"), is_root("https://a.example/")
    (True, True)
    >>> is_root("https://a.example/?p=7"), is_root("https://a.example?p=7")
    (False, False)
    """
    return "?" not in url and url.find("/", 8) in {-1, len(url) - 1}


def elements_with(page: Page, names: Iterable[str]) -> list[Element]:
    """Return the elements that have one of the named attributes, those of the first name first.

    One search for each name that the page holds takes a fifth of a condition on each element.
    """
    elements: dict[Element, None] = {}
    for name in names:
        if page.holds(name.encode()):
            elements.update(dict.fromkeys(_having(name)(page.root)))
    return list(elements)


# Bounded, because pages choose the names.
@lru_cache(maxsize=64)
def _having(name: str) -> Any:
    return etree.XPath(f"//*/@{name}/..")


# Several readers tidy the page's own address, and each page has the addresses of the menu.
@lru_cache(maxsize=256)
def tidied(url: str) -> str | None:
    """Return an address in the form in which it is requested, or None if it is invalid."""
    try:
        return tidy(url)
    except ValueError:
        return None


def parse(
    content: bytes | str, url: str, content_type: str = "", *, max_bytes: int = MAX_BYTES
) -> Page:
    """Parse the first *max_bytes* bytes of a page once; never raises, whatever the content is.

    *content_type* is the response's header; its charset is used if the bytes themselves do not
    decide. Content that is not HTML gives an empty page with `is_html` False.
    """
    raw = utf8(content[:max_bytes], content_type)
    if "json" in content_type:
        raw = as_html(raw) or raw
        content_type = "text/html" if raw.startswith(b"<html>") else content_type
    is_html = _looks_like_html(raw, content_type)
    root = _parsed_tree(bounded(raw) if is_html else _EMPTY)
    page = Page(url=url, base=url, root=root, raw=raw if is_html else b"", is_html=is_html)
    page.lang = root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
    page.lang = page.lang.strip().lower().replace("_", "-")
    appenders = {tag: getattr(page, name).append for tag, name in _LISTS_BY_TAG.items()}
    for element in root.iter(*_COLLECTED_TAGS):
        tag = element.tag
        if tag in appenders:
            appenders[tag](element)
        else:
            _COLLECTORS[tag](page, element)
    return page


def without_scripts(raw: bytes) -> bytes:
    """Return a page's bytes without its scripts; one that does not end takes the page's rest.

    >>> without_scripts(b"a<script>1</script>b"), without_scripts(b"a<script>1")
    (b'a>b', b'a')
    """
    return _SCRIPT.sub(b"", raw)


# Behind a script without an end no further one is searched, which would take the square.
_SCRIPT = lazy_patterns.pattern(rb"<script\b(?:.*?</script|.*+)", re.S | re.I)


def squashed(text: str) -> str:
    """Return a text with one blank for each run of white space, none at its ends, nothing unseen.

    >>> squashed(" two\\n  words "), squashed("a\u00a0b"), squashed("Garten\u00adstuhl")
    ('two words', 'a b', 'Gartenstuhl')
    >>> squashed("Price\u200f12 \u20aa")  # two boxes, because a new direction begins there
    'Price 12 \u20aa'
    >>> squashed("AB\u200e12")
    'AB12'
    """
    # A blank is the only printable white space. Splitting a text takes three times as long.
    if "  " not in text and text.isprintable():
        return text.strip()
    return " ".join((text if text.isascii() else INVISIBLE.sub(_unseen, text)).split())


def _unseen(match: re.Match[str]) -> str:
    """Return what stands for a mark that nobody sees: a blank where a direction parts two boxes.

    A word and an amount are two boxes: pages in Hebrew and Arabic begin each amount with a mark.
    Between a Latin letter and a figure the usual direction does not begin: `AB\u200e12` is a number.
    """
    if match[0] not in _DIRECTIONS:
        return ""
    text, place = match.string, match.start()
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if match[0] == _LEFT_TO_RIGHT and (before + after).isascii():
        return ""
    is_parted = (before.isalpha() and _in_amounts(after)) or (
        after.isalpha() and _in_amounts(before)
    )
    return " " * is_parted


def _in_amounts(char: str) -> bool:
    """Whether a character is a figure or a currency's sign."""
    return char.isdigit() or (char != "" and category(char) == "Sc")


_LEFT_TO_RIGHT = "\u200e"
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def holds_digit(text: str) -> bool:
    """Whether a text contains a figure of any script.

    >>> holds_digit("12 lamps"), holds_digit("lamps"), holds_digit("١٢")
    (True, False, True)
    """
    raw = text.encode("utf-8", "replace")
    # A pattern takes three times as long.
    if len(raw.translate(None, _FIGURES)) < len(raw):
        return True
    return not text.isascii() and _DIGIT.search(text) is not None


_FIGURES = b"0123456789"
_DIGIT = lazy_patterns.pattern(r"\d")


def text_of(element: Element) -> str:
    """Return all text inside an element except scripts, with white space squashed."""
    if not len(element):
        text = element.text
        return squashed(text) if text and element.tag not in _TAGS_WITHOUT_TEXT else ""
    return " ".join("".join(_texts(element)).split())


def _texts(element: Element, max_events: int | None = None) -> Iterator[str]:
    """Yield the texts inside an element in their order, with blanks around its blocks."""
    for event, node in islice(etree.iterwalk(element, events=("start", "end")), max_events):
        tag = node.tag
        if tag in _BREAKING_TAGS:
            yield " "
        if event == "start":
            if node.text and tag not in _TAGS_WITHOUT_TEXT:
                yield node.text
        elif node.tail and node is not element:
            yield node.tail


#: Characters of the longest name, label or heading.
MAX_TEXT_LENGTH = 2_000
_MAX_ELEMENTS = 500
#: Characters that are read for each character of the result, because white space is squashed.
_READ_PER_CHARACTER = 4


_HIDES = re.compile(r"display\s*:\s*none", re.I).search


def is_hidden(element: Element) -> bool:
    """Whether an element's own style hides it, as a second heading for narrow screens is."""
    style = element.get("style")
    return style is not None and _HIDES(style) is not None


def short_text(
    element: Element, max_length: int = MAX_TEXT_LENGTH, max_elements: int = _MAX_ELEMENTS
) -> str:
    """Return `text_of` an element, of at most so many characters and elements.

    Elements are nested: reading all text of each of them would read a page many times.
    """
    if not len(element):
        text = element.text
        if not text or element.tag in _TAGS_WITHOUT_TEXT:
            return ""
        if len(text) <= max_length:  # nearly all
            return squashed(text)
        return " ".join(text[: _READ_PER_CHARACTER * max_length].split())[:max_length]
    parts: list[str] = []
    characters_left = _READ_PER_CHARACTER * max_length
    for node in islice(element.iter(), max_elements):
        tag, text = node.tag, node.text
        if tag in _BREAKING_TAGS:
            parts.append(" ")
        if text and tag not in _TAGS_WITHOUT_TEXT:
            parts.append(text[:characters_left])
            characters_left -= len(text)
        tail = node.tail
        if tail and node is not element:
            if len(node):  # the tail follows the texts inside the node
                return _text_in_order(element, max_length, max_elements)
            tail = f" {tail}" if tag in _BREAKING_TAGS else tail
            parts.append(tail[: max(characters_left, 0)])
            characters_left -= len(tail)
        if characters_left <= 0:
            break
    return " ".join("".join(parts).split())[:max_length]


def _text_in_order(element: Element, max_length: int, max_elements: int) -> str:
    """Return the `short_text` of an element in which texts follow boxes with children."""
    parts: list[str] = []
    characters_left = _READ_PER_CHARACTER * max_length
    for text in _texts(element, 2 * max_elements):
        parts.append(text[:characters_left])
        characters_left -= len(text)
        if characters_left <= 0:
            break
    return " ".join("".join(parts).split())[:max_length]


_TAGS_WITHOUT_TEXT = frozenset({"script", "style", "template", "noscript"})
_WHOLE_PAGE = frozenset({"html", "head", "body"})
#: The end of a document, and the begin of an element.
_END = re.compile(rb"</[hH][tT][mM][lL]\s{0,9}>")
_ELEMENT = lazy_patterns.pattern(rb"<[a-z]", re.I)
#: Titles that editors and frameworks write into a new page, and whose authors left them there.
_TITLES_OF_NEW_PAGES = frozenset(
    {"document", "untitled", "untitled document", "untitled page", "new page 1", "jsp page",
     "insert title here", "todo supply a title", "react app", "vite app", "page title"}
)  # fmt: skip
_BREAKING_TAGS = frozenset(
    {"br", "p", "div", "li", "ul", "ol", "td", "th", "tr", "table", "dt", "dd", "dl", "img", "hr",
     "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "blockquote", "option"}
)  # fmt: skip


def _collect_base(page: Page, element: Element) -> None:
    reference = (element.get("href") or "").strip()
    if reference and page.base == page.url:
        base = page.resolve(reference[: MAX_LENGTH + 1])
        # Each link becomes at least as long as the base, and a base without a host is useless.
        if base and tidied(base) is not None:
            page.base = base


def _collect_meta(page: Page, element: Element) -> None:
    key = element.get("property") or element.get("name")
    content = element.get("content")
    if not key and content and (key := element.get("itemprop")) and _is_in_item(element):
        return
    if key and content:
        page.metas.append((key.strip().lower(), content.strip()))


def _is_in_item(element: Element) -> bool:
    """Whether a meta element is a property of an item in the page, such as a tile."""
    item = next((box for box in element.iterancestors() if box.get("itemscope") is not None), None)
    return item is not None and item.tag not in _WHOLE_PAGE


def _collect_title(page: Page, element: Element) -> None:
    if not page.title and element.text:
        title = " ".join(element.text.split())
        page.title = "" if title.casefold() in _TITLES_OF_NEW_PAGES else title


#: The list of a `Page` to which an element is added, by tag.
_LISTS_BY_TAG = {
    "a": "anchors",
    "area": "anchors",
    "h1": "headings",
    "h2": "headings",
    "h3": "headings",
    "link": "links",
    "script": "scripts",
    "frame": "frames",
    "select": "selects",
}
_COLLECTORS: dict[str, Callable[[Page, Element], None]] = {
    "base": _collect_base,
    "meta": _collect_meta,
    "title": _collect_title,
}


def _parsed_tree(raw: bytes) -> Element:
    raw = _with_all_documents(raw)
    try:
        root = etree.fromstring(raw, _PARSER) if len(raw) <= _PIECE_BYTES else _parsed_pieces(raw)
    except (etree.LxmlError, ValueError):
        root = None
    return etree.fromstring(_EMPTY, _PARSER) if root is None else root


def _with_all_documents(raw: bytes) -> bytes:
    """Blank the ends of a page's documents if markup follows the first one.

    The parser would stop there. Browsers go on, as behind an included menu that is a document itself.
    """
    first = _END.search(raw)
    if first is None or _ELEMENT.search(raw, first.end()) is None:
        return raw
    return _END.sub(lambda match: b" " * len(match[0]), raw)


def _parsed_pieces(raw: bytes) -> Element:
    """Parse a large page in pieces, because the limit on reading can interrupt between pieces."""
    parser = _parser()
    for place in range(0, len(raw), _PIECE_BYTES):
        parser.feed(raw[place : place + _PIECE_BYTES])
    return parser.close()


#: Types that say nothing of a page (MIME Sniffing Standard, 7): its bytes decide.
_UNTYPED = frozenset({"application/octet-stream", "application/unknown", "unknown/unknown", "*/*"})


def _looks_like_html(raw: bytes, content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    if "html" in kind:
        return True
    if "/" in kind and not kind.startswith("text/") and kind not in _UNTYPED:
        return False
    return _MARKUP.search(raw, 0, SNIFFED_BYTES) is not None

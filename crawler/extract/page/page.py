"""A page, decoded and parsed once; everything else reads the tree made here."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from typing import Any

import attrs
from lxml import etree

from crawler.extract import lazy_patterns
from crawler.extract.page.encoding import SNIFFED, utf8
from crawler.extract.page.json_page import as_html
from scrapy_seine.attribute_limit import bounded
from scrapy_seine.urls import MAX_LENGTH, absolute, tidy

#: An lxml element; lxml ships no types.
Element = Any

#: What is parsed of a page, in bytes. The product is near the top; the rest of a 20 MB page is
#: a log, an export or a trap.
MAX_BYTES = 4_000_000

_MARKUP = lazy_patterns.pattern(
    rb"<\s*(?:!doctype|html|head|body|meta|div|p|h1|a|span|table|title)\b", re.I
)
#: Bytes that libxml2 parses in one go, where no signal reaches it: a closing tag without its opening
#: one takes it as long as the page is deep there.
_PIECE = 500_000


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
_WANTED = ("a", "meta", "link", "script", "h1", "h2", "h3", "title", "base", "area",
           "frame", "select")  # fmt: skip
_EMPTY = b"<html><body></body></html>"


@attrs.define(eq=False, repr=False, kw_only=True)
class Page:
    """One HTML page as a tree, with the elements that most extractors ask for."""

    url: str
    """Where it was found, absolute."""
    base: str
    """What its relative links are resolved against."""
    root: Element
    raw: bytes
    """The page as UTF-8, for quick tests whether a word occurs at all."""
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
    left_out: str = ""
    """What of its JSON-LD that speaks of a product could not be read, and why."""
    guessed: set[str] = attrs.Factory(set)
    """Texts of its JSON-LD of which a repair guessed where they end."""
    other_languages: dict[str, list[str]] = attrs.Factory(dict)
    """Folders of other languages, each with its links that are not followed."""
    named: dict[str, Element | None] = attrs.Factory(dict)
    """Headings that were looked for, by the name that was expected (`product_heading.heading_of`)."""
    _canonical: str | None = attrs.field(default="", init=False)
    _has_data: bool | None = attrs.field(default=None, init=False)

    def meta(self, name: str) -> str:
        """Content of the first meta element of that name or property, or nothing."""
        for key, content in self.metas:
            if key == name and content:
                return content
        return ""

    def resolve(self, reference: str) -> str | None:
        """Make a reference of the page absolute; None where that is impossible."""
        try:
            url = absolute(self.base, reference.strip())
        except ValueError:
            return None
        return url if url[:4].lower() == "http" else None

    @property
    def canonical(self) -> str | None:
        """The page's canonical link, absolute."""
        if self._canonical == "":  # several readers ask for it
            self._canonical = self._find_canonical()
        return self._canonical

    @property
    def has_data(self) -> bool:
        """Whether an attribute may be called `data-…`: one search spares several readers theirs."""
        if self._has_data is None:
            self._has_data = b"data-" in self.raw
        return self._has_data

    def _find_canonical(self) -> str | None:
        for link in self.links:
            if (link.get("rel") or "").strip().lower() == "canonical":
                reference = (link.get("href") or "").strip()
                if reference:
                    return self.resolve(reference)
        return None


# A page's own address is asked for by several readers, and its menu's on each page.
@lru_cache(maxsize=256)
def tidied(url: str) -> str | None:
    """An address in the form to request; None where it is none."""
    try:
        return tidy(url)
    except ValueError:
        return None


def parse(content: bytes | str, url: str, content_type: str = "", *, most: int = MAX_BYTES) -> Page:
    """Parse the first *most* bytes of a page once; never raises, whatever the content is.

    *content_type* is the response's header, whose charset is believed after the bytes
    themselves. Content that is no HTML gives an empty page with `is_html` False.
    """
    raw = utf8(content[:most], content_type)
    if "json" in content_type:
        raw = as_html(raw) or raw
        content_type = "text/html" if raw.startswith(b"<html>") else content_type
    is_html = _looks_like_html(raw, content_type)
    root = _tree(bounded(raw) if is_html else _EMPTY)
    page = Page(url=url, base=url, root=root, raw=raw if is_html else b"", is_html=is_html)
    page.lang = root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
    page.lang = page.lang.strip().lower().replace("_", "-")
    kept = {tag: getattr(page, name).append for tag, name in _KEPT.items()}
    for element in root.iter(*_WANTED):
        tag = element.tag
        if tag in kept:
            kept[tag](element)
        else:
            _COLLECTORS[tag](page, element)
    return page


def squashed(text: str) -> str:
    """A text with one blank for each run of white space, and none at its ends.

    >>> squashed(" two\\n  words "), squashed("a\u00a0b")
    ('two words', 'a b')
    """
    # A blank is the only white space that is printable. To divide a text takes three times as long.
    if "  " not in text and text.isprintable():
        return text.strip()
    return " ".join(text.split())


def holds_digit(text: str) -> bool:
    """Whether a text holds a figure of any script.

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
    """All text inside an element, white space squashed; scripts are left out."""
    if not len(element):
        text = element.text
        return squashed(text) if text and element.tag not in _UNREAD else ""
    parts = []
    for node in element.iter():
        tag, text = node.tag, node.text
        if text and tag not in _UNREAD:
            parts.append(text)
        elif tag in _BREAKING:
            parts.append(" ")
        tail = node.tail
        if tail and node is not element:
            parts.append(tail)
    return " ".join("".join(parts).split())


#: What is longer is no name, label or heading.
LONGEST = 2_000
_MOST_INSIDE = 500
#: White space is squashed: so many characters are looked at for each that is kept.
_BLANKS = 4


_HIDES = re.compile(r"display\s*:\s*none", re.I).search


def is_hidden(element: Element) -> bool:
    """Whether an element's own style hides it, as a second heading for narrow screens is."""
    style = element.get("style")
    return style is not None and _HIDES(style) is not None


def short_text(element: Element, longest: int = LONGEST, inside: int = _MOST_INSIDE) -> str:
    """The text inside an element as `text_of` gives it, of so many characters and elements.

    Elements lie within each other: to read all text of each would read a page many times.
    """
    if not len(element):
        text = element.text
        if not text or element.tag in _UNREAD:
            return ""
        if len(text) <= longest:  # nearly all
            return squashed(text)
        return " ".join(text[: _BLANKS * longest].split())[:longest]
    parts: list[str] = []
    left = _BLANKS * longest
    for node in islice(element.iter(), inside):
        tag, text = node.tag, node.text
        if text and tag not in _UNREAD:
            parts.append(text[:left])
            left -= len(text)
        elif tag in _BREAKING:
            parts.append(" ")
        tail = node.tail
        if tail and node is not element:
            if len(node):  # it stands behind what is inside the node
                return _text_in_order(element, longest, inside)
            parts.append(tail[: max(left, 0)])
            left -= len(tail)
        if left <= 0:
            break
    return " ".join("".join(parts).split())[:longest]


def _text_in_order(element: Element, longest: int, inside: int) -> str:
    """What `short_text` gives, where texts follow boxes that hold others."""
    parts: list[str] = []
    left = _BLANKS * longest
    for event, node in islice(etree.iterwalk(element, events=("start", "end")), 2 * inside):
        tag = node.tag
        if event == "end":
            text = node.tail if node is not element else None
        elif node.text and tag not in _UNREAD:
            text = node.text
        else:
            text = " " if tag in _BREAKING else None
        if text:
            parts.append(text[:left])
            left -= len(text)
        if left <= 0:
            break
    return " ".join("".join(parts).split())[:longest]


_UNREAD = frozenset({"script", "style", "template", "noscript"})
_BREAKING = frozenset({"br", "p", "div", "li", "td", "tr", "img", "hr"})


def _collect_base(page: Page, element: Element) -> None:
    reference = (element.get("href") or "").strip()
    if reference and page.base == page.url:
        base = page.resolve(reference[: MAX_LENGTH + 1])
        # Each link of the page is as long as the base, and without a host it leads nowhere.
        if base and tidied(base) is not None:
            page.base = base


def _collect_meta(page: Page, element: Element) -> None:
    key = element.get("property") or element.get("name") or element.get("itemprop")
    content = element.get("content")
    if key and content:
        page.metas.append((key.strip().lower(), content.strip()))


def _collect_title(page: Page, element: Element) -> None:
    if not page.title and element.text:
        page.title = " ".join(element.text.split())


#: Where elements are kept that are looked at later.
_KEPT = {
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


def _tree(raw: bytes) -> Element:
    try:
        root = etree.fromstring(raw, _PARSER) if len(raw) <= _PIECE else _tree_of_pieces(raw)
    except (etree.LxmlError, ValueError):
        root = None
    return etree.fromstring(_EMPTY, _PARSER) if root is None else root


def _tree_of_pieces(raw: bytes) -> Element:
    """Parse a large page piece by piece: between two pieces the limit on reading can interrupt."""
    parser = _parser()
    for place in range(0, len(raw), _PIECE):
        parser.feed(raw[place : place + _PIECE])
    return parser.close()


def _looks_like_html(raw: bytes, content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    if "html" in kind:
        return True
    if kind and not kind.startswith("text/") and kind not in {"application/octet-stream"}:
        return False
    return _MARKUP.search(raw, 0, SNIFFED) is not None

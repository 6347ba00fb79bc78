"""Microdata and RDFa as nodes in JSON-LD's shape."""

from __future__ import annotations

from itertools import islice
from typing import Any

import attrs
from lxml import etree

from crawler.extract.page.page import Element, Page, short_text
from crawler.extract.structured.schema import Node
from scrapy_seine.records import Value

_BY_ID = etree.XPath("//*[@id=$name]")
_ADDRESSES = {
    "a": "href", "area": "href", "link": "href", "img": "src", "source": "src", "audio": "src",
    "video": "src", "embed": "src", "iframe": "src", "object": "data",
}  # fmt: skip
_MOST = 5000
#: References to other places of the page that are followed, elements of each such place, and
#: properties that are read there.
_MOST_REFERENCES, _MOST_INSIDE, _MOST_REFERRED = 100, 200, 500
#: Characters and elements of a property's text.
_LONGEST_TEXT, _MOST_IN_TEXT = 50_000, 2_000
#: Properties whose text lies within each other: what is deeper was read so often already.
_MOST_WITHIN = 5
#: Properties that are words, though a link may hold them.
_WORDS = frozenset(
    {"brand", "manufacturer", "name", "model", "category", "author", "color", "size", "material",
     "sku", "mpn", "gtin13", "gtin", "price", "title", "productID"}
)  # fmt: skip


@attrs.frozen(eq=False, repr=False)
class _Dialect(Value):
    """The attributes that a syntax uses for the same things."""

    marked: Any
    marked_of_many: Any
    scope: str
    kind: str
    name: str
    ident: str


# A union of two sets takes the product of their sizes in libxml2; a condition takes three times
# as long as the union where the sets are small.
_MICRODATA = _Dialect(
    etree.XPath("//*/@itemscope/.. | //*/@itemprop/.."),
    etree.XPath("//*[@itemscope or @itemprop]"),
    "itemscope",
    "itemtype",
    "itemprop",
    "itemid",
)
_RDFA = _Dialect(
    etree.XPath("//*/@typeof/.. | //*/@property/.."),
    etree.XPath("//*[@typeof or @property]"),
    "typeof",
    "typeof",
    "property",
    "about",
)
#: What stands behind an attribute's name, blanks apart; nothing, where more than so many follow.
_BEHIND_NAME, _MOST_BLANKS = frozenset({b"=", b">", b"/", b""}), 64
#: Bytes of a page in which both sets are small.
_SMALL = 100_000
#: Properties of the older vocabularies that shops wrote as RDFa.
_OLDER = {
    "hasCurrencyValue": "price", "hasCurrency": "priceCurrency", "hasPriceSpecification": "offers",
    "hasStockKeepingUnit": "sku", "hasMPN": "mpn", "hasEAN_UCC-13": "gtin13", "photo": "image",
    "currency": "priceCurrency",
}  # fmt: skip


def nodes(page: Page) -> list[Node]:
    """The page's outermost microdata items, in order."""
    return _nodes(page, _MICRODATA) if b"itemscope" in page.raw else []


def rdfa(page: Page) -> list[Node]:
    """The same for RDFa."""
    return _nodes(page, _RDFA) if _names_type(page.raw) else []


def _names_type(raw: bytes) -> bool:
    """Whether `typeof` may be an attribute: most pages have the word in their scripts alone.

    Where each one has no value and another attribute behind it, no node has a type.
    """
    place = raw.find(b"typeof")
    while place >= 0:
        behind = raw[place + 6 : place + 6 + _MOST_BLANKS].lstrip()
        if behind[:1] in _BEHIND_NAME:  # `typeof x` and `typeof(x)` of a script go on otherwise
            return True
        place = raw.find(b"typeof", place + 6)
    return False


def _nodes(page: Page, dialect: _Dialect) -> list[Node]:
    made: dict[Element, Node] = {}
    within: dict[Element, int] = {}  # properties whose text holds an element's, and its own
    top: list[Node] = []
    search = dialect.marked if len(page.raw) <= _SMALL else dialect.marked_of_many
    for element in search(page.root)[:_MOST]:
        names = element.get(dialect.name)
        own = _item(element, dialect) if element.get(dialect.scope) is not None else None
        if own is not None:
            made[element] = own
        owner, depth = _owner(element, made, within)
        within[element] = depth
        if not names or owner is None:
            if own is not None:
                top.append(own)
            continue
        if own is None:
            within[element] = depth + 1
        value: Any = own
        if own is None and depth < _MOST_WITHIN:
            value = _value(element, names)
        for name in names.split():
            _put(made[owner], _short(name), value)
    if dialect is _MICRODATA:
        _referred(page, made)
    return _joined(top)


def _joined(top: list[Node]) -> list[Node]:
    """One node for each name: items of one itemid are parts of one thing."""
    named: dict[str, Node] = {}
    kept = []
    for node in top:
        name = node.get("@id")
        first = named.setdefault(name, node) if isinstance(name, str) else node
        if first is node:
            kept.append(node)
        else:
            first |= {key: value for key, value in node.items() if not first.get(key)}
    return kept


def _short(name: str) -> str:
    name = name.rpartition("/")[2].rpartition("#")[2].rpartition(":")[2]
    return _OLDER.get(name, name)


def _item(element: Element, dialect: _Dialect) -> Node:
    node: Node = {"@type": (element.get(dialect.kind) or "").split()}
    name = element.get(dialect.ident)
    if name:
        node["@id"] = name
    return node


def _owner(
    element: Element, made: dict[Element, Node], within: dict[Element, int]
) -> tuple[Element | None, int]:
    """The element of the item that a property belongs to, and how deep texts hold it."""
    depth = None
    here = element.getparent()
    while here is not None:
        if depth is None:
            depth = within.get(here)
        if here in made:
            break
        here = here.getparent()
    return here, depth or 0


def _value(element: Element, name: str = "") -> str | None:
    content = element.get("content")
    if content is not None:
        return str(content).strip()
    told = element.get("href")
    if told is not None and "schema.org/" in told:
        return str(told).strip()  # some templates write a link's address on a text
    attribute = _ADDRESSES.get(element.tag)
    if name in _WORDS and element.tag == "a" and (text := _text(element)):
        return text  # a link to the brand's page is no brand
    if attribute is not None:
        return (element.get(attribute) or element.get("data-src") or "").strip() or (
            _text(element) or None
        )
    if element.tag in {"data", "meter"} and element.get("value"):
        return str(element.get("value"))
    if element.tag == "time" and element.get("datetime"):
        return str(element.get("datetime"))
    return _text(element)


def _text(element: Element) -> str:
    return short_text(element, _LONGEST_TEXT, _MOST_IN_TEXT)


def _put(node: Node, name: str, value: Any) -> None:
    if value in (None, ""):
        return
    if name not in node:
        node[name] = value
    elif isinstance(node[name], list):
        node[name].append(value)
    else:
        node[name] = [node[name], value]


def _referred(page: Page, made: dict[Element, Node]) -> None:
    """Add properties that stand elsewhere and are named by itemref."""
    left, values = _MOST_REFERENCES, _MOST_REFERRED
    for element, node in made.items():
        for name in (element.get("itemref") or "").split(None, left + 1):
            left -= 1
            if left < 0:
                return
            for target in _BY_ID(page.root, name=name)[:1]:
                for inner in islice(target.iter(), _MOST_INSIDE):
                    if inner.get("itemprop") and inner not in made:
                        values -= 1
                        if values < 0:
                            return
                        _put(node, _short(inner.get("itemprop")), _value(inner))
                    elif inner.get("itemprop") and inner in made and made[inner] is not node:
                        _put(node, inner.get("itemprop"), made[inner])

"""Microdata and RDFa, read as nodes in JSON-LD's shape."""

from __future__ import annotations

from itertools import islice
from typing import Any

import attrs
from lxml import etree

from crawler.extract.page.page import Element, Page, short_text
from crawler.extract.structured.nodes import Node
from scrapy_seine.attrs_bases import Value

_WITH_ID = etree.XPath("//*/@id/..")
_ADDRESSES = {
    "a": "href", "area": "href", "link": "href", "img": "src", "source": "src", "audio": "src",
    "video": "src", "embed": "src", "iframe": "src", "object": "data",
}  # fmt: skip
_MAX_ELEMENTS = 5000
#: Elements by itemref that are read on a page, elements within each, and properties in all of them.
_MAX_REFERENCES, _MAX_TARGET_ELEMENTS, _MAX_REFERRED_PROPERTIES = 100, 200, 500
#: Characters and elements of one property's text.
_MAX_TEXT_LENGTH, _MAX_TEXT_ELEMENTS = 50_000, 2_000
#: Properties nested in each other whose text is read; a deeper text is part of all of these.
_MAX_TEXT_NESTING = 5
#: Properties of which a link's text is the value and not its address.
_TEXT_PROPERTIES = frozenset(
    {"brand", "manufacturer", "name", "model", "category", "author", "color", "size", "material",
     "sku", "mpn", "gtin13", "gtin", "price", "title", "productID"}
)  # fmt: skip


@attrs.frozen(eq=False, repr=False)
class _Dialect(Value):
    """A syntax: its attributes, and the searches for elements that have them."""

    items: Any
    """The elements of items, of a whole page."""
    marked: Any
    """An item's element and those inside of it that are items or properties."""
    marked_of_many: Any
    """The same of a whole page with many items."""
    scope: str
    kind: str
    name: str
    ident: str


# In libxml2, a union of two sets takes time by the product of their sizes; a condition takes five
# times as long as the union where the sets are small.
_MICRODATA = _Dialect(
    etree.XPath("//*/@itemscope/.."),
    etree.XPath("descendant-or-self::*/@itemscope/.. | descendant-or-self::*/@itemprop/.."),
    etree.XPath("//*[@itemscope or @itemprop]"),
    "itemscope",
    "itemtype",
    "itemprop",
    "itemid",
)
_RDFA = _Dialect(
    etree.XPath("//*/@typeof/.."),
    etree.XPath("descendant-or-self::*/@typeof/.. | descendant-or-self::*/@property/.."),
    etree.XPath("//*[@typeof or @property]"),
    "typeof",
    "typeof",
    "property",
    "about",
)
#: Characters that follow an attribute's name after blanks, and how many blanks are skipped.
_BEHIND_NAME, _MAX_BLANKS = frozenset({b"=", b">", b"/", b""}), 64
#: Items of a page that are few.
_FEW_ITEMS = 100
#: Properties of the older vocabularies that shops wrote as RDFa.
_OLD_PROPERTIES = {
    "hasCurrencyValue": "price", "hasCurrency": "priceCurrency", "hasPriceSpecification": "offers",
    "hasStockKeepingUnit": "sku", "hasMPN": "mpn", "hasEAN_UCC-13": "gtin13", "photo": "image",
    "currency": "priceCurrency",
}  # fmt: skip


def nodes(page: Page) -> list[Node]:
    """Return the page's outermost microdata items, in order."""
    return _nodes(page, _MICRODATA) if page.holds(b"itemscope") else []


def rdfa(page: Page) -> list[Node]:
    """Return the page's outermost RDFa items, in order."""
    return _nodes(page, _RDFA) if page.holds(b"typeof") and _names_type(page.raw) else []


def _names_type(raw: bytes) -> bool:
    """Return whether `typeof` may be an attribute; most pages have the word in scripts only.

    Occurrences without a value and with another attribute behind them give no node a type.
    """
    place = raw.find(b"typeof")
    while place >= 0:
        after_name = raw[place + 6 : place + 6 + _MAX_BLANKS].lstrip()
        if after_name[:1] in _BEHIND_NAME:  # a script's `typeof x` and `typeof(x)` do not match
            return True
        place = raw.find(b"typeof", place + 6)
    return False


def _nodes(page: Page, dialect: _Dialect) -> list[Node]:
    items: dict[Element, Node] = {}
    text_depths: dict[Element, int] = {}  # properties with a text around an element, or in it
    outermost: list[Node] = []
    for element in _marked(page.root, dialect)[:_MAX_ELEMENTS]:
        names = element.get(dialect.name)
        item = _item(element, dialect) if element.get(dialect.scope) is not None else None
        if item is not None:
            items[element] = item
        owner, depth = _owner(element, items, text_depths)
        text_depths[element] = depth
        if not names or owner is None:
            if item is not None:
                outermost.append(item)
            continue
        if item is None:
            text_depths[element] = depth + 1
        value: Any = item
        node = items[owner]
        if item is None and depth < _MAX_TEXT_NESTING:
            value = _value(element, names, node)
        for name in names.split():
            _add_value(node, _property_name(name), value)
    if dialect is _MICRODATA:
        _add_referenced(page, items)
    return _merged_by_id(outermost)


def _marked(root: Element, dialect: _Dialect) -> list[Element]:
    """Return the elements of items and those inside of them with properties, in order."""
    items = dialect.items(root)
    if len(items) > _FEW_ITEMS:
        return dialect.marked_of_many(root)  # type: ignore[no-any-return]
    marked: dict[Element, None] = {}
    for item in items:
        if item not in marked:  # it is in no other item
            marked.update(dict.fromkeys(dialect.marked(item)))
    return list(marked)


def _merged_by_id(outermost: list[Node]) -> list[Node]:
    """Merge the items of one itemid, because they are parts of one thing."""
    first_by_id: dict[str, Node] = {}
    distinct = []
    for node in outermost:
        item_id = node.get("@id")
        first_node = first_by_id.setdefault(item_id, node) if isinstance(item_id, str) else node
        if first_node is node:
            distinct.append(node)
        else:
            first_node |= {key: value for key, value in node.items() if not first_node.get(key)}
    return distinct


def _property_name(name: str) -> str:
    name = name.rpartition("/")[2].rpartition("#")[2].rpartition(":")[2]
    return _OLD_PROPERTIES.get(name, name)


def _item(element: Element, dialect: _Dialect) -> Node:
    node: Node = {"@type": (element.get(dialect.kind) or "").split()}
    item_id = element.get(dialect.ident)
    if item_id:
        node["@id"] = item_id
    return node


def _owner(
    element: Element, items: dict[Element, Node], text_depths: dict[Element, int]
) -> tuple[Element | None, int]:
    """Return the element of the item that owns a property, and how many texts enclose it."""
    depth = None
    ancestor = element.getparent()
    while ancestor is not None:
        if depth is None:
            depth = text_depths.get(ancestor)
        if ancestor in items:
            break
        ancestor = ancestor.getparent()
    return ancestor, depth or 0


def _value(element: Element, name: str = "", node: Node | None = None) -> str | None:
    content = element.get("content")
    if content is not None:
        return str(content).strip()
    link = element.get("href")
    if link is not None and "schema.org/" in link:
        return str(link).strip()  # some templates write a link's address on a text
    attribute = _ADDRESSES.get(element.tag)
    if name == "name" and node is not None and (address := link or _address_around(element)):
        node["@link"] = address
    if attribute is not None and name in _TEXT_PROPERTIES:
        return _text_of_address(element)
    if attribute is not None:
        return (element.get(attribute) or element.get("data-src") or "").strip() or (
            _text(element) or None
        )
    if element.tag in {"data", "meter"} and element.get("value"):
        return str(element.get("value"))
    if element.tag == "time" and element.get("datetime"):
        return str(element.get("datetime"))
    return _text(element)


def _text_of_address(element: Element) -> str | None:
    """Return a link's text or a picture's alternative one, because the address of a brand is no brand."""
    pictures = element.iter("img")
    return _text(element) or next((alt for img in pictures if (alt := img.get("alt"))), None)


def _address_around(element: Element) -> str | None:
    """Return the address of the link that is an element's only child, or its parent."""
    inner = element[0].get("href") if len(element) == 1 else None
    parent = element.getparent()  # `itemref` may name the whole page, which has none
    return inner if inner or parent is None else parent.get("href")


def _text(element: Element) -> str:
    return short_text(element, _MAX_TEXT_LENGTH, _MAX_TEXT_ELEMENTS)


def _add_value(node: Node, name: str, value: Any) -> None:
    if value in (None, ""):
        return
    if name not in node:
        node[name] = value
    elif isinstance(node[name], list):
        node[name].append(value)
    else:
        node[name] = [node[name], value]


def _add_referenced(page: Page, items: dict[Element, Node]) -> None:
    """Add properties from other places of the page that an item names by itemref."""
    references_left, values_left = _MAX_REFERENCES, _MAX_REFERRED_PROPERTIES
    referring = {e: node for e, node in items.items() if e.get("itemref")}
    # The first element of an id counts. libxml2 takes no name with a control character.
    by_id = {e.get("id"): e for e in reversed(_WITH_ID(page.root))} if referring else {}
    for element, node in referring.items():
        for target_id in element.get("itemref").split(None, references_left + 1):
            references_left -= 1
            if references_left < 0:
                return
            if (target := by_id.get(target_id)) is None:
                continue
            for inner in islice(target.iter(), _MAX_TARGET_ELEMENTS):
                if inner.get("itemprop") and inner not in items:
                    values_left -= 1
                    if values_left < 0:
                        return
                    _add_value(node, _property_name(inner.get("itemprop")), _value(inner))
                elif inner.get("itemprop") and inner in items and items[inner] is not node:
                    _add_value(node, inner.get("itemprop"), items[inner])

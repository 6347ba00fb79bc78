"""Microdata as nodes in JSON-LD's shape."""

from __future__ import annotations

from typing import Any

from lxml import etree

from crawler.extract.page import Element, Page, text_of
from crawler.extract.schema import Node

_MARKED = etree.XPath("//*[@itemscope or @itemprop]")
_BY_ID = etree.XPath("//*[@id=$name]")
_ADDRESSES = {
    "a": "href", "area": "href", "link": "href", "img": "src", "source": "src", "audio": "src",
    "video": "src", "embed": "src", "iframe": "src", "object": "data",
}  # fmt: skip
_MOST = 5000


def nodes(page: Page) -> list[Node]:
    """The page's outermost items, in order."""
    if b"itemscope" not in page.raw:
        return []
    made: dict[Element, Node] = {}
    top: list[Node] = []
    for element in _MARKED(page.root)[:_MOST]:
        names = element.get("itemprop")
        own = _item(element) if element.get("itemscope") is not None else None
        if own is not None:
            made[element] = own
        owner = _owner(element, made)
        if not names or owner is None:
            if own is not None:
                top.append(own)
            continue
        value = own if own is not None else _value(element)
        for name in names.split():
            _put(made[owner], name.rpartition("/")[2], value)
    _referred(page, made)
    return top


def _item(element: Element) -> Node:
    kinds = (element.get("itemtype") or "").split()
    node: Node = {"@type": kinds} if kinds else {"@type": []}
    if element.get("itemid"):
        node["@id"] = element.get("itemid")
    return node


def _owner(element: Element, made: dict[Element, Node]) -> Element | None:
    here = element.getparent()
    while here is not None and here not in made:
        here = here.getparent()
    return here


def _value(element: Element) -> str | None:
    content = element.get("content")
    if content is not None:
        return str(content).strip()
    attribute = _ADDRESSES.get(element.tag)
    if attribute is not None:
        return (element.get(attribute) or element.get("data-src") or "").strip() or (
            text_of(element) or None
        )
    if element.tag in {"data", "meter"} and element.get("value"):
        return str(element.get("value"))
    if element.tag == "time" and element.get("datetime"):
        return str(element.get("datetime"))
    return text_of(element)


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
    for element, node in made.items():
        for name in (element.get("itemref") or "").split():
            for target in _BY_ID(page.root, name=name)[:1]:
                for inner in target.iter():
                    if inner.get("itemprop") and inner not in made:
                        _put(node, inner.get("itemprop").rpartition("/")[2], _value(inner))
                    elif inner.get("itemprop") and inner in made and made[inner] is not node:
                        _put(node, inner.get("itemprop"), made[inner])

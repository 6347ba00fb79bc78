"""JSON-LD: the values of a page's blocks; broken blocks are repaired up to fixed sizes."""

from __future__ import annotations

from typing import Any

import orjson

from crawler.extract.page.page import Page
from crawler.extract.structured.nodes import Node, plain_text
from crawler.extract.structured.repair import repaired

#: Blocks of one page that are read; no ordinary page has as many.
_MAX_BLOCKS = 100
_MAX_REPAIRED_TEXT = 2_000_000
#: Depth to which references are followed: product, offer, price specification.
_MAX_DEPTH = 3
_MAX_LIST_ITEMS = 100
#: Values of one page that replace references. Sixty nodes that refer to ten others each would grow
#: to 60,000 nodes at that depth, and each may have thousands of values.
_MAX_VALUES = 100_000
#: Characters of broken blocks that are repaired on one page.
_MAX_REPAIRED_ON_PAGE = 600_000
_NESTED = (dict, list)


class NodesById(dict[str, Node]):
    """A page's nodes by their @id, and how many more values may replace references."""

    values_left = _MAX_VALUES


def nodes(page: Page) -> list[Any]:
    """Return the values of all JSON-LD blocks in the page's order, without unreadable blocks."""
    values = []
    characters_left = _MAX_REPAIRED_ON_PAGE
    for script in page.scripts:
        if "ld+json" not in (script.get("type") or "")[:100].lower() or not script.text:
            continue
        text = script.text.replace('"Offers"', '"offers"')  # one shop system writes the capital
        value = loads_intact(text)
        if value is None and len(text) <= characters_left:
            characters_left -= len(text)
            guessed: set[str] = set()
            value = repaired(text, guessed)
            page.guessed_texts.update(plain for text in guessed if (plain := plain_text(text)))
        if value is not None:
            values.append(value)
        elif "Product" in text:
            page.unreadable_json_ld = f"a block of {len(text):,} characters is broken or too long"
        if len(values) >= _MAX_BLOCKS:
            break
    return values


def loads(text: str) -> Any:
    """Read JSON and repair known faults; return None where the text stays unreadable.

    >>> loads('{"a": 1,}'), loads("<!-- [1] -->"), loads("{oops")
    ({'a': 1}, [1], None)
    """
    value = loads_intact(text)
    return repaired(text) if value is None and len(text) <= _MAX_REPAIRED_TEXT else value


def loads_intact(text: str) -> Any:
    """Read JSON without any repair; return None where it is broken."""
    try:
        return orjson.loads(text)
    except ValueError:
        return None


def index(values: list[Any]) -> NodesById:
    """Return the nodes of all values by their @id; of equal ids, the node with most properties."""
    nodes_by_id = NodesById()
    stack: list[Any] = list(values)
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack.extend(value)
        elif isinstance(value, dict):
            node_id = value.get("@id")
            if (
                isinstance(node_id, str)
                and len(value) > len(nodes_by_id.get(node_id, ()))
                and len(value) > 1
            ):
                nodes_by_id[node_id] = value
            stack += [v for v in value.values() if isinstance(v, _NESTED)]
    return nodes_by_id


def with_references(node: Node, nodes_by_id: NodesById) -> Node:
    """Return the node with its references (`{"@id": …}` alone) replaced by the nodes they name.

    In a graph that is too large, the remaining references stay as they are.
    """
    if not nodes_by_id:
        return node
    return {key: _resolved(value, nodes_by_id, _MAX_DEPTH) for key, value in node.items()}


def _resolved(value: Any, nodes_by_id: NodesById, depth: int) -> Any:
    if isinstance(value, list):
        return [
            _resolved(item, nodes_by_id, depth) if isinstance(item, dict) else item
            for item in value[:_MAX_LIST_ITEMS]
        ]
    if not isinstance(value, dict) or depth <= 0 or nodes_by_id.values_left <= 0:
        return value
    if value.keys() <= {"@id", "@type"} and isinstance(node_id := value.get("@id"), str):
        value = nodes_by_id.get(node_id, value)
    nodes_by_id.values_left -= 1 + len(value)
    if not any(isinstance(inner, _NESTED) for inner in value.values()):
        return value
    return {key: _resolved(inner, nodes_by_id, depth - 1) for key, inner in value.items()}

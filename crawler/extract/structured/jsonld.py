"""JSON-LD: every block of a page as a list of nodes, broken ones repaired within reason."""

from __future__ import annotations

from typing import Any

import orjson

from crawler.extract.page.page import Page
from crawler.extract.structured.repair import repaired
from crawler.extract.structured.schema import Node, plain

#: More blocks than any honest page has.
_MOST_BLOCKS = 100
_MOST_BYTES = 2_000_000
#: References are followed so far: product, offer, price, and what these hold.
_DEEPEST = 3
_MOST_LINKS = 100
#: Values that are laid out for a page, references followed: sixty nodes that name ten others each
#: would be 60,000 nodes with their references' references, and each may have thousands of values.
_MOST_FOLLOWED = 100_000
#: Characters of broken blocks that are repaired on one page.
_MOST_REPAIRED = 600_000
_NESTED = (dict, list)


class Known(dict[str, Node]):
    """A page's nodes by their @id, and how many more values may be laid out."""

    left = _MOST_FOLLOWED


def nodes(page: Page) -> list[Any]:
    """The values of all JSON-LD blocks, in the page's order; unreadable ones are left out."""
    found = []
    left = _MOST_REPAIRED
    for script in page.scripts:
        if "ld+json" not in (script.get("type") or "")[:100].lower() or not script.text:
            continue
        text = script.text.replace('"Offers"', '"offers"')  # as one shop system writes it
        value = whole(text)
        if value is None and len(text) <= left:
            left -= len(text)
            guessed: set[str] = set()
            value = repaired(text, guessed)
            page.guessed.update(told for text in guessed if (told := plain(text)))
        if value is not None:
            found.append(value)
        elif "Product" in text:
            page.left_out = f"a block of {len(text):,} characters is broken or too long"
        if len(found) >= _MOST_BLOCKS:
            break
    return found


def loads(text: str) -> Any:
    """Read JSON; what is broken in a known way is repaired, what is not gives None.

    >>> loads('{"a": 1,}'), loads("<!-- [1] -->"), loads("{oops")
    ({'a': 1}, [1], None)
    """
    value = whole(text)
    return repaired(text) if value is None and len(text) <= _MOST_BYTES else value


def whole(text: str) -> Any:
    """Read JSON that is not broken; None where it is."""
    try:
        return orjson.loads(text)
    except ValueError:
        return None


def index(values: list[Any]) -> Known:
    """Nodes by their @id, for those that refer to each other."""
    found = Known()
    stack: list[Any] = list(values)
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack.extend(value)
        elif isinstance(value, dict):
            name = value.get("@id")
            if isinstance(name, str) and len(value) > len(found.get(name, ())) and len(value) > 1:
                found[name] = value
            stack += [v for v in value.values() if isinstance(v, _NESTED)]
    return found


def linked(node: Node, known: Known) -> Node:
    """The node with its references (`{"@id": …}` alone) replaced by what they refer to.

    The rest of a graph that is too large stays as it is written.
    """
    if not known:
        return node
    return {key: _followed(value, known, _DEEPEST) for key, value in node.items()}


def _followed(value: Any, known: Known, depth: int) -> Any:
    if isinstance(value, list):
        return [
            _followed(item, known, depth) if isinstance(item, dict) else item
            for item in value[:_MOST_LINKS]
        ]
    if not isinstance(value, dict) or depth <= 0 or known.left <= 0:
        return value
    if value.keys() <= {"@id", "@type"} and isinstance(name := value.get("@id"), str):
        value = known.get(name, value)
    known.left -= 1 + len(value)
    if not any(isinstance(inner, _NESTED) for inner in value.values()):
        return value
    return {key: _followed(inner, known, depth - 1) for key, inner in value.items()}

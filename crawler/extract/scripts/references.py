"""Follow the references of a normalised cache, in which GraphQL clients keep each object once."""

from __future__ import annotations

from typing import Any

from crawler.extract.structured.nodes import Node

#: The key of a reference; older clients write `{"type": "id", "id": …}`.
_REFERENCE = "__ref"
#: Objects that are searched for the cache, and references within references that are followed.
_MAX_NODES, _MAX_DEPTH = 2_000, 2


def followed(node: Node, state: Any) -> Node:
    """Return a node with the objects that it refers to, which *state* holds under their keys.

    >>> state = {"Product:1": {"brand": {"__ref": "Brand:2"}}, "Brand:2": {"name": "Acme"}}
    >>> followed(state["Product:1"], state)
    {'brand': {'name': 'Acme'}}
    """
    keys = [key for inner in node.values() if (key := _key_of(inner))]
    if not keys:
        return node
    cache = _cache(state, keys[0])
    return node if cache is None else _followed(node, cache, _MAX_DEPTH)


def _key_of(value: Any) -> str:
    """Return the key that a reference names; '' for another value.

    >>> _key_of({"__ref": "Brand:2"}), _key_of({"type": "id", "id": "$Lamp.price"}), _key_of({"id": "7"})
    ('Brand:2', '$Lamp.price', '')
    """
    if not isinstance(value, dict):
        return ""
    key = value.get(_REFERENCE) or (value.get("id") if value.get("type") == "id" else None)
    return key if isinstance(key, str) else ""


def _followed(node: Node, cache: Node, depth: int) -> Node:
    result = dict(node)
    for key, inner in node.items():
        if depth and (key_of := _key_of(inner)) and isinstance(found := cache.get(key_of), dict):
            result[key] = _followed(found, cache, depth - 1)
    return result


def _cache(state: Any, key: str) -> Node | None:
    """Return the outermost mapping of a state that holds an object under a key."""
    waiting, place = [state], 0
    while place < min(len(waiting), _MAX_NODES):
        item = waiting[place]
        place += 1
        if isinstance(item, dict):
            if isinstance(item.get(key), dict):
                return item
            waiting += [inner for inner in item.values() if isinstance(inner, dict)]
    return None

"""A JSON response as the page of links that a script would make of it.

A button that loads more of a listing gets its tiles as HTML inside JSON, or as a list of products
with one address each, and the address of the next page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Any

import orjson

#: Keys of a product's address, and of the next page's.
_ADDRESS_KEYS = frozenset(
    {"url", "href", "link", "permalink", "producturl", "product_url", "path", "uri"}
)
_NEXT_PAGE_KEYS = frozenset(
    {"next", "next_url", "nexturl", "next_page_url", "nextpageurl", "nextpage", "next_page"}
)
_ADDRESS_STARTS = ("/", "http://", "https://", "?", "./")
#: The name of a product's address, without its folder.
_NAMED = re.compile(rb"\"(?:handle|slug|url_?key)\"\s?:\s?\"[\w-]{3}", re.I)
_MAX_NODES, _MAX_ADDRESS_LENGTH = 20_000, 2_000


def as_html(raw: bytes) -> bytes | None:
    """Return the HTML and the addresses in a JSON text as one page, or None if it has none.

    >>> as_html(b'{"items":[{"name":"Lamp","url":"/p/1"}],"next":"/api?page=2"}')
    b'<html><body><a rel="next" href="/api?page=2"></a><a href="/p/1">Lamp</a></body></html>'
    >>> as_html(b'{"a":1}'), as_html(b"nothing")
    (None, None)
    """
    try:
        value = orjson.loads(raw)
    except ValueError:
        return None
    parts = list(_parts(value))
    if _NAMED.search(raw) and not any("href=" in part for part in parts):
        parts += [f'<script type="application/json">{_in_script(raw)}</script>']
    return f"<html><body>{''.join(parts)}</body></html>".encode() if parts else None


def _in_script(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").replace("</", "<\\/")


def _parts(value: Any) -> Iterator[str]:
    stack, nodes_left = [value], _MAX_NODES
    while stack and nodes_left > 0:
        node = stack.pop()
        nodes_left -= 1
        if isinstance(node, list):
            stack.extend(reversed(node))
        elif isinstance(node, dict):
            for key, inner in node.items():
                if isinstance(inner, str):
                    yield from _part(key.lower(), inner, node)
            stack.extend(
                child for child in reversed(node.values()) if isinstance(child, dict | list)
            )


def _part(key: str, text: str, node: dict[str, Any]) -> Iterator[str]:
    if "</" in text:
        yield text
    elif text.startswith(_ADDRESS_STARTS) and len(text) <= _MAX_ADDRESS_LENGTH:
        if key in _NEXT_PAGE_KEYS:
            yield f'<a rel="next" href="{escape(text)}"></a>'
        elif key in _ADDRESS_KEYS:
            name = node.get("name") or node.get("title")
            yield f'<a href="{escape(text)}">{escape(name) if isinstance(name, str) else ""}</a>'

"""What a script makes of a JSON answer, as the page of links that it becomes.

Buttons that load more of a listing get their tiles as HTML inside JSON, or as a list of things with
an address each, and where the next ones are.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

import orjson

#: Names of what leads to a thing, and of what leads to more of them.
_ADDRESSES = frozenset(
    {"url", "href", "link", "permalink", "producturl", "product_url", "path", "uri"}
)
_NEXT = frozenset(
    {"next", "next_url", "nexturl", "next_page_url", "nextpageurl", "nextpage", "next_page"}
)
_BEGINS = ("/", "http://", "https://", "?", "./")
_MOST_NODES, _LONGEST = 20_000, 2_000


def as_html(raw: bytes) -> bytes | None:
    """The HTML and the addresses that a JSON text holds, as one page; None: it holds none.

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
    return f"<html><body>{''.join(parts)}</body></html>".encode() if parts else None


def _parts(value: Any) -> Iterator[str]:
    stack, left = [value], _MOST_NODES
    while stack and left > 0:
        here = stack.pop()
        left -= 1
        if isinstance(here, list):
            stack.extend(reversed(here))
        elif isinstance(here, dict):
            for key, inner in here.items():
                if isinstance(inner, str):
                    yield from _part(key.lower(), inner, here)
            stack.extend(v for v in reversed(here.values()) if isinstance(v, dict | list))


def _part(key: str, text: str, node: dict[str, Any]) -> Iterator[str]:
    if "</" in text:
        yield text
    elif text.startswith(_BEGINS) and len(text) <= _LONGEST:
        if key in _NEXT:
            yield f'<a rel="next" href="{escape(text)}"></a>'
        elif key in _ADDRESSES:
            name = node.get("name") or node.get("title")
            yield f'<a href="{escape(text)}">{escape(name) if isinstance(name, str) else ""}</a>'

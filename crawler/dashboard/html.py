"""HTML from Python values: every value that is no Markup is escaped.

>>> str(tag.p("1 < 2", class_="note", hidden=True))
'<p class="note" hidden>1 &lt; 2</p>'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

from markupsafe import Markup, escape

from scrapy_seine.printable import printable

Node = Any
"""Text, a number, Markup, None (nothing), or an iterable of these."""
_VOID = {"br", "hr", "img", "input", "link", "meta"}


def text(node: Node) -> Markup:
    """Turn a node into safe HTML."""
    parts: list[str] = []
    _write(node, parts)
    return Markup("".join(parts))  # noqa: S704  # each part was escaped


def _write(node: Node, parts: list[str]) -> None:
    """Append a node's HTML as plain strings, because joining Markup would escape them again."""
    if node is None or node is False:
        return
    if isinstance(node, Markup):
        parts.append(str(node))
    elif isinstance(node, str):
        parts.append(str(escape(printable(node))))
    elif isinstance(node, Iterable):
        for child in node:
            _write(child, parts)
    else:
        parts.append(str(escape(str(node))))


@lru_cache(maxsize=256)
def _name(keyword: str) -> str:
    return keyword.rstrip("_").replace("_", "-")


def element(name: str, /, *children: Node, **attributes: Any) -> Markup:
    """Build an element; an attribute that is None or False is omitted, True has no value."""
    parts = ["<", name]
    for keyword, value in attributes.items():
        if value is None or value is False:
            continue
        if value is True:
            parts.append(f" {_name(keyword)}")
        else:
            escaped_value = escape(printable(value) if type(value) is str else value)
            parts.append(f' {_name(keyword)}="{escaped_value}"')
    parts.append(">")
    if name not in _VOID:
        _write(children, parts)
        parts.append(f"</{name}>")
    return Markup("".join(parts))  # noqa: S704  # names come from our own code, values are escaped


class Tags:
    """`tag.p("…")` is `element("p", "…")`."""

    def __getattr__(self, name: str) -> Callable[..., Markup]:
        return partial(element, name)


tag = Tags()

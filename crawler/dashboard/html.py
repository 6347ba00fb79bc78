"""HTML from Python values: what is no Markup is escaped, without exception.

>>> str(tag.p("1 < 2", class_="note", hidden=True))
'<p class="note" hidden>1 &lt; 2</p>'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from markupsafe import Markup, escape

from scrapy_seine.printable import printable

Node = Any
"""Text, a number, Markup, None (nothing), or an iterable of these."""
_VOID = {"br", "hr", "img", "input", "link", "meta"}


def text(node: Node) -> Markup:
    """Turn a node into safe HTML."""
    if node is None or node is False:
        return Markup()
    if isinstance(node, str | int | float):  # Markup is a str that stays as it is
        return escape(printable(node) if type(node) is str else node)
    if isinstance(node, Iterable):
        return Markup().join(text(part) for part in node)
    return escape(str(node))


def _attribute(name: str, value: Any) -> Markup:
    name = name.rstrip("_").replace("_", "-")
    if value is True:
        return Markup(" ") + Markup(name)  # noqa: S704  # names come from our own code
    return Markup(' {}="{}"').format(name, printable(value) if type(value) is str else value)


def element(name: str, /, *children: Node, **attributes: Any) -> Markup:
    """Make an element; an attribute that is None or False is left out, True has no value."""
    shown = {k: v for k, v in attributes.items() if v is not None and v is not False}
    start = Markup("<{}{}>").format(
        name, Markup().join(_attribute(key, value) for key, value in shown.items())
    )
    return start if name in _VOID else start + text(children) + Markup("</{}>").format(name)


class Tags:
    """`tag.p("…")` is `element("p", "…")`."""

    def __getattr__(self, name: str) -> Callable[..., Markup]:
        def make(*children: Node, **attributes: Any) -> Markup:
            return element(name, *children, **attributes)

        return make


tag = Tags()

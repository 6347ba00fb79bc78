"""rich, which commands use for output, loaded with its first use.

Scrapy imports every command to run one, and a worker prints no tables. So use it as
`paint.Table(...)`: importing a name from the module would load rich at once, in 0.03 s.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.columns import Columns
    from rich.console import Group, RenderableType
    from rich.markup import escape
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    from scrapy_seine.terminal import Console, Live

__all__ = [
    "Columns",
    "Console",
    "Group",
    "Live",
    "Panel",
    "RenderableType",
    "Table",
    "Text",
    "escape",
]
_HOME = {
    "Columns": "rich.columns",
    "Console": "scrapy_seine.terminal",
    "Live": "scrapy_seine.terminal",
    "Panel": "rich.panel",
    "Table": "rich.table",
    "Text": "rich.text",
    "escape": "rich.markup",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME.get(name, "rich.console")), name)
    globals()[name] = value
    return value

"""Named statements of `queries.sql`."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_FILLED = re.compile(r"INSERT INTO (\w+)(?: AS \w+)?\s*\(([^)]*)\)")
_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


@cache
def _statements() -> dict[str, str]:
    text = (resources.files("crawler.stores") / "queries.sql").read_text("utf-8")
    parts = _NAME.split(text)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def filled_columns() -> dict[str, set[str]]:
    """Return, by table, the columns that the statements fill in a new row."""
    filled: dict[str, set[str]] = {}
    for table, columns in _FILLED.findall("".join(_statements().values())):
        filled.setdefault(table, set()).update(name.strip() for name in columns.split(","))
    return filled


def query(name: str) -> str:
    """Return the statement of that name.

    Raises:
        KeyError: there is no statement of that name.
    """
    return _statements()[name]

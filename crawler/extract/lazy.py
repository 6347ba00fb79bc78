"""Regular expressions that are compiled when a text is first held against them.

Compiling all of the readers' patterns took each start as long as reading a dozen pages, and most
shops need a third of them.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class Lazy:
    """Stands for a pattern; each of its methods is looked up once."""

    def __init__(self, source: Any, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        own = re.compile(self._source, self._flags) if name == "compiled" else self.compiled
        found = own if name == "compiled" else getattr(own, name)
        setattr(self, name, found)
        return found


def pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    r"""What `re.compile` returns, made when it is first used.

    >>> pattern(r"\d+").findall("12 lamps of 40 W")
    ['12', '40']
    """
    return cast("re.Pattern[AnyStr]", Lazy(source, flags))

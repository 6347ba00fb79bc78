"""Regular expressions that are compiled when they are first used.

Compiling all patterns of the readers delayed each start by the time of a dozen pages, and most
shops need a third of them.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")


class Lazy:
    """Stands for a pattern, and has the pattern's methods once it is compiled."""

    compiled: re.Pattern[Any]


class _Uncompiled(Lazy):
    """A pattern before its first use; after it, the class changes to one without __getattr__."""

    def __init__(self, source: Any, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name != "compiled" and name not in _METHODS:
            raise AttributeError(name)
        self.compiled = re.compile(self._source, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(self.compiled, method))
        self.__class__ = Lazy  # type: ignore[assignment]  # its methods are attributes from now on
        return getattr(self, name)


def pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    r"""Return what `re.compile` returns, compiled at the first use.

    >>> pattern(r"\d+").findall("12 lamps of 40 W")
    ['12', '40']
    """
    return cast("re.Pattern[AnyStr]", _Uncompiled(source, flags))

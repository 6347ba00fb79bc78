"""Whether a script may hold a product that is named as its page is; most hold other things."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

from crawler.extract import lazy_patterns

#: The name of attributes of a product without a name, in one shop system's state.
NAMELESS = "product_attributes"
#: Figures and letters that JSON and JavaScript write as they are.
_PLAIN_RUN = lazy_patterns.pattern(r"[a-z\d]{3,}", re.ASCII)


class NameFilter:
    """Tells scripts with one of the page's names from others by a run of letters of the name.

    Such a script has these letters too, because it escapes no figures and no Latin letters without
    accents. Reading the state of all of a shop's menus took longer than the rest of a page.

    >>> may_name = NameFilter(lambda: {"café table", "café table | shop"})
    >>> may_name('{"name": "Caf\\u00e9 Table"}'), may_name('{"name": "Oak chair"}')
    (True, False)
    """

    def __init__(self, find_names: Callable[[], set[str]]) -> None:
        """Prepare for the names that *find_names* returns, case-folded, when they are needed."""
        self._find_names = find_names

    @cached_property
    def names(self) -> set[str]:
        """The page's names."""
        return self._find_names()

    @cached_property
    def _runs(self) -> set[str]:
        return {_longest_run(name) for name in self.names}

    def __call__(self, text: str) -> bool:
        """Whether the script's text may hold a product with one of the names, or without any."""
        if NAMELESS in text or "" in self._runs:
            return bool(self.names)
        text = text.lower()
        return any(run in text for run in self._runs)


def _longest_run(name: str) -> str:
    """Return the longest plain run of a name, '' if it has none; `ß` is folded to `ss`."""
    return max(_PLAIN_RUN.findall(name.replace("ss", " ")), key=len, default="")

"""Whether a script may hold a product that is named as its page is; most hold other things."""

from __future__ import annotations

import re
from collections.abc import Iterable

from crawler.extract import lazy_patterns

#: The name of attributes of a product without a name, in one shop system's state.
NAMELESS = "product_attributes"
#: Figures and letters that JSON and JavaScript write as they are.
_PLAIN_RUN = lazy_patterns.pattern(r"[a-z\d]{3,}", re.ASCII)


class NameFilter:
    """Tells scripts with one of the page's names from others by a run of letters of the name.

    Such a script has these letters too, because it escapes no figures and no Latin letters without
    accents. Reading the state of all of a shop's menus took longer than the rest of a page.

    >>> may_name = NameFilter(["café table", "café table | shop"])
    >>> may_name('{"name": "Caf\\u00e9 Table"}'), may_name('{"name": "Oak chair"}')
    (True, False)
    """

    def __init__(self, names: Iterable[str]) -> None:
        """Prepare for *names*, case-folded; one without such a run lets all scripts pass."""
        # `ß` is folded to `ss`.
        names_runs = (_PLAIN_RUN.findall(name.replace("ss", " ")) for name in names)
        runs = {max(runs, key=len, default="") for runs in names_runs}
        self._runs = () if "" in runs else tuple(runs)

    def __call__(self, text: str) -> bool:
        """Whether the script's text may hold a product with one of the names, or without any."""
        if not self._runs or NAMELESS in text:
            return True
        text = text.lower()
        return any(run in text for run in self._runs)

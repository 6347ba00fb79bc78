"""Which rows of a feed's parts stand in the joined file: those of each page's last whole reading.

A page is read again when its worker died, or when something failed. Then parts may hold items of
several readings, the earlier ones perhaps cut off. A reading is complete when a part says how it
ended. Of a page with complete readings the last one counts; of a page with none (the crawl was
stopped for good), the last one as well, because some items are better than none.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from scrapy_seine.records import Value

#: Outcomes after which the page is not read again.
_FINAL = {"done", "ignored", "bury"}


@attrs.frozen(eq=False, repr=False)
class Rows(Value):
    """What a part's sidecar says."""

    name: str
    """The part's, which no other part has."""
    rows: int
    readings: Sequence[tuple[str, str, int, int, int]]
    """Page, token, time (ms), first row, number of rows."""
    ended: Sequence[tuple[str, str, int, str]]
    """Page, token, time (ms), outcome."""


def last_readings(parts: Sequence[Rows]) -> tuple[dict[str, str], int]:
    """Return the token of the reading of each page that counts, and how many are incomplete.

    >>> first = Rows("1", 2, [("p", "7", 10, 0, 2)], [("p", "7", 10, "done")])
    >>> later = Rows("2", 1, [("p", "9", 20, 0, 1)], [])
    >>> last_readings([first, later])
    ({'p': '7'}, 0)
    """
    ends = [end for part in parts for end in part.ended]
    whole = {(page, token) for page, token, _, outcome in ends if outcome in _FINAL}
    begun = [reading[:3] for part in parts for reading in part.readings]
    best: dict[str, tuple[bool, int, str]] = {}
    for page, token, at_ms in [*begun, *(end[:3] for end in ends)]:
        found = ((page, token) in whole, at_ms, token)
        best[page] = max(best.get(page, found), found)
    cut_off = sum(1 for page, found in best.items() if page and not found[0])
    return {page: found[2] for page, found in best.items()}, cut_off


def rows_of(part: Rows, last: dict[str, str]) -> list[int]:
    """Return the numbers of a part's rows that count, in order.

    >>> rows_of(Rows("2", 3, [("p", "9", 20, 0, 1), ("", "", 0, 1, 2)], []), {"p": "7"})
    [1, 2]
    """
    kept: list[int] = []
    for page, token, _, first, number in part.readings:
        if not page or last.get(page) == token:
            kept.extend(range(first, first + number))
    return kept

"""Chooses the rows of a feed's parts for the joined file: those of each page's last complete
reading.

A page is parsed again when its worker died, or after a failure. Then parts may hold items of
several readings, the earlier ones perhaps incomplete. A reading is complete if a part records its
outcome. Of a page with complete readings the last one is taken, before one that was given up: its
lease may have come again after the page was done. Of a page with none (the crawl was stopped for
good), the last one is taken as well, because some items are better than none.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from scrapy_seine.attrs_bases import Value

#: Outcomes after which the page is not fetched again, with the larger number for those preferred.
_FINAL = {"done": 2, "ignored": 2, "bury": 1}


@attrs.frozen(eq=False, repr=False)
class Rows(Value):
    """The content of a part's sidecar."""

    name: str
    """The part's unique name."""
    rows: int
    readings: Sequence[tuple[str, str, int, int, int]]
    """Page, token, time (ms), first row, number of rows."""
    ended: Sequence[tuple[str, str, int, str]]
    """Page, token, time (ms), outcome."""


def last_readings(
    parts: Sequence[Rows], *, complete_only: bool = False
) -> tuple[dict[str, str], int]:
    """Return the token of each page's reading to take, and how many of these are incomplete.

    With *complete_only*, a page without a complete reading is left out.

    >>> first = Rows("1", 2, [("p", "7", 10, 0, 2)], [("p", "7", 10, "done")])
    >>> later = Rows("2", 1, [("p", "9", 20, 0, 1)], [])
    >>> last_readings([first, later])
    ({'p': '7'}, 0)
    """
    ends = [end for part in parts for end in part.ended]
    complete = {(p, token): _FINAL[word] for p, token, _, word in ends if word in _FINAL}
    begun = [reading[:3] for part in parts for reading in part.readings]
    best_by_page: dict[str, tuple[int, int, str]] = {}
    for page, token, at_ms in [*begun, *(end[:3] for end in ends)]:
        rank = (complete.get((page, token), 0), at_ms, token)
        best_by_page[page] = max(best_by_page.get(page, rank), rank)
    cut_off = sum(1 for page, rank in best_by_page.items() if page and not rank[0])
    return {
        page: token
        for page, (is_complete, _, token) in best_by_page.items()
        if is_complete or not complete_only
    }, cut_off


def done_readings(parts: Sequence[Rows]) -> dict[str, str]:
    """Return the token with which each page was done, if it was.

    A page that was given up may be done later, by a replay.

    >>> done_readings([Rows("1", 0, [], [("p", "7", 10, "done"), ("q", "8", 10, "bury")])])
    {'p': '7'}
    """
    best = max(_FINAL.values())
    ends = [end for part in parts for end in part.ended]
    return {page: token for page, token, _, word in ends if _FINAL.get(word) == best}


def rows_of(part: Rows, last_tokens: dict[str, str]) -> list[int]:
    """Return the numbers of a part's rows to take, in order.

    >>> rows_of(Rows("2", 3, [("p", "9", 20, 0, 1), ("", "", 0, 1, 2)], []), {"p": "7"})
    [1, 2]
    """
    numbers: list[int] = []
    for page, token, _, first_row, number in part.readings:
        if not page or last_tokens.get(page) == token:
            numbers.extend(range(first_row, first_row + number))
    return numbers

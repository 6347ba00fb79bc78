"""What a fleet made of its pages, by the access log, the rows and the dead letters alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

import attrs

from tests.benchmarks.edges.site import Thing

#: What a page must come to: read (a callback ended); stored, with the values that it shows; a dead
#: letter with a reason; ignored by a rule (no row, never parsed); a refused row with its reason;
#: `said`: read or a dead letter, whichever the crawl finds right.
Fate = Literal["read", "stored", "dead", "ignored", "rejected", "said"]
FIGURES = (
    "lost_pages",
    "lost_items",
    "wrong_rows",
    "false_gone",
    "false_done",
    "stopped_workers",
    "stuck",
)


@attrs.frozen(kw_only=True)
class Expected:
    """One page and what it must come to."""

    fault: str
    url: str
    fate: Fate
    thing: Thing | None = None


@attrs.frozen(kw_only=True)
class Evidence:
    """What is found after a crawl; nothing of it is a claim of the crawler about itself."""

    answered: frozenset[str]
    """URLs that the site gave out whole."""
    read: frozenset[str]
    """URLs whose callback ended."""
    rows: Mapping[str, Mapping[str, Any]]
    """Products by URL."""
    rejected: Mapping[str, str]
    """Reasons of refused rows by URL."""
    dead: Mapping[str, str]
    """Reasons of dead letters by URL."""


@attrs.frozen
class Finding:
    """One thing that went wrong."""

    figure: str
    fault: str
    text: str


def judge(expected: Iterable[Expected], found: Evidence) -> list[Finding]:
    """Compare."""
    return [
        Finding(figure, one.fault, f"{one.url}: {text}")
        for one in expected
        for figure, text in _look(one, found)
    ]


def _look(one: Expected, found: Evidence) -> Iterable[tuple[str, str]]:
    url, row = one.url, found.rows.get(one.url)
    if row is not None and one.fate in ("dead", "ignored", "rejected"):
        yield "wrong_rows", f"has a row, though it must be {one.fate}"
    if one.fate == "dead" and not found.dead.get(url):
        yield "lost_pages", "no dead letter with a reason"
    elif one.fate == "read" and url not in found.read:
        yield "lost_pages", f"its callback never ended ({_known(url, found)})"
    elif one.fate == "said" and url not in found.read and not found.dead.get(url):
        yield "lost_pages", "neither read nor a dead letter"
    elif one.fate == "ignored" and url in found.read:
        yield "wrong_rows", "was read, though a rule ignores it"
    elif one.fate == "rejected" and not found.rejected.get(url):
        yield "lost_items", "no rejected row with a reason"
    elif one.fate == "stored":
        yield from _stored(one, found, row)


def _stored(
    one: Expected, found: Evidence, row: Mapping[str, Any] | None
) -> Iterable[tuple[str, str]]:
    if row is None:
        figure = "lost_items" if one.url in found.answered else "lost_pages"
        yield figure, f"no row ({_known(one.url, found)})"
        return
    thing = one.thing
    assert thing is not None  # whoever expects a row says which
    shown = (f"Thing {thing.sku}", Decimal(thing.price), thing.availability)
    kept = (row["name"], row["price"], row["availability"])
    if kept != shown:
        yield "wrong_rows", f"{kept} instead of {shown}"
    if row["gone_at"] is not None:
        yield "false_gone", "is marked gone, though it answers"


def _known(url: str, found: Evidence) -> str:
    said = found.dead.get(url) or found.rejected.get(url)
    asked = "answered" if url in found.answered else "never answered"
    return f"{asked}, {said or 'nothing said'}"


def totals(findings: Sequence[Finding]) -> dict[str, int]:
    """Count by figure."""
    counted = Counter(finding.figure for finding in findings)
    return {figure: counted[figure] for figure in FIGURES}

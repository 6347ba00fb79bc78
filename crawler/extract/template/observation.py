"""What one page tells of each field: the value, who agrees with it, and where it stands."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from crawler.extract.default_parser import Found
from crawler.extract.fields import Fields
from crawler.extract.page.page import short_text

#: Fields that are held against the template.
FIELDS = ("name", "price", "currency", "availability", "sku")
_HEADING = "heading"
#: Of these, what differs in anything differs.
_EXACT = frozenset({"price", "currency", "availability"})
#: And fields with so few values that a page's own says something of the page.
_FEW = frozenset({"currency", "availability"})


class Seen(NamedTuple):
    """One field of one page; a tuple, because each page makes five."""

    value: Any
    """None where the page has none."""
    source: str | None
    votes: Mapping[str, Any]
    """What each source tells, the one that was chosen included."""
    path: str | None
    """Where the visible text has it; None where no text was read for it."""

    def agrees(self, field: str, source: str) -> bool:
        """Whether a source tells the value that was chosen."""
        told = self.votes[source]
        return bool(told == self.value) or same(field, told, self.value)


def observe(found: Found) -> dict[str, Seen]:
    """The fields of a product's page."""
    heading = _heading_of(found)
    fields, sources, paths = found.fields, found.sources, found.paths
    votes: dict[str, dict[str, Any]] = {field: {} for field in FIELDS}
    for source, told in found.offered.items():
        for field in told.keys() & votes.keys():
            votes[field][source] = told[field]
    if heading:
        votes["name"][_HEADING] = heading
    get, source_of, place_of = fields.get, sources.get, paths.get
    return {
        field: Seen(get(field), source_of(field), told, place_of(field))
        for field, told in votes.items()
    }


def same(field: str, one: Any, other: Any) -> bool:
    """Whether two sources tell one value; names may be cut, or go on with colour and shop."""
    if one == other:
        return True
    if field in _EXACT or one is None or other is None:
        return False
    short, long = sorted((_plain(one), _plain(other)), key=len)
    return bool(short) and (short == long or (field == "name" and short in long))


def _plain(value: Any) -> str:
    return _folded(str(value)[:500])


# The rules ask for the same few names of a page one after the other.
@lru_cache(maxsize=64)
def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _heading_of(found: Found) -> str:
    mains = (heading for heading in found.page.headings if heading.tag == "h1")
    first = next(mains, None)
    return "" if first is None or next(mains, None) is not None else short_text(first)


def form(field: str, one: Seen, *, reduced: bool = False, is_usual: bool = False) -> Hashable:
    """What `doubt_of` and `confidence` of a value rest on, but for what was learned of its site.

    Who tells it, who agrees, where it stands, whether the page shows a price before a reduction, and
    whether most pages have it (*is_usual*); the value itself only where few exist.
    """
    value, source, votes, path = one
    agreeing = tuple([(s, told == value or same(field, told, value)) for s, told in votes.items()])
    return source, path, agreeing, reduced, value if field in _FEW else is_usual


def values(told: Fields) -> dict[str, Any]:
    """The fields that are judged, of a product as it is stored."""
    return {field: told.get(field) for field in FIELDS}

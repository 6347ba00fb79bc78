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
_EXACT_FIELDS = frozenset({"price", "currency", "availability"})
#: And fields with so few values that a page's own says something of the page.
_FEW_VALUED = frozenset({"currency", "availability"})


class Observation(NamedTuple):
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
        value = self.votes[source]
        return bool(value == self.value) or is_same_value(field, value, self.value)


def observe(result: Found) -> dict[str, Observation]:
    """The fields of a product's page."""
    heading = _heading_of(result)
    fields, sources, paths = result.fields, result.sources, result.paths
    votes: dict[str, dict[str, Any]] = {field: {} for field in FIELDS}
    for source, offered in result.offered.items():
        for field in offered.keys() & votes.keys():
            votes[field][source] = offered[field]
    if heading:
        votes["name"][_HEADING] = heading
    get, source_of, place_of = fields.get, sources.get, paths.get
    return {
        field: Observation(get(field), source_of(field), offered, place_of(field))
        for field, offered in votes.items()
    }


def is_same_value(field: str, value: Any, other_value: Any) -> bool:
    """Whether two sources tell one value; names may be cut, or go on with colour and shop."""
    if value == other_value:
        return True
    if field in _EXACT_FIELDS or value is None or other_value is None:
        return False
    shorter, longer = sorted((_plain(value), _plain(other_value)), key=len)
    return bool(shorter) and (shorter == longer or (field == "name" and shorter in longer))


def _plain(value: Any) -> str:
    return _folded(str(value)[:500])


# The rules ask for the same few names of a page one after the other.
@lru_cache(maxsize=64)
def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _heading_of(result: Found) -> str:
    mains = (heading for heading in result.page.headings if heading.tag == "h1")
    main_heading = next(mains, None)
    return "" if main_heading is None or next(mains, None) is not None else short_text(main_heading)


def form_of(
    field: str, observation: Observation, *, reduced: bool = False, is_usual: bool = False
) -> Hashable:
    """What `doubt_of` and `confidence` of a value rest on, but for what was learned of its site.

    Who tells it, who agrees, where it stands, whether the page shows a price before a reduction, and
    whether most pages have it (*is_usual*); the value itself only where few exist.
    """
    value, source, votes, path = observation
    agreeing = tuple(
        [(s, vote == value or is_same_value(field, vote, value)) for s, vote in votes.items()]
    )
    return source, path, agreeing, reduced, value if field in _FEW_VALUED else is_usual


def values(stored: Fields) -> dict[str, Any]:
    """The fields that are judged, of a product as it is stored."""
    return {field: stored.get(field) for field in FIELDS}

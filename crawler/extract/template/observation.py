"""The observation of each field on one page: its value, the sources' votes, and its place."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from crawler.extract.default_parser import Found
from crawler.extract.fields import Fields
from crawler.extract.page.page import short_text

#: Fields that are compared with the template.
FIELDS = ("name", "price", "currency", "availability", "sku")
#: The vote for a name that the page's main heading gives.
HEADING = "heading"
#: The vote for an amount beside the price, where unknown words tell the two apart.
RIVAL = "rival"
#: The place of an availability that the page says in words, wherever they stand.
BY_WORDS = "words for the stock"
#: Those of them whose values are equal only if identical.
_EXACT_FIELDS = frozenset({"price", "currency", "availability"})
#: Fields with few possible values, which are part of an observation's form.
_FEW_VALUED = frozenset({"currency", "availability"})


class Observation(NamedTuple):
    """One field of one page; a tuple, which is cheap, because each page makes five."""

    value: Any
    """None if the page has no value."""
    source: str | None
    votes: Mapping[str, Any]
    """Each source's value, including the chosen one's."""
    path: str | None
    """The place of the visible text; None if the value was not read from a text."""

    def agrees(self, field: str, source: str) -> bool:
        """Whether a source gives the chosen value."""
        value = self.votes[source]
        return bool(value == self.value) or is_same_value(field, value, self.value)


def observe(result: Found) -> dict[str, Observation]:
    """Return the observations of a product page, by field."""
    heading = _heading_of(result)
    fields, sources, paths = result.fields, result.sources, result.paths
    votes: dict[str, dict[str, Any]] = {field: {} for field in FIELDS}
    for source, offered in result.offered.items():
        for field in offered.keys() & votes.keys():
            votes[field][source] = offered[field]
    if heading:
        votes["name"][HEADING] = heading
    if result.price_rival is not None and sources.get("price") == "text":
        votes["price"][RIVAL] = result.price_rival
    if sources.get("availability") == "text":
        # Where the words of the stock are lost, a button says that all products are in stock.
        paths = {"availability": BY_WORDS, **paths}
    get, source_of, place_of = fields.get, sources.get, paths.get
    return {
        field: Observation(get(field), source_of(field), offered, place_of(field))
        for field, offered in votes.items()
    }


def is_same_value(field: str, value: Any, other_value: Any) -> bool:
    """Whether two values are the same; one name may contain the other, with colour or shop."""
    if value == other_value:
        return True
    if field in _EXACT_FIELDS or value is None or other_value is None:
        return False
    shorter, longer = sorted((_plain(value), _plain(other_value)), key=len)
    return bool(shorter) and (shorter == longer or (field == "name" and shorter in longer))


def _plain(value: Any) -> str:
    return _folded(str(value)[:500])


# Cached, because the rules compare the same few names of a page one after the other.
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
    """Return the properties of a page on which `doubt_of` and `confidence` depend, as a cache key.

    The source, the sources that agree, the place, whether the page shows a regular price (*reduced*)
    and whether most pages have the value (*is_usual*); the value itself only if few values exist.
    """
    value, source, votes, path = observation
    agreeing = tuple(
        [(s, vote == value or is_same_value(field, vote, value)) for s, vote in votes.items()]
    )
    return source, path, agreeing, reduced, value if field in _FEW_VALUED else is_usual


def values(stored: Fields) -> dict[str, Any]:
    """Return the judged fields of a stored product."""
    return {field: stored.get(field) for field in FIELDS}

"""What a site's pages taught, put to use on its next page."""

from __future__ import annotations

from typing import Any

from crawler.extract.default import Found
from crawler.extract.template.judge import constant
from crawler.extract.template.mending import BELOW
from crawler.extract.template.nodes import texts_of, value_at
from crawler.extract.template.profile import Profile

#: Pages in a row without a value in its new place, before the parser is asked again.
_GONE = 6
_CENTS = 100


def mend(found: Found, profile: Profile) -> None:
    """Apply what the site's pages taught: the source that is right, the currency of bare prices."""
    fields, sources = found.fields, found.sources
    _read_places(found, profile)
    for field, known in profile.fields.items():
        source = known.preferred
        told = found.offered.get(source or "", {})
        if source and field in told and field in fields:
            fields[field], sources[field] = told[field], source
    if fields.get("price") is not None and fields.get("currency") is None:
        usual = constant(profile.fields["currency"])
        if usual:
            fields["currency"], sources["currency"] = usual, "template"


def read_cents(found: Found) -> bool:
    """Take the price that the page shows where structured data tells the same figures as cents."""
    shown = found.offered.get("text", {}).get("price")
    price = found.fields.get("price")
    if not shown or price != shown * _CENTS or found.sources.get("price") == "text":
        return False
    found.fields["price"] = shown
    for told in found.offered.values():
        if told.get("price") == price:
            told["price"] = shown
    return True


def _read_places(found: Found, profile: Profile) -> None:
    """Read the fields that stand elsewhere since from there."""
    texts = None
    for field, known in profile.fields.items():
        if not known.places:
            continue
        texts = texts_of(found.page) if texts is None else texts
        value = None
        for place in known.places:
            below = found.struck_below if place == BELOW else None
            value = value or below or value_at(field, place, texts)
        lacks = value is None and found.fields.get(field) is None
        known.misses = known.misses + 1 if lacks else 0
        if value is not None:
            _take(found, field, value)
        elif known.misses >= _GONE:
            known.relearn(field)


def _take(found: Found, field: str, value: Any) -> None:
    found.fields[field], found.sources[field] = value, "template"
    found.offered.get("text", {}).pop(field, None)  # it was read in the wrong place
    regular = found.fields.get("regular_price")
    if field == "price" and regular is not None and regular <= value:
        found.fields.pop("regular_price")
        found.sources.pop("regular_price", None)

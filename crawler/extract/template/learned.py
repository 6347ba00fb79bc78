"""What was learned of a site from its pages, put to use on the next one."""

from __future__ import annotations

from typing import Any

from crawler.extract.default_parser import Found
from crawler.extract.template.mending import BELOW
from crawler.extract.template.name_affixes import without_affix
from crawler.extract.template.observation import FIELDS, same
from crawler.extract.template.page_doubts import constant
from crawler.extract.template.profile import Profile
from crawler.extract.template.values_by_place import texts_of, value_at

#: Pages in a row without a value in its new place, before the parser is asked again.
_GONE = 6


def mend(found: Found, profile: Profile) -> None:
    """Apply what the site's pages taught: the source that is right, the currency of bare prices."""
    fields, sources = found.fields, found.sources
    _read_places(found, profile)
    name = profile.fields["name"]
    if name.preferred:
        _leave_others(found, name.preferred)
    if any(name.affix) and fields.get("name"):
        fields["name"] = without_affix(str(fields["name"]), name.affix)
    for field, known in profile.fields.items():
        source = known.preferred
        told = found.offered.get(source or "", {})
        if source and field in told and field in fields:
            _put(found, field, told[field], source)
    if fields.get("price") is not None and fields.get("currency") is None:
        usual = constant(profile.fields["currency"])
        if usual:
            fields["currency"], sources["currency"] = usual, "template"


def _leave_others(found: Found, preferred: str) -> None:
    """Leave out a source that names another product, on a site where it was found to do so."""
    shown = found.offered.get(preferred, {})
    if not shown.get("name"):
        return
    for source, told in found.offered.items():
        other = told.get("name")
        if other and not same("name", other, shown.get("name")):
            for field in FIELDS:
                if field in shown and found.sources.get(field) == source:
                    _put(found, field, shown[field], preferred)


def _put(found: Found, field: str, value: Any, source: str) -> None:
    """Take a value; a product's key that was its number stays its number."""
    fields, sources = found.fields, found.sources
    if field == "sku" and fields.get("external_id") == fields.get("sku") is not None:
        fields["external_id"], sources["external_id"] = value, source
    fields[field], sources[field] = value, source


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
    _put(found, field, value, "template")
    found.offered.get("text", {}).pop(field, None)  # it was read in the wrong place
    regular = found.fields.get("regular_price")
    if field == "price" and regular is not None and regular <= value:
        found.fields.pop("regular_price")
        found.sources.pop("regular_price", None)

"""Apply to a page what was learned from its site's other pages."""

from __future__ import annotations

from typing import Any

from crawler.extract.default_parser import Found
from crawler.extract.merge import STRUCTURED
from crawler.extract.price.words_beside import says_from
from crawler.extract.shown_price import shows_price
from crawler.extract.template.name_affixes import without_affix
from crawler.extract.template.observation import FIELDS, is_same_value
from crawler.extract.template.page_doubts import constant_value
from crawler.extract.template.place_search import BELOW
from crawler.extract.template.product_names import is_heading
from crawler.extract.template.profile import KNOWN, RULE_SHARE, Profile
from crawler.extract.template.values_by_place import heading_at, texts_of, value_at

#: Consecutive pages without a value in the learned place, before the parser's value is used again.
_MAX_MISSES = 6


#: The mark of a name's place beside another one that repeats a few makers, artists or families, and
#: the characters between the two in a title.
BESIDE, _MAX_JOINT = "beside a repeated name: ", 3
#: The share of pages whose visible price is the data's, so that it is the same kind of price.
_MIN_SHARE = 0.7
#: The highest ratio of a stale price and the current one.
_MAX_RATIO = 2


def mend(result: Found, profile: Profile) -> bool:
    """Correct a page's fields by its site's profile: places, preferred sources, usual currency.

    Return whether the structured data had a stale price.
    """
    fields, sources = result.fields, result.sources
    if result.words_before and sources.get("price") != "text":
        _forget_lowest(result)
    _read_places(result, profile)
    name = profile.fields["name"]
    if name.preferred:
        _prefer_source(result, name.preferred)
    if any(name.affix) and fields.get("name"):
        fields["name"] = without_affix(str(fields["name"]), name.affix)
    for field, stats in profile.fields.items():
        source = stats.preferred
        offered_values = result.offered.get(source or "", {})
        if source and field in offered_values and field in fields:
            _set_field(result, field, offered_values[field], source)
    if fields.get("price") is not None and fields.get("currency") is None:
        usual = constant_value(profile.fields["currency"])
        if usual:
            fields["currency"], sources["currency"] = usual, "template"
    is_stale = _has_stale_price(result, profile)
    if is_stale:
        _take_shown_price(result)
    return is_stale


def _has_stale_price(result: Found, profile: Profile) -> bool:
    """Whether the usual place of the price shows another one than the data, and nothing theirs.

    The two agree on most pages; where they agree on nearly all, a difference is a doubt.
    """
    stated, shown = result.fields.get("price"), result.offered.get("text", {}).get("price")
    if not shown or not stated or shown == stated or result.sources["price"] not in STRUCTURED:
        return False
    stats = profile.fields["price"]
    if stats.offered["text"] < KNOWN or not (
        _MIN_SHARE <= stats.share(stats.agreed, "text") < RULE_SHARE
    ):
        return False
    is_usual_place = result.paths.get("price") == stats.usual(stats.paths)[0]
    is_near = shown < _MAX_RATIO * stated and stated < _MAX_RATIO * shown
    if not is_usual_place or not is_near or says_from(result.words_before):
        return False
    return not shows_price(stated, result.page.raw)


def _take_shown_price(result: Found) -> None:
    """Take the visible price, and the one before its reduction, instead of the data's."""
    shown = result.offered["text"]
    _set_field(result, "price", shown["price"], "text")
    regular = shown.get("regular_price")
    if regular is not None and regular > shown["price"]:
        _set_field(result, "regular_price", regular, "text")


def _forget_lowest(result: Found) -> None:
    """Forget a visible price that differs if "from" precedes it: it is the cheapest variant's."""
    shown = result.offered.get("text", {})
    if shown.get("price") != result.fields.get("price") and says_from(result.words_before):
        shown.pop("price", None)


def _prefer_source(result: Found, preferred: str) -> None:
    """Use the preferred source's fields instead of those of a source that names another product."""
    preferred_values = result.offered.get(preferred, {})
    if not preferred_values.get("name"):
        return
    for source, offered_values in result.offered.items():
        name = offered_values.get("name")
        if name and not is_same_value("name", name, preferred_values.get("name")):
            for field in FIELDS:
                if field in preferred_values and result.sources.get(field) == source:
                    _set_field(result, field, preferred_values[field], preferred)


def _set_field(result: Found, field: str, value: Any, source: str) -> None:
    """Set a field; a product key that equals the SKU changes with it."""
    fields, sources = result.fields, result.sources
    if field == "sku" and fields.get("external_id") == fields.get("sku") is not None:
        fields["external_id"], sources["external_id"] = value, source
    fields[field], sources[field] = value, source


def _read_places(result: Found, profile: Profile) -> None:
    """Read fields from the places to which the template has moved them."""
    texts = None
    for field, stats in profile.fields.items():
        if not stats.places:
            continue
        value: Any = None
        for place in stats.places:
            own_place = place.removeprefix(BESIDE)
            if own_place != place and is_heading(own_place):
                value = value or _joined_name(own_place, result)
                continue
            texts = texts_of(result.page) if texts is None else texts
            below = result.struck_below if place == BELOW else None
            value = value or below or value_at(field, own_place, texts)
        is_missing = value is None and result.fields.get(field) is None
        stats.misses = stats.misses + 1 if is_missing else 0
        if value is not None and not _is_labelled(field, value, result):
            _set_placed_value(result, field, value)
        elif stats.misses >= _MAX_MISSES:
            stats.relearn(field)


def _joined_name(place: str, result: Found) -> str | None:
    """Return the heading at a place, joined to the repeated name as in the page's title.

    A brand is not joined, because it has a field of its own.
    """
    name, title = heading_at(place, result.page), result.page.title
    front, folded = str(result.fields.get("name") or ""), title.casefold()
    if front.casefold() == str(result.fields.get("brand") or "").casefold():
        return name
    start = folded.find(front.casefold()) if front and len(folded) == len(title) else -1
    if name is None or start < 0 or name.casefold().startswith(front.casefold()):
        return name
    end = folded.find(name.casefold(), start + len(front))
    is_joined = 0 < end <= start + len(front) + _MAX_JOINT
    return title[start : end + len(name)] if is_joined else name


def _is_labelled(field: str, value: Any, result: Found) -> bool:
    """Whether a place has a label before the number that the parser found: `SKU: A12-1001`.

    Pages of the template of before are read among the others while a shop changes.
    """
    number = result.fields.get("sku")
    return field == "sku" and bool(number) and str(value).endswith(f" {number}")


def _set_placed_value(result: Found, field: str, value: Any) -> None:
    _set_field(result, field, value, "template")
    result.offered.get("text", {}).pop(field, None)  # it was read in the wrong place
    regular = result.fields.get("regular_price")
    if field == "price" and regular is not None and regular <= value:
        result.fields.pop("regular_price")
        result.sources.pop("regular_price", None)

"""Structured data of another product, or with one number for all of them, as broken caches give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crawler.extract.default_parser import Found
from crawler.extract.fields import Fields
from crawler.extract.merge import STRUCTURED, weigh_shown
from crawler.extract.template.observation import HEADING, is_same_value, observe
from crawler.extract.template.profile import KNOWN, RULE_SHARE, Field, Profile
from crawler.extract.visible.product_shown import visible

#: Earlier pages with another labelled number beside the same number in the data.
_MIN_PAGES_WITH_NUMBER = 2
#: Such numbers that are kept for a make.
_MAX_SHARED_NUMBERS = 100
#: Fields by which a source is known to repeat another one.
_REPEATED = ("name", "price")


def foreign_source(votes: Mapping[str, Any], title: str) -> str | None:
    """Return the structured data whose name differs from two others, which are the same.

    *votes* are each source's name. A title that has the data's name as well, for instance as the
    shop's, supports neither name.
    """
    heading = votes.get(HEADING)
    if heading and len(votes) == 2 and str(heading) in title:
        votes = {**votes, "title": heading}
    for source in votes.keys() & set(STRUCTURED):
        others = [value for other, value in votes.items() if other != source]
        differs = not any(is_same_value("name", votes[source], value) for value in others)
        if differs and str(votes[source]) not in title and len(others) > 1 and _are_same(others):
            return source
    return None


def leave_out_foreign(result: Found, profile: Profile, *, again: bool) -> str | None:
    """Read a page without data that have another product's name and number; return their name.

    The heading, the title and the labelled number are the product's, if they agreed with the data,
    or gave the values alone, on the make's other pages. If the make had such data before (*again*),
    the number decides, because one product's name may begin as another's; only the name of the
    heading itself is the product's.
    """
    number = result.offered.get("text", {}).get("sku")
    source = next((s for s in STRUCTURED if _has_other_number(result, s, number)), None)
    if source is None or not profile.known:
        return None
    if _is_named(result, source) if again else not _is_foreign(result, source, profile):
        return None
    foreign_name = str(result.offered[source].get("name"))
    _read_without(result, source)
    return foreign_name


def _is_named(result: Found, source: str) -> bool:
    """Whether the heading has the data's name, so that the shop labels another kind of number."""
    names = observe(result)["name"].votes
    return bool(names.get(source)) and names[source] == names.get(HEADING)


def _is_foreign(result: Found, source: str, profile: Profile) -> bool:
    """Whether data have another product's name, in a shop whose data have the labelled numbers."""
    stats = profile.fields["sku"]
    if stats.offered[source] >= KNOWN and 2 * stats.agreed[source] < stats.offered[source]:
        return False  # the shop labels another number than that of its data
    names = observe(result)["name"].votes
    stated = names.get(source)
    # Meta elements are often written from the same data, so that they confirm nothing.
    votes = {
        each: value
        for each, value in names.items()
        if each in {source, HEADING} or not is_same_value("name", value, stated)
    }
    is_other_name = foreign_source(votes, result.page.title) == source
    return is_other_name and _has_usual_heading(profile)


def _read_without(result: Found, source: str) -> None:
    """Read a page as if it lacked a source, and those that repeat its name or price."""
    page, offered = result.page, result.offered
    left_out = offered.pop(source)
    for other in [each for each in offered if each != "text" and _repeats(offered[each], left_out)]:
        offered[other] = {}
    shown = visible(page, {})
    offered["text"], result.paths, result.words_before = (
        shown.fields,
        shown.paths,
        shown.words_before,
    )
    result.struck_below, result.price_rival = shown.struck_below, shown.price_rival
    weigh_shown(offered, shown, page, {})
    result.outweighs_data = False  # the data with the stale price are left out
    result.merge()


def _repeats(values: Fields, other_values: Fields) -> bool:
    return any(values.get(f) is not None and values[f] == other_values.get(f) for f in _REPEATED)


def take_labelled_number(result: Found, profile: Profile, shared_numbers: set[str]) -> None:
    """Take the labelled number as the product's key, if the data have one number for all products.

    *shared_numbers*: such numbers that were found so far.
    """
    fields, sources = result.fields, result.sources
    number, key, source = fields.get("sku"), fields.get("external_id"), sources.get("external_id")
    if sources.get("sku") != "text" or number == key or source not in STRUCTURED:
        return
    if str(key) in shared_numbers or _has_one_number(profile.fields["sku"], source, key, number):
        if len(shared_numbers) < _MAX_SHARED_NUMBERS:
            shared_numbers.add(str(key))
        fields["external_id"], sources["external_id"] = number, "text"


def _has_one_number(stats: Field, source: str, key: Any, number: Any) -> bool:
    """Whether earlier pages with other labelled numbers had this key in their data as well."""
    pages = {each.value for _, each in stats.recent if each.votes.get(source) == key}
    return len(pages - {key, number}) >= _MIN_PAGES_WITH_NUMBER


def _has_other_number(result: Found, source: str, number: Any) -> bool:
    stated = result.offered.get(source, {}).get("sku")
    return bool(stated and number) and not is_same_value("sku", stated, number)


def _has_usual_heading(profile: Profile) -> bool:
    """Whether the heading is the product's name on the make's pages."""
    stats = profile.fields["name"]
    return stats.offered[HEADING] >= KNOWN and stats.share(stats.agreed, HEADING) >= RULE_SHARE


def _are_same(names: list[Any]) -> bool:
    return all(is_same_value("name", names[0], name) for name in names)

"""What contradicts a value: pure rules over a page and its make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from crawler.extract.stock.shown import NOT_TO_BE_HAD
from crawler.extract.template.confidence import TRUST, confidence
from crawler.extract.template.observation import Seen, form
from crawler.extract.template.profile import KNOWN, Field, Profile
from scrapy_seine.records import Value

#: Prices before it is told that they are odd.
_TOLD = 20
#: Pages on which a text stood in few places, before another place is a doubt.
_PLACED, _PLACES = 12, 3
#: What was so on this share of the pages is a rule of the template.
_RULE, _ALWAYS = 0.95, 0.97
#: Pages, all alike, before another source or another currency is a doubt: by the rule of three (95 %
#: confidence that fewer than 3 of n differ), 60 pages bound the exceptions at 5 %. A shop whose first
#: ten products have structured data may still show its others by visible text alone.
_MANY = 60


@attrs.frozen(eq=False, repr=False)
class Doubt(Value):
    """Why a value is not believed."""

    kind: str
    """missing, place, dispute, source, constant, order, make, repeated, turned or changed."""
    reason: str
    """What contradicts it, in words."""


@attrs.frozen(eq=False, repr=False)
class Judgement(Value):
    """A page held against its site's template."""

    confidence: Mapping[str, float]
    """By field with a value: how likely it is right."""
    doubts: Mapping[str, Doubt]
    cluster: str
    """The page's make."""
    pages: int
    """Pages of that make that were known before."""
    version: int


def weigh(
    field: str, seen: Mapping[str, Seen], profile: Profile, *, reduced: bool = False
) -> tuple[float, Doubt | None]:
    """How likely a value is right, and what a known make of pages has against it.

    Most pages of a make tell a field in one of a few forms: what was weighed once for a form, and was
    not doubtful, holds for it until more is learned.
    """
    one, known = seen[field], profile.fields[field]
    if one.value is None:
        return 0.0, doubt_of(field, seen, profile)
    is_usual = field == "price" and known.is_usual(one.value)
    told_so = form(field, one, reduced=reduced, is_usual=is_usual)
    likely = known.calm.get(told_so)
    if likely is not None:
        return likely, None
    likely = confidence(field, one, known)
    doubt = doubt_of(field, seen, profile, reduced=reduced)
    if doubt is None:
        known.calm[told_so] = likely
    return likely, doubt


def doubt_of(
    field: str, seen: Mapping[str, Seen], profile: Profile, *, reduced: bool = False
) -> Doubt | None:
    """What a known make of pages has against a field of one page; None: nothing.

    *reduced* says that the page shows a price before a reduction.
    """
    one, known = seen[field], profile.fields[field]
    if known.pages < KNOWN:
        return None
    if one.value is None:
        return _missing(field, seen, known)
    votes, source = one.votes, one.source
    return (
        (_disputed(field, one, known) if len(votes) > 1 or source not in votes else None)
        or (_elsewhere(field, one, known) if source == "text" and not reduced else None)
        or (_from_elsewhere(field, one, known) if source not in known.sources else None)
        or (_unusual(field, one, known) if field == "currency" else None)
    )


def _missing(field: str, seen: Mapping[str, Seen], known: Field) -> Doubt | None:
    if known.filled < _ALWAYS * known.pages:
        return None
    if goes_with_the_goods(field, seen):
        return None
    if field == "currency" and seen["price"].value is None:
        return None
    return Doubt("missing", f"{known.filled} of {known.pages} pages had it, this one has none")


def goes_with_the_goods(field: str, seen: Mapping[str, Seen]) -> bool:
    """Whether a field may be away because shops take prices away with the goods."""
    return field in {"price", "currency"} and seen["availability"].value in NOT_TO_BE_HAD


def _disputed(field: str, one: Seen, known: Field) -> Doubt | None:
    for source, value in one.votes.items():
        offered = known.offered.get(source, 0)
        if offered < KNOWN or source == one.source or one.agrees(field, source):
            continue
        if known.share(known.agreed, source) >= _RULE:
            agreed = known.agreed[source]
            return Doubt(
                "dispute",
                f"{source} says {str(value)[:60]!r}, and agreed on {agreed} of {offered} pages",
            )
    return None


def _elsewhere(field: str, one: Seen, known: Field) -> Doubt | None:
    """Whether a text stands in another place; a price before a reduction brings boxes of its own."""
    if one.path is None or one.path in known.paths or len(known.paths) > _PLACES:
        return None
    if known.paths.total() < _PLACED or is_confirmed(field, one):
        return None
    usual, share = known.usual(known.paths)
    return Doubt("place", f"it stands in {one.path[:80]}, on {share:.0%} of pages in {usual[:80]}")


def _from_elsewhere(field: str, one: Seen, known: Field) -> Doubt | None:
    if known.preferred or known.pages < _MANY or one.source is None:
        return None
    usual, share = known.usual(known.sources)
    # A page that tells more than others is no worse for that.
    if share < _RULE or TRUST.get(one.source, 0.5) >= TRUST.get(usual, 0.5):
        return None
    if is_confirmed(field, one):
        return None
    return Doubt("source", f"{usual} had it on {share:.0%} of pages, here only {one.source} has it")


def _unusual(field: str, one: Seen, known: Field) -> Doubt | None:
    if known.pages < _MANY or known.value_share(one.value) >= _RULE:
        return None  # it is the usual one itself
    usual = constant(known)
    if usual is None or str(one.value) == usual or is_confirmed(field, one):
        return None
    return Doubt("constant", f"it is {usual} on {known.value_share(usual):.0%} of pages")


def is_confirmed(field: str, one: Seen) -> bool:
    """Whether another source tells the same."""
    return any(s != one.source and one.agrees(field, s) for s in one.votes)


def newcomer(field: str, one: Seen, known: Field) -> Doubt | None:
    """What speaks against a value whose place is new, on a site that is known.

    It is a doubt only where the product had another value before: a site may have many makes.
    """
    if not known.probation or one.value is None or one.source != "text":
        return None
    if is_confirmed(field, one):
        return None
    return Doubt("make", f"its place is new on this site, and nothing else confirms the {field}")


def oddity(field: str, known: Field) -> tuple[str, str] | None:
    """What is odd of all prices or currencies of a make: kind and words; None: nothing.

    It is told once, and is no doubt about each price: some shops sell all for one price, and of two
    sources that never agree either may be right.
    """
    if known.filled < _TOLD:
        return None
    if field == "price" and max(known.values.values(), default=0) / known.filled >= _ALWAYS:
        value, _ = known.usual(known.values)
        return "constant", f"{known.filled} products have one price, {value}"
    if known.offered.get("text", 0) < _TOLD:
        return None
    share = known.share(known.agreed, "text")
    if share <= 1 - _RULE and (source := known.usual(known.sources)[0]) != "text":
        return "disagree", f"{source} and the page's text agree on {share:.0%} of pages"
    return None


def swapped(field: str, seen: Mapping[str, Seen], below: Any) -> Doubt | None:
    """What speaks against a price beside a lower one that is marked as the price before."""
    one = seen[field]
    if field != "price" or not below or one.source != "text" or is_confirmed(field, one):
        return None
    return Doubt("order", f"the price before a reduction, {below}, is lower than {one.value}")


def constant(known: Field) -> Any:
    """The value that stands on nearly all pages; None where it varies."""
    usual = known.usual(known.values)[0]
    return usual if known.filled >= KNOWN and known.value_share(usual) >= _RULE else None

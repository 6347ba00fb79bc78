"""The confidence of a value, and what contradicts it: pure rules over a page and its make."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import exp, log
from typing import Any

import attrs

from crawler.extract.money.currencies import is_local
from crawler.extract.template.observation import FIELDS, Seen, same
from crawler.extract.template.profile import KNOWN, Field, Profile
from scrapy_seine.records import Value

#: How often a source is right where nothing is known of the site (prices of saved pages: JSON-LD
#: 62 of 65, microdata 34 of 36, visible text 10 of 20).
_TRUST = {
    "site": 0.99, "json-ld": 0.95, "microdata": 0.94, "rdfa": 0.9, "opengraph": 0.88,
    "state": 0.88, "template": 0.93, "heading": 0.9, "text": 0.6, "url": 0.4,
}  # fmt: skip
#: Fields of which the visible text tells more than of prices. Of 143 saved pages of tests/pages,
#: stripped of structured data, it told names right on 141, currencies on 136 of 137, availability on
#: 130 of 133; on pages that the rules were not written for less, so that these are below.
_SHOWN = {"name": 0.92, "currency": 0.92, "availability": 0.92, "sku": 0.86}
_TRUST_OF = {field: _TRUST | {"text": _SHOWN.get(field, _TRUST["text"])} for field in FIELDS}
#: Pages that the trust without knowledge of the site weighs as much as.
_PRIOR = 4
#: What a further source that agrees is worth of its own weight, because sources copy each other.
_FURTHER = 0.5
_HIGHEST, _LOWEST, _DOUBTFUL = 0.995, 0.02, 0.3
#: A place that is usual.
_IN_PLACE = 1.5
#: Values that differ from product to product as this field's do: what stands in the shop's frame, or
#: in its texts about delivery, does not.
_TYPICAL = 1.2
#: Prices before it is told that they are odd.
_TOLD = 20
#: The share of the most frequent number, and of stock that most products have.
_UNIQUE, _MIXED = 0.1, 0.97
#: Pages on which a text stood in few places, before another place is a doubt.
_PLACED, _PLACES = 12, 3
#: What was so on this share of the pages is a rule of the template.
_RULE, _ALWAYS = 0.95, 0.97
#: Pages, all alike, before another source or another currency is a doubt: by the rule of three (95 %
#: confidence that fewer than 3 of n differ), 60 pages bound the exceptions at 5 %. A shop whose first
#: ten products have structured data may still show its others by visible text alone.
_MANY = 60
_NOT_TO_BE_HAD = frozenset({"Discontinued", "OutOfStock", "SoldOut"})


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
    return field in {"price", "currency"} and seen["availability"].value in _NOT_TO_BE_HAD


def _disputed(field: str, one: Seen, known: Field) -> Doubt | None:
    for source, value in one.votes.items():
        offered = known.offered.get(source, 0)
        if offered < KNOWN or source == one.source or one.agrees(field, source):
            continue
        if known.share(known.agreed, source) >= _RULE:
            agreed = known.agreed[source]
            return Doubt(
                "dispute",
                f"{source} tells {str(value)[:60]!r}, and agreed on {agreed} of {offered} pages",
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
    if share < _RULE or _TRUST.get(one.source, 0.5) >= _TRUST.get(usual, 0.5):
        return None
    if is_confirmed(field, one):
        return None
    return Doubt("source", f"{usual} told it on {share:.0%} of pages, here only {one.source} does")


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
    return Doubt("make", f"its place is new on this site, and nothing else tells the {field}")


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


def confidence(field: str, one: Seen, known: Field, doubt: Doubt | None) -> float:
    """How likely a value is right, from 0 to 1: the votes of all sources, by their record here."""
    value, chosen, votes, place = one
    if value is None:
        return 0.0
    weight = _odds(field, chosen or "", known)
    for source, told in votes.items():
        if source == chosen:
            continue
        vote = _odds(field, source, known)
        if told == value or same(field, told, value):
            weight += _FURTHER * vote
        elif vote > 0:
            weight -= _FURTHER * vote
    if place in known.paths and known.pages >= KNOWN:
        # One price on all pages stands in its place as well: in the shop's frame.
        varied = field != "price" or known.value_share(value) <= 1 / 2
        weight += _IN_PLACE * varied
    if known.filled >= KNOWN and _is_typical(field, one, known):
        weight += _TYPICAL
    made = 1 / (1 + exp(-weight))
    return round(min(max(made, _LOWEST), _HIGHEST if doubt is None else _DOUBTFUL), 3)


def _is_typical(field: str, one: Seen, known: Field) -> bool:
    """Whether the values of a make's pages differ as those of this field do in a shop."""
    if field == "price":
        return False
    times = max(known.values.values(), default=0)
    most = times / known.filled
    if field in {"sku", "name"}:
        return times == 1 or most <= _UNIQUE
    if field == "availability":
        return most <= _MIXED and str(one.value) in known.values
    # A dollar's sign may be another country's: that all pages have it says nothing of whose it is.
    # Other sources tell a currency by its code.
    is_told = one.source != "text" or not is_local(str(one.value))
    return field == "currency" and most >= _MIXED and is_told


def _odds(field: str, source: str, known: Field) -> float:
    trust = _TRUST_OF[field].get(source, 0.5)
    return _log_odds(known.agreed.get(source, 0), known.offered.get(source, 0), trust)


@lru_cache(maxsize=4096)
def _log_odds(agreed: int, offered: int, trust: float) -> float:
    rate = min(max((agreed + _PRIOR * trust) / (offered + _PRIOR), _LOWEST), _HIGHEST)
    return log(rate / (1 - rate))


def constant(known: Field) -> Any:
    """The value that stands on nearly all pages; None where it varies."""
    usual = known.usual(known.values)[0]
    return usual if known.filled >= KNOWN and known.value_share(usual) >= _RULE else None

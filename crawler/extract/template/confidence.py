"""How likely a value is right: the votes of all sources, by their record on the site."""

from __future__ import annotations

from functools import lru_cache
from math import exp, log

from crawler.extract.money.currencies import is_local
from crawler.extract.template.observation import FIELDS, Seen, same
from crawler.extract.template.profile import KNOWN, Field

#: How often a source is right where nothing is known of the site (prices of saved pages: JSON-LD
#: 62 of 65, microdata 34 of 36, visible text 10 of 20).
TRUST = {
    "site": 0.99, "json-ld": 0.95, "microdata": 0.94, "rdfa": 0.9, "opengraph": 0.88,
    "state": 0.88, "template": 0.93, "heading": 0.9, "text": 0.6, "url": 0.4,
}  # fmt: skip
#: Fields of which the visible text tells more than of prices. Of 143 saved pages of tests/pages,
#: stripped of structured data, it told names right on 141, currencies on 136 of 137, availability on
#: 130 of 133; on pages that the rules were not written for less, so that these are below.
_SHOWN = {"name": 0.92, "currency": 0.92, "availability": 0.92, "sku": 0.86}
_TRUST_OF = {field: TRUST | {"text": _SHOWN.get(field, TRUST["text"])} for field in FIELDS}
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
#: The share of the most frequent number, and of stock that most products have.
_UNIQUE, _MIXED = 0.1, 0.97


def confidence(field: str, one: Seen, known: Field) -> float:
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
        varied = field != "price" or not known.is_usual(value)
        weight += _IN_PLACE * varied
    if known.filled >= KNOWN and _is_typical(field, one, known):
        weight += _TYPICAL
    made = 1 / (1 + exp(-weight))
    return round(min(max(made, _LOWEST), _HIGHEST), 3)


def doubted(likely: float) -> float:
    """How likely a value is right that something contradicts."""
    return min(likely, _DOUBTFUL)


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


@lru_cache(maxsize=512)
def _log_odds(agreed: int, offered: int, trust: float) -> float:
    rate = min(max((agreed + _PRIOR * trust) / (offered + _PRIOR), _LOWEST), _HIGHEST)
    return log(rate / (1 - rate))

"""The probability that a value is right: the votes of all sources, by their record on the site."""

from __future__ import annotations

from functools import lru_cache
from math import exp, log

from crawler.extract.money.currencies import is_local
from crawler.extract.template.observation import FIELDS, RIVAL, Observation, is_same_value
from crawler.extract.template.profile import KNOWN, Field

#: How often a source is right on an unknown site (prices of saved pages: JSON-LD 62 of 65, microdata
#: 34 of 36, visible text 10 of 20). A rival takes the price to 0.86: it was right on 294 of 368 pages.
TRUST = {
    "site": 0.99, "json-ld": 0.95, "microdata": 0.94, "rdfa": 0.9, "opengraph": 0.88,
    "state": 0.88, "template": 0.93, "heading": 0.9, "text": 0.6, "url": 0.4, RIVAL: 0.9,
}  # fmt: skip
#: How often the visible text alone is right at the first try: of 790 products of shops that the
#: rules were not written for, without structured data, 767 prices, 768 stock states, 760 numbers,
#: 783 currencies and 788 names. The lower ends of their 95 % intervals (Wilson), rounded down.
_VISIBLE_TEXT_TRUST = {
    "price": 0.95, "availability": 0.95, "sku": 0.95, "currency": 0.98, "name": 0.98,
}  # fmt: skip
#: How often structured data has the stock that the page shows: 311 of 337 pages at the first try,
#: because templates write `InStock` for all products.
_STOCK_TRUST = dict.fromkeys(("json-ld", "microdata", "rdfa"), 0.9)
#: The highest weight, in log odds, of a currency whose sign several countries use: `$`, `kr`.
_LOCAL_SIGN_WEIGHT = log(0.85 / 0.15)
#: The weight of the number of a model or a barcode that stands in for the shop's own, in log odds.
_STAND_IN_WEIGHT = log(TRUST["text"] / (1 - TRUST["text"]))
#: The highest weight of a name that only the page's title has, in log odds: hand-made shops write
#: one title for all products.
_TITLE_WEIGHT = log(0.8 / 0.2)
_TRUST_OF = {field: TRUST | {"text": _VISIBLE_TEXT_TRUST[field]} for field in FIELDS}
_TRUST_OF["availability"] |= _STOCK_TRUST
#: Pages of a site that weigh as much as the trust in a source on unknown sites.
_PRIOR_PAGES = 4
#: The share of its weight that a further source counts, because sources copy each other.
_FURTHER_WEIGHT = 0.5
_MAX_CONFIDENCE, _MIN_CONFIDENCE, _MAX_DOUBTED = 0.995, 0.02, 0.3
#: The highest confidence of a price that only the text has: an instalment may take its place on all
#: pages. A jump is accepted at a higher one only (crawler.stores.doubts_by_history).
_MAX_UNCONFIRMED = 0.96
#: The weight of a value in a usual place, in log odds.
_USUAL_PLACE_WEIGHT = 1.5
#: The weight of an amount that most pages of a make have in one place, in log odds.
_FRAME_WEIGHT = -2.5
#: The weight of a field whose values vary as usual between products, in log odds: texts in the
#: shop's frame or about delivery do not vary.
_TYPICAL_WEIGHT = 1.2
#: The largest share of the most frequent number, and of the most frequent stock state.
_UNIQUE_SHARE, _MIXED_SHARE = 0.1, 0.97


def confidence(field: str, observation: Observation, stats: Field) -> float:
    """Return the probability, 0 to 1, that a value is right: the sources' votes by their record."""
    value, chosen_source, votes, place = observation
    if value is None:
        return 0.0
    weight = _weight_of_source(field, observation, stats)
    for source, vote_value in votes.items():
        if source == chosen_source:
            continue
        vote = _odds(field, source, stats)
        if vote_value == value or is_same_value(field, vote_value, value):
            weight += _FURTHER_WEIGHT * vote
        elif vote > 0:
            weight -= _FURTHER_WEIGHT * vote
    if place in stats.paths and stats.pages >= KNOWN:
        # A price in the shop's frame, the same on all pages, stands in its usual place as well.
        is_frame = field == "price" and stats.is_usual(value)
        weight += _FRAME_WEIGHT if is_frame else _USUAL_PLACE_WEIGHT
    if stats.filled >= KNOWN and _is_typical(field, observation, stats):
        weight += _TYPICAL_WEIGHT
    probability = 1 / (1 + exp(-weight))
    highest = _MAX_CONFIDENCE
    if field == "price" and votes.keys() <= {"text", RIVAL}:
        highest = _MAX_UNCONFIRMED
    return round(min(max(probability, _MIN_CONFIDENCE), highest), 3)


def _weight_of_source(field: str, observation: Observation, stats: Field) -> float:
    """Return the log odds of the chosen source; fewer of a local sign, and of a stand-in."""
    value, chosen_source, votes, _ = observation
    weight = _odds(field, chosen_source or "", stats)
    # The system's number stands in where the page lacks the label, or the data, of most pages.
    stated = stats.filled - stats.sources["state"] - stats.sources["url"]
    is_number = chosen_source == "state" and stated > 2 * stats.sources["state"]
    if field == "sku" and (is_number or chosen_source not in {*votes, "state"}):
        return min(weight, _STAND_IN_WEIGHT)
    if field == "name" and chosen_source == "text" and not votes:
        return min(weight, _TITLE_WEIGHT)
    if field == "currency" and chosen_source == "text" and is_local(str(value)):
        return min(weight, _LOCAL_SIGN_WEIGHT)
    return weight


def doubted(likely: float) -> float:
    """Return the probability that a doubtful value is right."""
    return min(likely, _MAX_DOUBTED)


def _is_typical(field: str, observation: Observation, stats: Field) -> bool:
    """Whether the values of a make's pages vary as this field's values vary in a shop."""
    if field == "price":
        return False
    times = max(stats.values.values(), default=0)
    top_share = times / stats.filled
    if field in {"sku", "name"}:
        return times == 1 or top_share <= _UNIQUE_SHARE
    if field == "availability":
        return top_share <= _MIXED_SHARE and str(observation.value) in stats.values
    # A local sign such as `$` is ambiguous even if all pages have it. Other sources than the text
    # give a currency's code.
    is_unambiguous = observation.source != "text" or not is_local(str(observation.value))
    return field == "currency" and top_share >= _MIXED_SHARE and is_unambiguous


def _odds(field: str, source: str, stats: Field) -> float:
    trust = _TRUST_OF[field].get(source, 0.5)
    return _log_odds(stats.agreed.get(source, 0), stats.offered.get(source, 0), trust)


@lru_cache(maxsize=512)
def _log_odds(agreed: int, offered: int, trust: float) -> float:
    rate = min(
        max((agreed + _PRIOR_PAGES * trust) / (offered + _PRIOR_PAGES), _MIN_CONFIDENCE),
        _MAX_CONFIDENCE,
    )
    return log(rate / (1 - rate))

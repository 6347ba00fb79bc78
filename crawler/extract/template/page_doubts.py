"""Doubts: pure rules that find contradictions between a page's values and its make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.money.currencies import share_a_sign
from crawler.extract.page.page import Page
from crawler.extract.price.auctions import names_bid
from crawler.extract.price.line_amounts import says_now
from crawler.extract.price.words_beside import CALLS_PRICE
from crawler.extract.stock.availability import UNAVAILABLE
from crawler.extract.template.confidence import TRUST, confidence
from crawler.extract.template.foreign_data import foreign_source
from crawler.extract.template.observation import (
    BY_WORDS,
    Observation,
    form_of,
)
from crawler.extract.template.profile import KNOWN, RULE_SHARE, WINDOW, Field, Profile
from crawler.extract.template.values_by_place import texts_of
from scrapy_seine.attrs_bases import Value

#: Products before an oddity of all prices or currencies is reported.
_MIN_ODD_PAGES = 20
#: Pages with a text, and the places that they may have at most, before another place is a doubt.
_MIN_PLACED, _MAX_PLACES = 12, 3
#: The share of pages from which on all have one price.
_ALWAYS_SHARE = 0.97
#: Pages without an exception before another source or another currency is a doubt: by the rule of
#: three (95 % confidence that fewer than 3 of n differ), 60 pages bound the exceptions at 5 %. Ten
#: would be too few: a shop's first products may have structured data, and its others text alone.
_MIN_PAGES = 60


#: Words before a price that are compared, and their characters.
_MAX_WORDS, _MAX_WORDS_LENGTH = 2, 40
_LETTERS = lazy_patterns.pattern(r"[^\W\d_]+")
#: The kind of a doubt about the values of a source that names another product.
FOREIGN = "foreign"


@attrs.frozen(eq=False, repr=False)
class Doubt(Value):
    """Why a value is not believed."""

    kind: str
    """missing, place, dispute, source, constant, order, foreign, make, repeated, turned or changed."""
    reason: str
    """The contradiction as text."""


@attrs.frozen(eq=False, repr=False)
class Judgement(Value):
    """The result of comparing a page with its site's template."""

    confidence: Mapping[str, float]
    """The probability that a value is right, by field with a value."""
    doubts: Mapping[str, Doubt]
    cluster: str
    """The page's make."""
    pages: int
    """Pages of the make that were learned before this one."""
    version: int


def weigh(
    field: str, observations: Mapping[str, Observation], profile: Profile, *, reduced: bool = False
) -> tuple[float, Doubt | None]:
    """Return the confidence of a value and the doubt about it, if any.

    Results without a doubt are cached by the observation's form, because most pages of a make have
    one of a few forms; the cache is cleared when more is learned.
    """
    observation, stats = observations[field], profile.fields[field]
    if observation.value is None:
        return 0.0, doubt_of(field, observations, profile)
    is_usual = field == "price" and stats.is_usual(observation.value)
    form = form_of(field, observation, reduced=reduced, is_usual=is_usual)
    probability = stats.calm.get(form)
    if probability is not None:
        return probability, None
    probability = confidence(field, observation, stats)
    doubt = doubt_of(field, observations, profile, reduced=reduced)
    if doubt is None:
        stats.calm[form] = probability
    return probability, doubt


def doubt_of(
    field: str, observations: Mapping[str, Observation], profile: Profile, *, reduced: bool = False
) -> Doubt | None:
    """Return the doubt about a field of one page by its make's other pages; None without a doubt.

    *reduced*: the page shows a regular price beside the reduced one.
    """
    observation, stats = observations[field], profile.fields[field]
    if observation.value is None:
        return _missing_doubt(field, observations, stats)
    if stats.pages < KNOWN:
        return None
    votes, source = observation.votes, observation.source
    return (
        (_dispute(field, observation, stats) if len(votes) > 1 or source not in votes else None)
        or (_place_doubt(field, observation, stats) if source == "text" and not reduced else None)
        or (_source_doubt(field, observation, stats) if source not in stats.sources else None)
        or (_unusual_value(field, observation, stats) if field == "currency" else None)
    )


def _missing_doubt(
    field: str, observations: Mapping[str, Observation], stats: Field
) -> Doubt | None:
    if not stats.is_always_filled():
        return None
    if disappears_with_stock(field, observations):
        return None
    if field == "currency" and observations["price"].value is None:
        return None
    counted = f"{stats.filled} of {stats.pages}" if stats.pages >= KNOWN else "nearly all"
    return Doubt("missing", f"{counted} pages had it, this one has none")


def disappears_with_stock(field: str, observations: Mapping[str, Observation]) -> bool:
    """Whether a field may be missing because shops remove the price of unavailable products."""
    return field in {"price", "currency"} and observations["availability"].value in UNAVAILABLE


def _dispute(field: str, observation: Observation, stats: Field) -> Doubt | None:
    for source, value in observation.votes.items():
        offered = stats.offered.get(source, 0)
        if source == observation.source or observation.agrees(field, source):
            continue
        if offered >= KNOWN and stats.share(stats.agreed, source) >= RULE_SHARE:
            agreed = stats.agreed[source]
            return Doubt(
                "dispute",
                f"{source} says {str(value)[:60]!r}, and agreed on {agreed} of {offered} pages",
            )
        if is_ousted(source, observation.source, stats):
            pages = stats.sources[source]
            return Doubt(
                "dispute", f"{source} says {str(value)[:60]!r}, and alone had it on {pages}"
            )
    return None


def is_ousted(source: str, chosen_source: str | None, stats: Field) -> bool:
    """Whether a source that alone gave a field has to give way to one that is new on the site.

    No other source has confirmed it so far. Data that a shop adds to its pages may be wrong.
    """
    pages = stats.sources.get(source, 0)
    was_alone = pages >= KNOWN > stats.offered.get(source, 0)
    return was_alone and pages > 2 * stats.sources.get(chosen_source or "", 0)


def _place_doubt(field: str, observation: Observation, stats: Field) -> Doubt | None:
    """Return a doubt if a text stands in an unusual place; words for the stock may stand anywhere."""
    if (
        observation.path in {None, BY_WORDS}
        or observation.path in stats.paths
        or len(stats.paths) > _MAX_PLACES
    ):
        return None
    if stats.paths.total() < _MIN_PLACED or is_confirmed(field, observation):
        return None
    usual, share = stats.usual(stats.paths)
    return Doubt(
        "place", f"it stands in {observation.path[:80]}, on {share:.0%} of pages in {usual[:80]}"
    )


def _source_doubt(field: str, observation: Observation, stats: Field) -> Doubt | None:
    if stats.preferred or stats.pages < _MIN_PAGES or observation.source is None:
        return None
    usual, share = stats.usual(stats.sources)
    # A more reliable source than the usual one is no reason for a doubt.
    if share < RULE_SHARE or TRUST.get(observation.source, 0.5) >= TRUST.get(usual, 0.5):
        return None
    if is_confirmed(field, observation):
        return None
    return Doubt(
        "source", f"{usual} had it on {share:.0%} of pages, here only {observation.source} has it"
    )


def _unusual_value(field: str, observation: Observation, stats: Field) -> Doubt | None:
    if stats.pages < _MIN_PAGES or stats.value_share(observation.value) >= RULE_SHARE:
        return None  # it is the usual value itself
    usual = constant_value(stats)
    if usual is None or str(observation.value) == usual or is_confirmed(field, observation):
        return None
    return Doubt("constant", f"it is {usual} on {stats.value_share(usual):.0%} of pages")


def foreign_doubts(
    observations: Mapping[str, Observation], profile: Profile, title: str = ""
) -> Iterator[tuple[str, Doubt]]:
    """Yield the doubts about values whose source alone names another product than the page does.

    The page is its heading and another source, or its heading and its *title*.
    """
    source = foreign_source(observations["name"].votes, title)
    if source is None:
        return
    profile.has_foreign = True
    reason = f"{source} names another product, {str(observations['name'].votes[source])[:60]!r}"
    for field in ("price", "availability", "sku"):
        observation = observations[field]
        if observation.source == source and not is_confirmed(field, observation):
            yield field, Doubt(FOREIGN, reason)


def is_confirmed(field: str, observation: Observation) -> bool:
    """Whether another source gives the same value."""
    return any(s != observation.source and observation.agrees(field, s) for s in observation.votes)


def new_place_doubt(field: str, observation: Observation, stats: Field) -> Doubt | None:
    """Return a doubt about an unconfirmed value of a new make on a known site.

    The storage applies it only if the product had another value, because a site may have many makes.
    Where a field moved, a value from elsewhere is one of a new make too.
    """
    if not stats.probation or observation.value is None:
        return None
    if observation.source != "text" and (not stats.places or observation.source == "template"):
        return None
    if is_confirmed(field, observation):
        return None
    return Doubt("make", f"its place is new on this site, and nothing else confirms the {field}")


def oddity(field: str, stats: Field) -> tuple[str, str] | None:
    """Return the kind and text of an oddity of a make's prices or currencies; None without one.

    It is reported once and makes no price doubtful: some shops have one price for all products, and
    either of two sources that never agree may be right. A sign that stands for the other source's
    currency as well (`$`) does not contradict it.
    """
    if stats.filled < _MIN_ODD_PAGES:
        return None
    if field == "price" and max(stats.values.values(), default=0) / stats.filled >= _ALWAYS_SHARE:
        value, _ = stats.usual(stats.values)
        return "constant", f"{stats.filled} products have one price, {value}"
    if stats.offered.get("text", 0) < _MIN_ODD_PAGES:
        return None
    if field == "currency" and stats.recent and _share_a_sign(stats.recent[-1][1]):
        return None
    share = stats.share(stats.agreed, "text")
    if share <= 1 - RULE_SHARE and (source := stats.usual(stats.sources)[0]) != "text":
        return "disagree", f"{source} and the page's text agree on {share:.0%} of pages"
    return None


def _share_a_sign(currency: Observation) -> bool:
    """Whether the page's text has a sign of the chosen currency, or no currency at all."""
    shown = currency.votes.get("text")
    return shown is None or (shown != currency.value and share_a_sign(shown, currency.value))


def doubt_of_amounts(
    price: Observation,
    profile: Profile,
    below: Decimal | None = None,
    unmarked: str | None = None,
    missing: bool = False,
) -> Doubt | None:
    """Return a doubt about a visible price by the amounts beside it, or by the pages without one.

    *below* is an amount that is marked as regular price, but is lower. *unmarked* is the place of a
    regular price that nothing marks. *missing*: many pages had no price any more.
    """
    if price.source != "text":
        return None
    if below and not is_confirmed("price", price):
        return Doubt("order", f"the price before a reduction, {below}, is lower than {price.value}")
    if unmarked and not is_confirmed("price", price):
        return _unmarked_reduction(unmarked, profile)
    return _remaining_price(profile.fields["price"]) if missing else None


@lru_cache(maxsize=512)
def price_words(text: str) -> str:
    """Return the last words before a price, or those of the unit behind it, without figures.

    >>> price_words("Set of 4: Price from "), price_words(" / 100 ml"), price_words("")
    ('price from', 'ml', '')
    """
    return " ".join(_LETTERS.findall(text.casefold())[-_MAX_WORDS:])[:_MAX_WORDS_LENGTH]


@lru_cache(maxsize=512)
def _calls_price(text: str) -> bool:
    """Whether words call an amount the price, or the price of a sale, and no bid."""
    return (says_now(text) or CALLS_PRICE(text) is not None) and not names_bid(text)


def doubt_of_words(price: Observation, words_before: str, profile: Profile) -> Doubt | None:
    """Return a doubt about a price behind words that no price of the make had before it so far.

    It is the cheapest variant's ("from"), the one before ("was"), a bid or an instalment where it was
    the product's. The storage applies the doubt only if the product had another price.
    """
    known, words = profile.words, price_words(words_before)
    if words in known or price.source != "text" or is_confirmed("price", price):
        return None
    if known.total() < _MIN_PAGES or len(known) > _MAX_PLACES or _calls_price(words_before):
        return None
    return Doubt("make", f"{words!r} stands beside it, as on no page before")


def doubt_of_reduced(
    page: Page, price: Observation, regular: Decimal, profile: Profile
) -> Doubt | None:
    """Return a doubt about a reduced price in a new place, if a known place has a third amount.

    The new amount is the price for members, or with a code. A sale may have its prices in a place of
    its own, but leaves no other amount in those of before.
    """
    stats = profile.fields["price"]
    doubt = _place_doubt("price", price, stats) if price.source == "text" else None
    if doubt is None:
        return None
    amounts = {
        amount
        for text in texts_of(page)
        if text.path in stats.paths and not (text.struck or text.bare)
        for amount in text.amounts
    }
    return doubt if amounts - {price.value, regular} else None


def _unmarked_reduction(place: str, profile: Profile) -> Doubt | None:
    """Return a doubt about a reduced price if the make marks regular prices or has them elsewhere.

    The two amounts are no price and regular price then, but a price for members, of one piece,
    without tax, or of another product, and the price.
    """
    if not profile.is_unusual_reduction(place):
        return None
    return Doubt(
        "order",
        f"nothing marks the higher amount in {place[:80]} as the price before,"
        f" {profile.reductions.total()} pages marked it or had it elsewhere",
    )


def _remaining_price(stats: Field) -> Doubt | None:
    """Return a doubt about a price if most of the newest pages have none any more.

    What the parser finds then on some of them is a price before a reduction, or another product's.
    """
    missing = stats.newest("missing")
    if 2 * missing < WINDOW:
        return None
    return Doubt("place", f"{missing} of the newest {WINDOW} pages have no price any more")


def constant_value(stats: Field) -> Any:
    """Return the value that nearly all pages have; None if values vary."""
    usual = stats.usual(stats.values)[0]
    return usual if stats.filled >= KNOWN and stats.value_share(usual) >= RULE_SHARE else None

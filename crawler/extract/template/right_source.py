"""Choose the right one of two sources that agreed before and differ now."""

from __future__ import annotations

from decimal import Decimal

from crawler.extract.template.observation import Observation
from crawler.extract.template.page_doubts import is_ousted
from crawler.extract.template.price_rates import Pair, is_raised, proportion
from crawler.extract.template.profile import Field

#: A visible price that differs by this factor is another amount: an instalment, a total.
_MAX_RATIO = 2
#: Different visible prices beside one price of structured data.
_MIN_PRICES = 4
#: The share of pages for which a rule must hold.
_MIN_SHARE = 0.8
#: The largest rate of a whole percent by which shops raise prices, or taxes do.
_MAX_RATE = Decimal("1.3")
#: Sales tax rates in percent that are in force for most goods of some country.
_TAX_RATES = (Decimal(5), Decimal(7), Decimal("7.7"), Decimal("8.1"), Decimal(10), Decimal(13),
          Decimal(15), Decimal(16), Decimal(17), Decimal(18), Decimal(19), Decimal(20), Decimal(21),
          Decimal(22), Decimal(23), Decimal(24), Decimal(25), Decimal("25.5"), Decimal(27))  # fmt: skip
#: Rates that differ by more than this are different discounts.
_MAX_SPREAD = Decimal("0.02")
#: The largest difference by rounding, as a share of a price.
_MAX_ROUNDING = Decimal("0.001")


def right_source(
    field: str, stats: Field, *, shown: bool = False, foreign: bool = False
) -> str | None:
    """Return "text" if the visible text is right when sources differ; None if structured data is.

    A visitor pays the price that the page shows. But if the text's amount is far from the other one,
    lacks the cents or a tax of it on nearly all pages, or is it by a fee or an exchange rate, the
    text shows another amount. So it does if the pages show the structured data's price as well
    (*shown*), because it is not stale then. Structured data with another product's name (*foreign*),
    or with one price on pages that show different ones, is wrong. So are stock and number of data that the
    shop adds to pages from which the text alone was read.
    """
    if field == "currency":
        return "text"
    disputes = [observation for kind, observation in stats.recent if kind == "dispute"]
    if field != "price":
        is_added = bool(disputes) and is_ousted("text", disputes[-1].source, stats)
        return "text" if is_added and field != "name" else None
    if disputes and (foreign or _has_one_price(disputes)):
        return "text"
    if shown:
        return None
    minimum = _MIN_SHARE * len(disputes)
    if not disputes or sum(map(_is_near, disputes)) < minimum:
        return None
    # A few pages show no price, or have none in their data.
    disputes = [each for each in disputes if each.votes.get("text") and each.value]
    if sum(map(_lacks_cents, disputes)) >= minimum:
        return None
    if any(
        sum(_lacks_tax(observation, tax) for observation in disputes) >= minimum
        for tax in _TAX_RATES
    ):
        return None
    return None if _is_converted(disputes) or _is_lower(disputes) else "text"


def _has_one_price(disputes: list[Observation]) -> bool:
    """Whether structured data has one price on pages that show different ones."""
    prices = {observation.value for observation in disputes}
    shown_prices = {observation.votes.get("text") for observation in disputes}
    return len(prices) == 1 and len(shown_prices) >= _MIN_PRICES


def _is_converted(disputes: list[Observation]) -> bool:
    """Whether the text has each price by one rate or fee, and the rate is of no whole percent."""
    pairs = [Pair(each.votes["text"], each.value, frozenset()) for each in disputes]
    return proportion(pairs) is not None and not is_raised(pairs, _MAX_RATE)


def _is_lower(disputes: list[Observation]) -> bool:
    """Whether the text has a lower price on all pages, by different rates: that for members.

    Where structured data is stale, some prices have risen since.
    """
    rates = [each.votes["text"] / each.value for each in disputes]
    return bool(max(rates) < 1 and max(rates) - min(rates) > _MAX_SPREAD)


def _is_near(observation: Observation) -> bool:
    text_price, other_price = observation.votes.get("text"), observation.value
    if not text_price or not other_price:
        return False
    return bool(text_price < other_price * _MAX_RATIO and other_price < text_price * _MAX_RATIO)


def _lacks_cents(observation: Observation) -> bool:
    text_price, other_price = observation.votes["text"], observation.value
    return bool(text_price != other_price and text_price == int(other_price))


def _lacks_tax(observation: Observation, tax: Decimal) -> bool:
    gross = observation.votes["text"] * (1 + tax / 100)
    return bool(
        abs(gross - observation.value) <= max(observation.value * _MAX_ROUNDING, Decimal("0.011"))
    )

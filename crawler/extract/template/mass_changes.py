"""Changes that all stored products share: the template changed, not the products.

A single value that differs from the stored one is a change of the product. If all products of a make
have another name, another number, or a price in one proportion to the stored one, and no page shows
a sale, the pages show another text than before: a prefix, an internal number, a converted price, a
tax or a fee. Prices that are lower by a round share are accepted, because sales are like that.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import attrs

from crawler.extract.default_parser import Found
from crawler.extract.stock.availability import UNAVAILABLE
from crawler.extract.template.name_affixes import Affix, affix_of, without_affix
from crawler.extract.template.observation import Observation
from crawler.extract.template.page_doubts import Doubt
from crawler.extract.template.price_rates import (
    Pair,
    common_rate,
    have_few_fees,
    is_discount,
    is_raise,
    proportion,
)
from crawler.extract.template.price_runs import PriceRun
from crawler.extract.template.stock_runs import StockRuns
from crawler.extract.template.stored_form import stored_form
from scrapy_seine.attrs_bases import Record, Value

#: The kind of the doubt, which needs stored values.
CHANGED = "changed"
#: Fields that a product keeps from one day to the next.
LASTING = ("name", "sku", "brand", "gtin", "images", "breadcrumbs", "description")
#: Those of them that become doubtful by a change; changes of the others are only reported.
_DOUBTED_FIELDS = ("name", "sku")
_OFFER_FIELDS = ("price", "availability")
#: Pages that are compared, and how many of the newest must differ in the same way.
_COMPARED_PAGES, _MIN_CHANGED = 16, 6
#: Prices that changed otherwise right before them, and newest ones that must have one rate then.
_MIN_OTHERS, _MIN_CHANGED_AMONG_OTHERS = 3, 12
#: Consecutive pages that equal the stored values, after which differing pages are forgotten, and
#: after which a change is over: more than are read again at once, because pages from before a change
#: may be equal.
_FORGET_AFTER, _OVER_AFTER = 4, 64
#: Prices by one odd rate, with unchanged ones between them, before that is a change.
_MIN_CONVERTED = 8
#: Products whose stock state was exchanged for the other one, before that is reported.
_MIN_EXCHANGED = 12
#: Pages that kept a state, of so many since it seemed to be lost, and refute that.
_MIN_KEPT, _PAGES_OF_STATE = 3, 24
#: A price that differs from the stored one by this factor is far from it: in cents, for a pack.
_FAR_FACTOR = 5
_SOLD_OUT_FOLDED = frozenset(map(str.casefold, UNAVAILABLE))


@attrs.frozen(eq=False, repr=False)
class Change(Value):
    """A change that all stored products share."""

    field: str
    reason: str
    source: str | None = None
    """The source that gives the stored values."""
    affix: Affix | None = None
    """The text before and after each stored name."""
    believed: bool = False
    """Whether the shop changed its products, so that the change is only reported."""
    over: bool = False
    """Whether a change that was reported is none, so that its pages are read again."""


@attrs.define(eq=False, repr=False)
class Contrast(Record):
    """Compares the newest pages of a make with their products' stored values."""

    _pairs: dict[str, deque[Pair]] = attrs.Factory(dict)
    _agreeing: Counter[str] = attrs.Factory(Counter)
    has_own_names: bool = False
    """Whether names are read from another place, because the stored ones were not the products'."""
    changed: dict[str, str] = attrs.Factory(dict)
    """Fields that are doubtful on all pages, and why."""
    stock: StockRuns = attrs.Factory(StockRuns)
    _converted: deque[Pair] = attrs.Factory(lambda: deque(maxlen=_MIN_CONVERTED))
    """The newest prices that differ, whatever the pages between them have."""
    _prices: PriceRun = attrs.Factory(PriceRun)
    _affixes: Counter[Affix] = attrs.Factory(Counter)
    """How many names have a text before or behind the stored one, on whichever pages."""
    _has_affix: bool = False
    """Whether such a text was reported."""
    _lost_state: bool | None = None
    """The state that all products have since the other one seemed to be lost."""
    _kept: deque[bool] = attrs.Factory(lambda: deque(maxlen=_PAGES_OF_STATE))
    """Whether the pages since then have kept the other one."""
    _comparable: set[str] = attrs.Factory(set)
    """Fields that equalled the stored value on some pages."""
    pages_to_compare: int = 0
    """Further pages that are all compared, because one differed."""
    _pages_to_skip: int = 0
    """Further pages on which a difference is no reason to compare all pages."""

    def needs_comparison(self, sampled: bool, stock: str | None, url: str = "") -> bool:
        """Whether a page must be compared: a sample, or each page after one that differed.

        Each page, too, during an unusually long run of pages in one stock state.
        """
        self.stock.note(stock not in UNAVAILABLE, url)
        if self.stock.is_long:
            return True
        if self._pages_to_skip:
            self._pages_to_skip -= 1
        if self.pages_to_compare:
            self.pages_to_compare -= 1
            self._pages_to_skip = 0 if self.pages_to_compare else 8 * _COMPARED_PAGES
        return sampled or self.pages_to_compare > 0 or bool(self.changed)

    def note(
        self,
        fields: Mapping[str, Any],
        observations: Mapping[str, Observation],
        stored: Mapping[str, Any],
    ) -> list[Change]:
        """Compare a page with its product's stored values; return changes that all pages share."""
        changes = []
        for field in (*LASTING, "price", "availability"):
            page_value, stored_value = (
                _plain(field, fields.get(field)),
                _plain(field, stored.get(field)),
            )
            if page_value is None or stored_value is None:
                continue
            if field == "name" and self.has_own_names:
                continue
            if _was_doubted(field, page_value, stored):
                continue
            if field == "price" and (run := self._note_run(fields, stored)) is not None:
                changes.append(run)
                continue
            if field == "price" and _is_sale(fields, stored):
                # Pages of sold-out products may show the reduced price alone.
                self._note_agreeing(field, self._pairs_of(field))
                self._converted.clear()
                continue
            if field == "price" and _is_return(fields, stored):
                continue
            change = self._add(field, page_value, stored_value, observations.get(field))
            if change is not None:
                changes.append(change)
        return changes

    def _note_run(self, fields: Mapping[str, Any], stored: Mapping[str, Any]) -> Change | None:
        """Compare a price with the stored one; return the change if nearly all prices fell or rose."""
        price, stored_price = amount(fields.get("price")), amount(stored.get("price"))
        if "price" in self.changed or not price or not stored_price or _is_return(fields, stored):
            return None  # what is free has no rate
        reduced = fields.get("regular_price") is not None
        sale = reduced and _is_sale(fields, stored)
        reason = self._prices.note(price, stored_price, sale=sale, reduced=reduced)
        if reason is None:
            if self._prices.is_begun:
                self.pages_to_compare = max(self.pages_to_compare, _MIN_CHANGED)
            return None
        self._prices = PriceRun()
        self.changed["price"] = reason
        return Change("price", reason)

    def _add(
        self, field: str, page_value: Any, stored_value: Any, observation: Observation | None
    ) -> Change | None:
        pairs = self._pairs_of(field)
        stock_change = (
            self._note_stock_change(page_value, stored_value) if field == "availability" else None
        )
        if stock_change is not None:
            return stock_change
        if field == "name" and (change := self._note_affix(page_value, stored_value)) is not None:
            return change
        if page_value == stored_value:
            self._note_agreeing(field, pairs)
            return None
        if field not in (*_DOUBTED_FIELDS, *_OFFER_FIELDS) and field not in self._comparable:
            return None  # the storage holds it in another form than pages do
        self._agreeing[field] = 0
        votes = observation.votes if observation is not None else {}
        pairs.append(
            Pair(
                page_value,
                stored_value,
                frozenset(s for s, v in votes.items() if _plain(field, v) == stored_value),
            )
        )
        if not self.pages_to_compare and not self._pages_to_skip:
            self.pages_to_compare = 2 * _COMPARED_PAGES
        if field == "price":
            self._converted.append(pairs[-1])
        if field in self.changed or max(len(pairs), len(self._converted)) < _MIN_CHANGED:
            return None
        change = _common_change(field, list(pairs)) or (
            _conversion(self._converted) if field == "price" else None
        )
        if change is not None:
            pairs.clear()
            if not change.believed:
                self.changed[field] = change.reason
        return change

    def _note_affix(self, page_name: str, stored_name: str) -> Change | None:
        """Return the change if many names, on a part of the pages, have one text added to them.

        A text with which a stored name begins or ends may be a part of any name.
        """
        if page_name == stored_name:
            for known in self._affixes:
                if without_affix(page_name, known) != page_name:
                    self._affixes[known] = -_COMPARED_PAGES * _MIN_CHANGED
            return None
        affix = affix_of(page_name, stored_name)
        if affix is None or (affix not in self._affixes and len(self._affixes) >= _COMPARED_PAGES):
            return None
        self._affixes[affix] += 1
        if self._affixes[affix] < _MIN_CHANGED or self._has_affix or "name" in self.changed:
            return None
        self._has_affix = True  # once, because makers' names may stand before names by turns
        self._pairs_of("name").clear()
        reason = f"many names have {affix[0]!r} before them and {affix[1]!r} behind them since"
        return Change("name", reason, affix=affix)

    def _pairs_of(self, field: str) -> deque[Pair]:
        return self._pairs.setdefault(field, deque(maxlen=_COMPARED_PAGES))

    def _note_agreeing(self, field: str, pairs: deque[Pair]) -> None:
        """Count a page with the stored value; after some, forget the pages that differed."""
        self._agreeing[field] += 1
        if self._agreeing[field] >= _FORGET_AFTER or field == "availability":
            pairs.clear()
        if self._agreeing[field] >= _FORGET_AFTER:
            self._comparable.add(field)
        if self._agreeing[field] >= _OVER_AFTER:
            self.changed.pop(field, None)

    def _note_stock_change(self, page_value: Any, stored_value: Any) -> Change | None:
        """Compare a stock state with the stored one; return the change if all products share it."""
        is_available, was_available = (
            value not in _SOLD_OUT_FOLDED for value in (page_value, stored_value)
        )
        if self._lost_state is not None and (over := self._note_kept(is_available, was_available)):
            return over
        turned = self.stock.compare(is_available, was_available)
        if self.stock.turned > 1:
            # Compare each page, because few of a shop's products are sold out.
            self.pages_to_compare = max(self.pages_to_compare, 2 * _COMPARED_PAGES)
        return self._run_of_stock(is_available, turned)

    def note_requested(self, url: str, stored: Mapping[str, Any]) -> list[Change]:
        """Compare the stock state of a page that `stock` requested with the stored one."""
        is_available = self.stock.requested.pop(url)
        stored_value = _plain("availability", stored.get("availability"))
        if stored_value is None:
            return []
        was_available = stored_value not in _SOLD_OUT_FOLDED
        if is_available is not self.stock.state:
            self.stock.note_kept(is_available, was_available)
            change = self._run_of_stock(not is_available, 0)
        else:
            turned = self.stock.compare(is_available, was_available)
            change = self._run_of_stock(is_available, turned)
        return [] if change is None else [change]

    def _run_of_stock(self, is_available: bool, turned: int) -> Change | None:
        """Return the change of a run in one stock state; it is believed if it may be news."""
        if "availability" in self.changed or not (turned or self.stock.is_reportable):
            return None
        words = "could not be had, and all are" if is_available else "could be had, and none is"
        reason = f"{turned or self.stock.turned} products in a row {words}"
        if not turned:
            return Change("availability", reason, believed=True)
        self.changed["availability"], self._lost_state = reason, is_available
        self._kept.clear()
        return Change("availability", reason)

    def _note_kept(self, is_available: bool, was_available: bool) -> Change | None:
        """Compare a page after a state seemed to be lost; return the change if it is not lost.

        A template that lost a state shows none of it. In a wave of sold-out products, or of
        deliveries, products of both states keep theirs.
        """
        self._kept.append(is_available is was_available is not self._lost_state)
        if sum(self._kept) < _MIN_KEPT:
            return None
        self._lost_state, self.stock = None, StockRuns()
        self.changed.pop("availability", None)
        return Change("availability", "products of both states keep theirs", over=True)

    def mark_mended(self, field: str) -> None:
        """Forget a field's differences, because its values are read from another place now."""
        self.changed.pop(field, None)
        self._pairs.pop(field, None)
        if field == "price":
            self._prices = PriceRun()

    def add_doubts(self, result: Found, doubts: dict[str, Doubt]) -> None:
        """Doubt the fields that changed on all products, and the product key if it is the SKU."""
        fields = result.fields
        for field, reason in self.changed.items():
            if fields.get(field) is None or field not in (*_DOUBTED_FIELDS, *_OFFER_FIELDS):
                continue
            doubts.setdefault(field, Doubt(CHANGED, reason))
            if field == "sku" and fields["sku"] == fields.get("external_id"):
                doubts["external_id"] = Doubt(CHANGED, reason)


def _plain(field: str, value: Any) -> Any:
    """Return a value in the form in which it is compared; None without a value."""
    if value is None or field == "price":
        return amount(value)
    if field == "images":
        value = str(value[0]).rpartition("/")[2] if isinstance(value, list) and value else ""
    elif field == "breadcrumbs":
        value = " > ".join(map(str, value)) if isinstance(value, list) else ""
    elif field == "sku":
        value = "".join(filter(str.isalnum, str(value)))  # a shop may write its numbers otherwise
    return stored_form(value) or None


def amount(value: Any) -> Decimal | None:
    """Return a price as a number; None if it is no number, or not above zero."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() and number > 0 else None


def is_far(price: Decimal | None, stored_price: Decimal | None) -> bool:
    """Whether a price is far from the stored one: in cents, for a pack, for a month."""
    if not price or not stored_price:
        return False
    return max(price / stored_price, stored_price / price) >= _FAR_FACTOR


def _was_doubted(field: str, page_value: Any, stored: Mapping[str, Any]) -> bool:
    """Whether the page had this value in an earlier crawl, so that it is accepted by now."""
    doubted = _plain(field, (stored.get("doubted") or {}).get(field))
    if doubted is None or field == "availability" or doubted != page_value:
        return False
    return field != "price" or not is_far(page_value, amount(stored.get(field)))


def _is_sale(fields: Mapping[str, Any], stored: Mapping[str, Any]) -> bool:
    """Whether the stored price is the page's regular price, or a stored sale is over."""
    price, stored_price = amount(fields.get("price")), amount(stored.get("price"))
    regular_price, stored_regular_price = (
        amount(fields.get("regular_price")),
        amount(stored.get("regular_price")),
    )
    return (
        price is not None
        and stored_price is not None
        and (regular_price == stored_price or stored_regular_price == price)
    )


def _is_return(fields: Mapping[str, Any], stored: Mapping[str, Any]) -> bool:
    """Whether a price is the one that its product had before the stored one."""
    price = amount(fields.get("price"))
    return price is not None and price == amount(stored.get("earlier_price"))


def _common_change(field: str, pairs: Sequence[Pair]) -> Change | None:
    """Return the change that the newest differing pages share."""
    newest = pairs[-_MIN_CHANGED:]
    if len(newest) < _MIN_CHANGED:
        return None
    if field == "availability":
        return _exchanged_stock(pairs)
    if field == "price":
        if any(pair.agreeing for pair in newest):
            return None
        reason = proportion(newest)
        if reason is not None and _differ_by_group(pairs):
            # A shop, or a supplier, raises each group of products by a rate of its own.
            newest = pairs[-_MIN_CHANGED_AMONG_OTHERS:]
            reason = proportion(newest) if len(newest) == _MIN_CHANGED_AMONG_OTHERS else None
        if reason is None and have_few_fees(pairs):
            return Change(field, "each price is the stored one and one of a few fees")
        if reason is None:
            return _unmarked_sale(pairs)
        return Change(field, reason, believed=is_raise(newest))
    source = min(frozenset.intersection(*(pair.agreeing for pair in newest)), default=None)
    if len({pair.stored_value for pair in newest}) < _MIN_CHANGED and field in _DOUBTED_FIELDS:
        return None
    return Change(field, f"no product that is known has the {field} of before", source)


def _differ_by_group(pairs: Sequence[Pair]) -> bool:
    """Whether several prices before the newest ones changed as well, but not as these did."""
    return len(pairs) >= _MIN_CHANGED + _MIN_OTHERS and proportion(pairs) is None


def _exchanged_stock(pairs: Sequence[Pair]) -> Change | None:
    """Return a change if products in stock and sold-out ones have exchanged their states."""
    states = {(pair.page_value, pair.stored_value) for pair in pairs}
    if (
        len(pairs) < _MIN_EXCHANGED
        or len(states) < 2
        or len({stored_value for _, stored_value in states}) < 2
    ):
        return None
    if not all((stored_value, page_value) in states for page_value, stored_value in states):
        return None
    return Change("availability", f"{len(pairs)} products have exchanged their stock")


def _conversion(pairs: Sequence[Pair]) -> Change | None:
    """Return the change if prices have one odd rate to the stored ones, on a part of the pages.

    A shop that shows some visitors the prices of another country converts them.
    """
    if len(pairs) < _MIN_CONVERTED or len({p.stored_value for p in pairs}) < _MIN_CONVERTED - 2:
        return None
    rate = common_rate(pairs)
    if rate is None or is_discount(rate) or is_raise(pairs) or any(p.agreeing for p in pairs):
        return None
    return Change("price", f"prices are {rate:.4f} times the stored ones, on a part of the pages")


def _unmarked_sale(pairs: Sequence[Pair]) -> Change | None:
    """Return the change if all prices are lower by one round share: a sale, or subscribers' prices.

    It is said and believed, because no page tells which of the two it is.
    """
    rate = common_rate(pairs) if len(pairs) == _COMPARED_PAGES else None
    if rate is None or not is_discount(rate):
        return None
    reason = f"each price is {rate:.2f} times the stored one, and no page marks a sale"
    return Change("price", reason, believed=True)

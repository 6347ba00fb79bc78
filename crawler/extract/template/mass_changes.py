"""Changes that all known products have at once: no product changes so, a template does.

A single value that differs from the stored one is news of the product. Where all products of a make
have another name, another number, or a price in one proportion to the one before, and nothing on the
pages calls that a sale, the pages tell something else than before: a prefix, an internal number, a
rate, a tax, a fee. Prices that are lower by a round share are left alone, because sales are.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import attrs

from crawler.extract.default_parser import Found
from crawler.extract.template.name_affixes import Affix, common_affix
from crawler.extract.template.observation import Observation
from crawler.extract.template.page_doubts import Doubt
from scrapy_seine.records import Record, Value

#: The kind of the doubt. Where nothing is stored, there is none.
CHANGED = "changed"
#: What a product keeps from one day to the next.
LASTING = ("name", "sku", "brand", "gtin", "images", "breadcrumbs", "description")
#: Of these, what is held against the template; of the others a change is told only.
_DOUBTED_FIELDS = ("name", "sku")
_OFFER_FIELDS = ("price", "availability")
#: Pages that are compared, and how many of the newest have to differ in one way.
_COMPARED_PAGES, _MIN_CHANGED = 16, 6
#: Pages in a row as they are stored, after which those that differed are forgotten; and after which
#: a change is over: more than are asked for again at once, as those of before a change may fit.
_FORGET_AFTER, _OVER_AFTER = 4, 64
#: Stock that was exchanged, before it is told, and both states in it.
_MIN_EXCHANGED = 12
#: Products whose stock turned, with none between that is in the state of before. A shop whose whole
#: stock turns over between two looks shows so many by chance once in 20,000 times.
_MIN_TURNED = 10
#: Sold out products before it is odd that none follows, and how many times longer than usual.
_MIN_SOLD_OUT, _LONG_FACTOR = 5, 3
_SOLD_OUT_STATES = frozenset({"OutOfStock", "SoldOut", "Discontinued"})
_SOLD_OUT_FOLDED = frozenset(map(str.casefold, _SOLD_OUT_STATES))
#: Different prices that a rule has to fit, and the dearest part of a price that rounding may be.
_MIN_PRICES, _MAX_ROUNDING = 4, Decimal("0.005")
#: Sales are by so many hundredths; a proportion beyond the second one is no sale at all.
_SALE_STEP, _FAR_RATIO = Decimal("0.05"), Decimal("2.5")
#: The most by which a shop raises all its prices at once.
_MAX_RAISE = Decimal("1.04")
#: A fee is more than one, and at least this share of the middle price: less is another ending.
_MIN_FEE = Decimal("0.005")
_MAX_TEXT_LENGTH = 200


class Pair(NamedTuple):
    """A field of a page, and what its product is stored with."""

    page_value: Any
    stored_value: Any
    agreeing: frozenset[str]
    """The sources of the page that tell the stored value."""


@attrs.frozen(eq=False, repr=False)
class Change(Value):
    """What all known products have since."""

    field: str
    reason: str
    source: str | None = None
    """The source that tells the stored values."""
    affix: Affix | None = None
    """What stands before and after each stored name."""


@attrs.define(eq=False, repr=False)
class Contrast(Record):
    """The newest pages of a make beside what their products are stored with."""

    _pairs: dict[str, deque[Pair]] = attrs.Factory(dict)
    _agreeing: Counter[str] = attrs.Factory(Counter)
    changed: dict[str, str] = attrs.Factory(dict)
    """Fields that are doubtful on all pages, and why."""
    _stock_changes: Counter[bool] = attrs.Factory(Counter)
    """Products that could be had (False: that could not) and turned, since a page told that state."""
    _comparable: set[str] = attrs.Factory(set)
    """Fields that were found as they are stored."""
    _pages: int = 0
    _sold_out_pages: int = 0
    """Pages of products that cannot be had."""
    _pages_in_stock: int = 0
    """Pages in a row without one of these."""
    pages_to_compare: int = 0
    """Pages left that are compared one by one, because one of them differs."""
    _pages_to_skip: int = 0
    """Pages left on which a difference is no reason to compare one by one."""

    def needs_comparison(self, sampled: bool, stock: str | None) -> bool:
        """Whether a page is to be compared: one of some, or each after one that differs.

        Each, too, while no page tells that its product is sold out for longer than is usual.
        """
        is_sold_out = stock in _SOLD_OUT_STATES
        self._pages += 1
        if is_sold_out:
            self._sold_out_pages += 1
            self._pages_in_stock = 0
        else:
            self._pages_in_stock += 1
        if self._stock_changes:
            self._stock_changes.pop(not is_sold_out, None)
        if (
            self._sold_out_pages >= _MIN_SOLD_OUT
            and self._pages_in_stock * self._sold_out_pages > _LONG_FACTOR * self._pages
        ):
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
        """Compare a page with its product's stored values; returns what all pages have since."""
        changes = []
        for field in (*LASTING, "price", "availability"):
            page_value, stored_value = (
                _plain(field, fields.get(field)),
                _plain(field, stored.get(field)),
            )
            if (
                page_value is None
                or stored_value is None
                or (field == "price" and _is_sale(fields, stored))
            ):
                continue
            change = self._add(field, page_value, stored_value, observations.get(field))
            if change is not None:
                changes.append(change)
        return changes

    def _add(
        self, field: str, page_value: Any, stored_value: Any, observation: Observation | None
    ) -> Change | None:
        pairs = self._pairs.setdefault(field, deque(maxlen=_COMPARED_PAGES))
        stock_change = (
            self._note_stock_change(page_value, stored_value) if field == "availability" else None
        )
        if stock_change is not None:
            return stock_change
        if page_value == stored_value:
            self._agreeing[field] += 1
            if self._agreeing[field] >= _FORGET_AFTER or field == "availability":
                pairs.clear()
            if self._agreeing[field] >= _FORGET_AFTER:
                self._comparable.add(field)
            if self._agreeing[field] >= _OVER_AFTER:
                self.changed.pop(field, None)
            return None
        if field not in (*_DOUBTED_FIELDS, *_OFFER_FIELDS) and field not in self._comparable:
            return None  # it is stored in another form than it is read in
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
        if field in self.changed or len(pairs) < _MIN_CHANGED:
            return None
        change = _common_change(field, list(pairs))
        if change is not None:
            self.changed[field] = change.reason
            pairs.clear()
        return change

    def _note_stock_change(self, page_value: Any, stored_value: Any) -> Change | None:
        """Count a product whose stock turned; returns what all of a kind have since."""
        was_available = stored_value not in _SOLD_OUT_FOLDED
        if (page_value not in _SOLD_OUT_FOLDED) == was_available:
            return None
        self._stock_changes[was_available] += 1
        if (
            self._stock_changes[was_available] > 1
        ):  # few of a shop's products are sold out: each page may tell
            self.pages_to_compare = max(self.pages_to_compare, 2 * _COMPARED_PAGES)
        if self._stock_changes[was_available] != _MIN_TURNED or "availability" in self.changed:
            return None
        words = "could be had, and none is" if was_available else "could not be had, and all are"
        self.changed["availability"] = reason = f"{_MIN_TURNED} products in a row {words}"
        return Change("availability", reason)

    def mark_mended(self, field: str) -> None:
        """Take a field for mended: its values are read elsewhere since."""
        self.changed.pop(field, None)
        self._pairs.pop(field, None)

    def add_doubts(self, result: Found, doubts: dict[str, Doubt]) -> None:
        """Hold back what all known products have changed, and a key that is made of it."""
        fields = result.fields
        for field, reason in self.changed.items():
            if fields.get(field) is None or field not in (*_DOUBTED_FIELDS, *_OFFER_FIELDS):
                continue
            doubts.setdefault(field, Doubt(CHANGED, reason))
            if field == "sku" and fields["sku"] == fields.get("external_id"):
                doubts["external_id"] = Doubt(CHANGED, reason)


def _plain(field: str, value: Any) -> Any:
    """A value as it is compared; None where there is none."""
    if value is None or field == "price":
        return amount(value)
    if field == "images":
        value = str(value[0]).rpartition("/")[2] if isinstance(value, list) and value else ""
    elif field == "breadcrumbs":
        value = " > ".join(map(str, value)) if isinstance(value, list) else ""
    return " ".join(str(value)[:_MAX_TEXT_LENGTH].split()).casefold() or None


def amount(value: Any) -> Decimal | None:
    """A stored or read price as a number; None where it is none, or free."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() and number > 0 else None


def _is_sale(fields: Mapping[str, Any], stored: Mapping[str, Any]) -> bool:
    """Whether the pages call the stored price the one before a sale, or a sale is over."""
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


def _common_change(field: str, pairs: Sequence[Pair]) -> Change | None:
    """What the newest pages that differ have in common."""
    newest = pairs[-_MIN_CHANGED:]
    if field == "availability":
        return _exchanged_stock(pairs)
    if field == "price":
        reason = None if any(pair.agreeing for pair in newest) else _proportion(newest)
        return Change(field, reason) if reason else None
    source = min(frozenset.intersection(*(pair.agreeing for pair in newest)), default=None)
    if len({pair.stored_value for pair in newest}) < _MIN_CHANGED and field in _DOUBTED_FIELDS:
        return None
    names = [(pair.page_value, pair.stored_value) for pair in newest] if field == "name" else ()
    affix = common_affix(names)
    reason = f"no product that is known has the {field} of before"
    if affix is not None:
        reason = f"each name has {affix[0]!r} before it and {affix[1]!r} behind it since"
    return Change(field, reason, source, affix)


def _exchanged_stock(pairs: Sequence[Pair]) -> Change | None:
    """Whether what was in stock is not since, and the other way round."""
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


def _proportion(pairs: Sequence[Pair]) -> str | None:
    """In which one way all prices differ from the stored ones, in words."""
    if len({pair.stored_value for pair in pairs}) < _MIN_PRICES:
        return None
    if all(pair.page_value == int(pair.stored_value) != pair.stored_value for pair in pairs):
        return "each price is the stored one without its cents"
    rates = [pair.page_value / pair.stored_value for pair in pairs]
    if min(rates) > _FAR_RATIO or max(rates) < 1 / _FAR_RATIO:
        return "each price is far from the stored one"
    fees = {pair.page_value - pair.stored_value for pair in pairs}
    middle = sorted(pair.stored_value for pair in pairs)[len(pairs) // 2]
    if len(fees) == 1 and abs(fee := fees.pop()) > max(1, _MIN_FEE * middle):
        return f"each price is the stored one and {fee:+}"
    page_value, stored_value, _ = max(pairs, key=lambda pair: pair.stored_value)
    rate, step = page_value / stored_value, max(_step(pair.page_value) for pair in pairs)
    rounded = [step / pair.page_value for pair in pairs]
    fits = all(abs(pair.stored_value * rate - pair.page_value) <= step for pair in pairs)
    exact = sum(share <= _MAX_ROUNDING for share in rounded) >= _MIN_PRICES
    if (
        not fits
        or not exact
        or (rate < 1 and abs(rate / _SALE_STEP - round(rate / _SALE_STEP)) < _SALE_STEP)
    ):
        return None
    if _is_raised(pairs, step):
        return None
    return f"each price is {rate:.4f} times the stored one"


def _is_raised(pairs: Sequence[Pair], step: Decimal) -> bool:
    """Whether all prices were raised by a few whole percent, or that was undone: shops do so.

    A tax is more than that, and a rate between two currencies has four figures.
    """
    low, high = sorted(max(pairs, key=lambda pair: pair.stored_value)[:2])
    rate = Decimal(high / low).quantize(Decimal("0.01"))
    return 1 < rate <= _MAX_RAISE and all(
        abs(min(pair[:2]) * rate - max(pair[:2])) <= step * rate for pair in pairs
    )


def _step(price: Decimal) -> Decimal:
    """Return the smallest step of a price: 0.01, or 1 where the price has no cents."""
    return Decimal(1) if price == price.to_integral_value() else Decimal("0.01")

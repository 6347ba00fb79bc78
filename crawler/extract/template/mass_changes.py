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
from crawler.extract.template.observation import Seen
from crawler.extract.template.page_doubts import Doubt
from scrapy_seine.records import Record, Value

#: The kind of the doubt. Where nothing is stored, there is none.
CHANGED = "changed"
#: What a product keeps from one day to the next.
LASTING = ("name", "sku", "brand", "gtin", "images", "breadcrumbs", "description")
#: Of these, what is held against the template; of the others a change is told only.
_HELD = ("name", "sku")
_MONEY = ("price", "availability")
#: Pages that are compared, and how many of the newest have to differ in one way.
_COMPARED, _ENOUGH = 16, 6
#: Pages in a row as they are stored, after which those that differed are forgotten; and after which
#: a change is over: more than are asked for again at once, as those of before a change may fit.
_FORGOTTEN, _OVER = 4, 64
#: Stock that was exchanged, before it is told, and both states in it.
_EXCHANGED = 12
#: Products whose stock turned, with none between that is in the state of before. A shop whose whole
#: stock turns over between two looks shows so many by chance once in 20,000 times.
_TURNED = 10
#: Sold out products before it is odd that none follows, and how many times longer than usual.
_LEAST_OUT, _LONG = 5, 3
_TOLD_OUT = frozenset({"OutOfStock", "SoldOut", "Discontinued"})
_OUT = frozenset(map(str.casefold, _TOLD_OUT))
#: Different prices that a rule has to fit, and the dearest part of a price that rounding may be.
_PRICES, _ROUNDED = 4, Decimal("0.005")
#: Sales are by so many hundredths; a proportion beyond the second one is no sale at all.
_ROUND, _FAR = Decimal("0.05"), Decimal("2.5")
#: The most by which a shop raises all its prices at once.
_RAISED = Decimal("1.04")
#: A fee is more than one, and at least this share of the middle price: less is another ending.
_LEAST_FEE = Decimal("0.005")
_LONGEST = 200


class Pair(NamedTuple):
    """A field of a page, and what its product is stored with."""

    read: Any
    stored: Any
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
    _fits: Counter[str] = attrs.Factory(Counter)
    changed: dict[str, str] = attrs.Factory(dict)
    """Fields that are doubtful on all pages, and why."""
    _turned: Counter[bool] = attrs.Factory(Counter)
    """Products that could be had (False: that could not) and turned, since a page told that state."""
    _alike: set[str] = attrs.Factory(set)
    """Fields that were found as they are stored."""
    _pages: int = 0
    _outs: int = 0
    """Pages of products that cannot be had."""
    _calmly: int = 0
    """Pages in a row without one of these."""
    closer: int = 0
    """Pages left that are compared one by one, because one of them differs."""
    _calm: int = 0
    """Pages left on which a difference is no reason to compare one by one."""

    def wants(self, sampled: bool, stock: str | None) -> bool:
        """Whether a page is to be compared: one of some, or each after one that differs.

        Each, too, while no page tells that its product is sold out for longer than is usual.
        """
        out = stock in _TOLD_OUT
        self._pages += 1
        if out:
            self._outs += 1
            self._calmly = 0
        else:
            self._calmly += 1
        if self._turned:
            self._turned.pop(not out, None)
        if self._outs >= _LEAST_OUT and self._calmly * self._outs > _LONG * self._pages:
            return True
        if self._calm:
            self._calm -= 1
        if self.closer:
            self.closer -= 1
            self._calm = 0 if self.closer else 8 * _COMPARED
        return sampled or self.closer > 0 or bool(self.changed)

    def note(
        self, fields: Mapping[str, Any], seen: Mapping[str, Seen], stored: Mapping[str, Any]
    ) -> list[Change]:
        """Compare a page with its product's stored values; returns what all pages have since."""
        found = []
        for field in (*LASTING, "price", "availability"):
            read, known = _plain(field, fields.get(field)), _plain(field, stored.get(field))
            if read is None or known is None or (field == "price" and _is_a_sale(fields, stored)):
                continue
            change = self._add(field, read, known, seen.get(field))
            if change is not None:
                found.append(change)
        return found

    def _add(self, field: str, read: Any, known: Any, seen: Seen | None) -> Change | None:
        pairs = self._pairs.setdefault(field, deque(maxlen=_COMPARED))
        turned = self._note_stock(read, known) if field == "availability" else None
        if turned is not None:
            return turned
        if read == known:
            self._fits[field] += 1
            if self._fits[field] >= _FORGOTTEN or field == "availability":
                pairs.clear()
            if self._fits[field] >= _FORGOTTEN:
                self._alike.add(field)
            if self._fits[field] >= _OVER:
                self.changed.pop(field, None)
            return None
        if field not in (*_HELD, *_MONEY) and field not in self._alike:
            return None  # it is stored in another form than it is read in
        self._fits[field] = 0
        votes = seen.votes if seen is not None else {}
        pairs.append(
            Pair(read, known, frozenset(s for s, v in votes.items() if _plain(field, v) == known))
        )
        if not self.closer and not self._calm:
            self.closer = 2 * _COMPARED
        if field in self.changed or len(pairs) < _ENOUGH:
            return None
        change = _judged(field, list(pairs))
        if change is not None:
            self.changed[field] = change.reason
            pairs.clear()
        return change

    def _note_stock(self, read: Any, known: Any) -> Change | None:
        """Count a product whose stock turned; returns what all of a kind have since."""
        had = known not in _OUT
        if (read not in _OUT) == had:
            return None
        self._turned[had] += 1
        if self._turned[had] > 1:  # few of a shop's products are sold out: each page may tell
            self.closer = max(self.closer, 2 * _COMPARED)
        if self._turned[had] != _TURNED or "availability" in self.changed:
            return None
        words = "could be had, and none is" if had else "could not be had, and all are"
        self.changed["availability"] = reason = f"{_TURNED} products in a row {words}"
        return Change("availability", reason)

    def settle(self, field: str) -> None:
        """Take a field for mended: its values are read elsewhere since."""
        self.changed.pop(field, None)
        self._pairs.pop(field, None)

    def hold(self, found: Found, doubts: dict[str, Doubt]) -> None:
        """Hold back what all known products have changed, and a key that is made of it."""
        fields = found.fields
        for field, reason in self.changed.items():
            if fields.get(field) is None or field not in (*_HELD, *_MONEY):
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
    return " ".join(str(value)[:_LONGEST].split()).casefold() or None


def amount(value: Any) -> Decimal | None:
    """A stored or read price as a number; None where it is none, or free."""
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        return None
    return found if found.is_finite() and found > 0 else None


def _is_a_sale(fields: Mapping[str, Any], stored: Mapping[str, Any]) -> bool:
    """Whether the pages call the stored price the one before a sale, or a sale is over."""
    now, was = amount(fields.get("price")), amount(stored.get("price"))
    before, left = amount(fields.get("regular_price")), amount(stored.get("regular_price"))
    return now is not None and was is not None and (before == was or left == now)


def _judged(field: str, pairs: Sequence[Pair]) -> Change | None:
    """What the newest pages that differ have in common."""
    newest = pairs[-_ENOUGH:]
    if field == "availability":
        return _exchanged(pairs)
    if field == "price":
        reason = None if any(pair.agreeing for pair in newest) else _proportion(newest)
        return Change(field, reason) if reason else None
    source = min(frozenset.intersection(*(pair.agreeing for pair in newest)), default=None)
    if len({pair.stored for pair in newest}) < _ENOUGH and field in _HELD:
        return None
    names = [(pair.read, pair.stored) for pair in newest] if field == "name" else ()
    affix = common_affix(names)
    said = f"no product that is known has the {field} of before"
    if affix is not None:
        said = f"each name has {affix[0]!r} before it and {affix[1]!r} behind it since"
    return Change(field, said, source, affix)


def _exchanged(pairs: Sequence[Pair]) -> Change | None:
    """Whether what was in stock is not since, and the other way round."""
    told = {(pair.read, pair.stored) for pair in pairs}
    if len(pairs) < _EXCHANGED or len(told) < 2 or len({stored for _, stored in told}) < 2:
        return None
    if not all((stored, read) in told for read, stored in told):
        return None
    return Change("availability", f"{len(pairs)} products have exchanged their stock")


def _proportion(pairs: Sequence[Pair]) -> str | None:
    """In which one way all prices differ from the stored ones, in words."""
    if len({pair.stored for pair in pairs}) < _PRICES:
        return None
    if all(pair.read == int(pair.stored) != pair.stored for pair in pairs):
        return "each price is the stored one without its cents"
    rates = [pair.read / pair.stored for pair in pairs]
    if min(rates) > _FAR or max(rates) < 1 / _FAR:
        return "each price is far from the stored one"
    fees = {pair.read - pair.stored for pair in pairs}
    middle = sorted(pair.stored for pair in pairs)[len(pairs) // 2]
    if len(fees) == 1 and abs(fee := fees.pop()) > max(1, _LEAST_FEE * middle):
        return f"each price is the stored one and {fee:+}"
    read, stored, _ = max(pairs, key=lambda pair: pair.stored)
    rate, step = read / stored, max(_step(pair.read) for pair in pairs)
    rounded = [step / pair.read for pair in pairs]
    fits = all(abs(pair.stored * rate - pair.read) <= step for pair in pairs)
    exact = sum(share <= _ROUNDED for share in rounded) >= _PRICES
    if not fits or not exact or (rate < 1 and abs(rate / _ROUND - round(rate / _ROUND)) < _ROUND):
        return None
    if _is_raised(pairs, step):
        return None
    return f"each price is {rate:.4f} times the stored one"


def _is_raised(pairs: Sequence[Pair], step: Decimal) -> bool:
    """Whether all prices were raised by a few whole percent, or that was undone: shops do so.

    A tax is more than that, and a rate between two currencies has four figures.
    """
    low, high = sorted(max(pairs, key=lambda pair: pair.stored)[:2])
    rate = Decimal(high / low).quantize(Decimal("0.01"))
    return 1 < rate <= _RAISED and all(
        abs(min(pair[:2]) * rate - max(pair[:2])) <= step * rate for pair in pairs
    )


def _step(price: Decimal) -> Decimal:
    """Return the smallest step of a price: 0.01, or 1 where the price has no cents."""
    return Decimal(1) if price == price.to_integral_value() else Decimal("0.01")

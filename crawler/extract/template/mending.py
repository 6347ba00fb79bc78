"""Where a field went: found by the values that its products are known to have.

A page whose value is doubtful, and one of some whose value is not, is kept until its product's
stored values are told (`recall`). Where these stand in one place on page after page, that place is
the field's from then on. Known as data-driven repair of wrappers: redundancy across pages and the
values of before take the place of labels.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import attrs

from crawler.extract.page.page import Page, tidied
from crawler.extract.template.mass_changes import Change, Contrast, amount
from crawler.extract.template.observation import Seen
from crawler.extract.template.product_names import ENOUGH, Shown, name_place
from crawler.extract.template.values_by_place import PLACED, Text, texts_of, values
from scrapy_seine.records import Record, Value

#: Pages that agree on a place before it is believed, and the share of those tried that do.
_ENOUGH, _SHARE = 6, 0.6
#: Pages in a row that fit, after which those that did not are forgotten.
_CALM = 40
#: Pages that wait for their product's stored values, and addresses that may be asked for again.
_MOST_WAITING, _MOST_URLS = 24, 60
#: Of one of so many pages without a doubt the values are compared; after one that contradicts what
#: is stored, the texts of so many are read.
_SAMPLED, _ALERT = 8, 24
#: Pages whose texts are read without a place being found, before fewer are.
_VAIN = 60
#: A price so far from the one before, on page after page, is another amount.
_FAR = Decimal("2.5")
#: A currency is looked for in no place of a page: what its products are stored with tells it.
_NOWHERE = frozenset({"currency"})
#: The place of a price that is marked as the one before: only where that is lower than the other.
BELOW = "below"


@attrs.frozen(eq=False, repr=False)
class _Waiting(Value):
    texts: list[Text]
    seen: Mapping[str, Seen]
    fields: Mapping[str, Any]
    doubtful: frozenset[str]

    def read(self, field: str) -> Any:
        """What the page told of a field."""
        return self.seen[field].value if field in self.seen else None


@attrs.define(eq=False, repr=False)
class _Search(Record):
    """Where the known values of one field stand on the newest pages that contradict them."""

    tried: int = 0
    hits: Counter[str] = attrs.Factory(Counter)
    told: set[str] = attrs.Factory(set)
    """The known values: one that all products have tells no place."""
    against: set[str] = attrs.Factory(set)
    """Places that have another value on a page whose own value is right."""
    fits: int = 0

    def add(self, value: Any, places: list[str]) -> None:
        """Count a page that contradicts its product's stored value, and where that stands."""
        self.tried += 1
        self.fits = 0
        self.told.add(str(value))
        self.hits.update(places)

    def fit(self, field: str, known: Any, texts: list[Text]) -> None:
        """Count a page whose value is the stored one."""
        self.fits += 1
        if self.hits:
            told = {at: value for at, value, _ in values(field, texts) if at in self.hits}
            self.against.update(at for at in told if not _same(field, told[at], known))

    def found(self) -> str | None:
        """The place where the stored values stand; None as long as that is not sure."""
        if self.tried < _ENOUGH or 2 * len(self.told) < self.tried:
            return None
        left = [(at, hits) for at, hits in self.hits.items() if at not in self.against]
        place, hits = max(left, key=lambda pair: pair[1], default=("", 0))
        return place if hits >= max(_ENOUGH, _SHARE * self.tried) else None


@attrs.define(eq=False, repr=False)
class Mender(Record):
    """What is looked for on the pages of one make."""

    _waiting: OrderedDict[str, _Waiting] = attrs.Factory(OrderedDict)
    _searches: dict[str, _Search] = attrs.Factory(lambda: {name: _Search() for name in PLACED})
    _unnamed: deque[Shown] = attrs.Factory(lambda: deque(maxlen=ENOUGH))
    """The newest pages whose name is doubtful."""
    _newest: deque[str] = attrs.Factory(lambda: deque(maxlen=_MOST_URLS))
    _pages: int = 0
    _alert: int = 0
    _vain: int = 0
    """Pages whose texts were read since a place was found."""
    _believed: int = 0
    """Pages whose doubtful currency their product is stored with."""
    contrast: Contrast = attrs.Factory(Contrast)
    changes: list[Change] = attrs.Factory(list)
    """What all known products have since; not told yet."""

    def note(
        self,
        page: Page,
        seen: Mapping[str, Seen],
        doubtful: frozenset[str],
        fields: Mapping[str, Any],
    ) -> None:
        """Keep a page whose values may have to be held against the stored ones."""
        self._pages += 1
        self._newest.append(page.url)
        self._alert = max(0, self._alert - 1)
        # To read all texts of a page costs as much as to parse it: only those that may teach.
        read_all = (doubtful or self._alert) and (
            self._vain < _VAIN or self._pages % (2 * _SAMPLED) == 0
        )
        sampled = bool(read_all) or not self._pages % _SAMPLED
        if not self.contrast.wants(sampled, seen["availability"].value):
            return
        self._vain += bool(read_all)
        texts = texts_of(page) if read_all and (self._alert or doubtful - _NOWHERE) else []
        kept = _Waiting(texts, seen, fields, doubtful)
        self._waiting[_address(page.url)] = kept
        if texts and "name" in doubtful:
            self._unnamed.append((page.url, texts))
        if len(self._waiting) > _MOST_WAITING:
            self._waiting.popitem(last=False)

    def wanted(self) -> list[str]:
        """Addresses of the products whose stored values are asked for."""
        return list(self._waiting)

    def recall(
        self, url: str, stored: Mapping[str, Any] | None
    ) -> Iterator[tuple[str, str | None]]:
        """Take a product's stored values (None: it has none).

        Yields fields and their new places; None where what the pages tell is believed as it is.
        """
        page = self._waiting.pop(url, None)
        if page is None or stored is None:
            return
        self.changes += self.contrast.note(page.fields, page.seen, stored)
        if self._is_believed(page, stored):
            yield "currency", None
        for field, search in self._searches.items():
            known = _known(field, stored)
            if known is None:
                continue
            if _same(field, page.read(field), known):
                search.fit(field, known, page.texts)
                if search.fits >= _CALM:
                    self._searches[field], self._vain = _Search(), 0
                continue
            places = [
                (place, text)
                for place, value, text in values(field, page.texts)
                if _same(field, value, known)
            ]
            if _speaks_against(field, page, known, places):
                self._alert = _ALERT
                exchanged = any(_is_exchanged(page.read(field), known, t) for _, t in places)
                if not page.texts:
                    continue
                search.add(known, [BELOW] if exchanged else [place for place, _ in places])
                if (place := search.found()) is not None:
                    self._searches[field], self._vain = _Search(), 0
                    yield field, place

    def _is_believed(self, page: _Waiting, stored: Mapping[str, Any]) -> bool:
        """Whether page after page the doubtful currency is the one that is stored by now."""
        is_stored = page.read("currency") == stored.get("currency")
        self._believed += is_stored and "currency" in page.doubtful
        if self._believed < _ENOUGH:
            return False
        self._believed = 0
        return True

    def name_place(self) -> str | None:
        """Where the names are, told by the newest pages whose name is doubtful."""
        place = name_place(self._unnamed)
        if place is not None:
            self._unnamed.clear()
        return place

    def again(self) -> list[str]:
        """Addresses of the newest pages: what was read of them may be wrong or missing."""
        urls = self.newest(_MOST_URLS)
        self._newest.clear()
        return urls

    def newest(self, most: int) -> list[str]:
        """Addresses of so many of the newest pages."""
        return list(dict.fromkeys(map(_address, self._newest)))[-most:]


def _address(url: str) -> str:
    """The address under which a page's product is stored."""
    return tidied(url) or url


def _known(field: str, stored: Mapping[str, Any]) -> Any:
    value = stored.get(field)
    return amount(value) if field == "price" else value


def _same(field: str, one: Any, other: Any) -> bool:
    if one is None:
        return False
    if field == "price":
        return bool(one == other)
    return " ".join(str(one).split()).casefold() == " ".join(str(other).split()).casefold()


def _contradicts(field: str, read: Any, known: Any, places: list[tuple[str, Text]]) -> bool:
    """Whether a value that nothing speaks against is no change of the one before.

    Prices change; one that is many times another is another amount. A price before a reduction is
    never lower than the price: where an amount that is marked so is what the product cost, the
    template has exchanged the two. Shops have to show the lowest price of late as well, but say so.
    """
    if field != "price" or not read or not known:
        return field != "price" and read is None
    if max(read, known) > _FAR * min(read, known):
        return True
    return any(_is_exchanged(read, known, text) for _, text in places)


def _speaks_against(field: str, page: _Waiting, known: Any, places: list[tuple[str, Text]]) -> bool:
    """Whether a page may be one whose value is read in the wrong place."""
    read = page.read(field)
    if field == "price" and _is_reduced(read, known, places):
        return False
    return bool(page.texts and field in page.doubtful) or _contradicts(field, read, known, places)


def _is_reduced(read: Any, known: Any, places: list[tuple[str, Text]]) -> bool:
    """Whether a page shows the price of before, marked as such, beside a lower one: a sale."""
    is_lower = isinstance(read, Decimal) and isinstance(known, Decimal) and read < known
    return is_lower and any(text.struck for _, text in places)


def _is_exchanged(read: Any, known: Any, text: Text) -> bool:
    if not isinstance(read, Decimal) or not isinstance(known, Decimal):
        return False
    return known < read and text.struck and not text.labelled

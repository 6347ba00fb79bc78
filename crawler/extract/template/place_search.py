"""Find the new place of a field by the stored values of its products.

Pages with a doubtful value, and a sample of the others, wait for their products' stored values
(`recall`). If these stand in one place on many pages, the field is read from that place. The
literature calls this data-driven wrapper repair: stored values and many pages replace labels.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterator, Mapping
from decimal import Decimal
from math import comb, log
from typing import Any

import attrs

from crawler.extract.page.page import Page
from crawler.extract.template.mass_changes import Change, Contrast, amount
from crawler.extract.template.observation import Observation
from crawler.extract.template.product_names import (
    MIN_UNTITLED_PAGES,
    PageTexts,
    name_place,
    own_names_place,
)
from crawler.extract.template.profile import SAMPLE_INTERVAL, is_sampled
from crawler.extract.template.stock_runs import address_of
from crawler.extract.template.stored_form import stored_form
from crawler.extract.template.values_by_place import PLACED, Text, texts_of, values
from scrapy_seine.attrs_bases import Record, Value

#: Pages that must agree on a place, and their share of the pages that contradict a stored value.
_MIN_HITS, _MIN_HIT_SHARE = 6, 0.6
#: The largest probability that so many stored values stand in one place by chance, as a logarithm,
#: and the smallest one for a single page: a shop with a few prices has them in other products' tiles as well.
_MAX_CHANCE, _MIN_PAGE_CHANCE = log(1e-4), 0.02
#: Consecutive pages with the stored value, after which contradicting pages are forgotten.
_FORGET_AFTER = 40
#: Pages that wait for their product's stored values, and newest addresses that are kept.
_MAX_WAITING, _MAX_URLS = 24, 60
#: After a page that contradicts its stored values, the texts of so many pages are read.
_ALERT_PAGES = 24
#: Pages with another price than the stored one, of so many compared ones, before texts are read,
#: and pages until texts are read again for that.
_MIN_DIFFERENT, _COMPARED_PAGES, _ALERT_INTERVAL = 4, 16, 500
#: Pages whose texts are read in vain, before only a sample of pages is read.
_MAX_VAIN_PAGES = 60
#: Pages with a doubtful price that must show it.
_MIN_SHOWN = 5
#: Pages with a few names that are compared.
_MIN_ALIKE = 12
#: A price that differs by this factor from the stored one, on many pages, is another amount.
_FAR_RATIO = Decimal("2.5")
#: A currency has no place on the page, because the stored values alone decide about it.
_PLACELESS_FIELDS = frozenset({"currency"})
#: The place of a price that is marked as the regular one, but is lower than the other price.
BELOW = "below"


@attrs.frozen(eq=False, repr=False)
class _Waiting(Value):
    texts: list[Text]
    observations: Mapping[str, Observation]
    fields: Mapping[str, Any]
    doubtful: frozenset[str]

    def value_of(self, field: str) -> Any:
        """Return the page's value of a field."""
        return self.observations[field].value if field in self.observations else None


@attrs.define(eq=False, repr=False)
class _Search(Record):
    """Counts where one field's stored values stand on the pages that contradict them."""

    pages: int = 0
    hits: Counter[str] = attrs.Factory(Counter)
    stored_values: Counter[str] = attrs.Factory(Counter)
    contradicted: set[str] = attrs.Factory(set)
    """Places that have another value on a page whose read value is the stored one."""
    agreeing: int = 0
    page_values: set[str] = attrs.Factory(set)
    """The different values that contradicting pages have."""

    def add(self, value: Any, places: list[str]) -> None:
        """Count a page that contradicts its product's stored value, and the value's places."""
        self.pages += 1
        self.agreeing = 0
        self.stored_values[str(value)] += 1
        self.hits.update(places)

    def fit(self, field: str, stored_value: Any, texts: list[Text]) -> None:
        """Count a page whose read value is the stored one."""
        self.agreeing += 1
        if self.hits:
            values_at = {
                place: value for place, value, _ in values(field, texts) if place in self.hits
            }
            self.contradicted.update(
                place
                for place in values_at
                if not _is_stored_value(field, values_at[place], stored_value)
            )

    def place(self) -> str | None:
        """Return the place where the stored values stand; None if too few pages agree."""
        if self.pages < _MIN_HITS:
            return None
        candidates = [
            (place, hits) for place, hits in self.hits.items() if place not in self.contradicted
        ]
        place, hits = max(candidates, key=lambda pair: pair[1], default=("", 0))
        if place == BELOW and len(self.page_values) < _MIN_HITS // 2:
            return None  # one amount of all pages is no price above another one
        is_usual = hits >= max(_MIN_HITS, _MIN_HIT_SHARE * self.pages)
        return place if is_usual and self._chance(hits) < _MAX_CHANCE else None

    def _chance(self, hits: int) -> float:
        """Return an upper bound of the probability that another product's values hit as often.

        As a logarithm, because no float holds the number of choices of a thousand pages.
        """
        pairs = sum(times * (times - 1) for times in self.stored_values.values())
        alike = max(_MIN_PAGE_CHANCE, pairs / (self.pages * (self.pages - 1)))
        return log(comb(self.pages, hits)) + hits * log(alike)


@attrs.define(eq=False, repr=False)
class Mender(Record):
    """Searches the new places of fields on the pages of one make."""

    _waiting: OrderedDict[str, _Waiting] = attrs.Factory(OrderedDict)
    _searches: dict[str, _Search] = attrs.Factory(lambda: {name: _Search() for name in PLACED})
    _unnamed: deque[PageTexts] = attrs.Factory(lambda: deque(maxlen=MIN_UNTITLED_PAGES))
    """The newest pages whose name is doubtful."""
    _newest: deque[str] = attrs.Factory(lambda: deque(maxlen=_MAX_URLS))
    pages: int = 0
    _alert: int = 0
    _vain: int = 0
    """Pages whose texts were read since the last place was found."""
    _different: deque[bool] = attrs.Factory(lambda: deque(maxlen=_COMPARED_PAGES))
    """Whether the newest compared pages have another price than the stored one."""
    _next_alert: int = 0
    """The page from which on texts are read again because of such pages."""
    _shown: deque[bool] = attrs.Factory(lambda: deque(maxlen=_MIN_HITS))
    """Whether the newest pages with a doubtful price show it, and not as the one before."""
    repeats_names: bool = False
    """Whether the newest pages share a few names, though no name is doubtful."""
    _alike: deque[PageTexts] = attrs.Factory(lambda: deque(maxlen=_MIN_ALIKE))
    """Those pages."""
    _next_names: int = 0
    """The page from which on such pages are read again."""
    _names_interval: int = _MIN_ALIKE
    """Pages until then; twice as many each time, because a dozen pages may have two names twice."""
    _believed: int = 0
    """Pages whose doubtful currency equals their product's stored one."""
    contrast: Contrast = attrs.Factory(Contrast)
    changes: list[Change] = attrs.Factory(list)
    """Changes that all stored products share, not reported yet."""

    def note(
        self,
        page: Page,
        observations: Mapping[str, Observation],
        doubtful: frozenset[str],
        fields: Mapping[str, Any],
    ) -> None:
        """Keep a page if its values must be compared with the stored ones."""
        self.pages += 1
        self._newest.append(page.url)
        self._alert = max(0, self._alert - 1)
        # Only for pages that may show a new place, because reading all texts costs as much as parsing.
        read_all = (doubtful or self._alert) and (
            self._vain < _MAX_VAIN_PAGES or is_sampled(self.pages, 2 * SAMPLE_INTERVAL)
        )
        if not self.repeats_names:
            self._alike.clear()  # of pages that are no run, the usual place has different names
        elif self.pages >= self._next_names:
            self._alike.append((page.url, texts_of(page)))
        sampled = bool(read_all) or is_sampled(self.pages)
        stock = observations["availability"].value
        if not self.contrast.needs_comparison(sampled, stock, page.url):
            return
        self._vain += bool(read_all)
        texts = texts_of(page) if read_all and (self._alert or doubtful - _PLACELESS_FIELDS) else []
        waiting = _Waiting(texts, observations, fields, doubtful)
        self._waiting[address_of(page.url)] = waiting
        if texts and "name" in doubtful:
            self._unnamed.append((page.url, texts))
        if texts and "price" in doubtful and "price" in observations:
            self._shown.append(_is_shown(observations["price"], texts))
        if len(self._waiting) > _MAX_WAITING:
            self._waiting.popitem(last=False)

    def awaited_pages(self) -> list[str]:
        """Return the addresses of the pages that wait for their products' stored values."""
        return list({**self._waiting, **self.contrast.stock.requested})

    def recall(
        self, url: str, stored: Mapping[str, Any] | None
    ) -> Iterator[tuple[str, str | None]]:
        """Compare a waiting page with its product's stored values (None: it has none).

        Yield fields with their new places; a place of None means that the pages' value is believed.
        """
        page, requested = self._waiting.pop(url, None), self.contrast.stock.requested
        if page is None and stored is not None and url in requested:
            self.changes += self.contrast.note_requested(url, stored)
        requested.pop(url, None)
        if page is None or stored is None:
            return
        self.changes += self.contrast.note(page.fields, page.observations, stored)
        if self._is_believed(page, stored):
            yield "currency", None
        for field in self._searches:
            stored_value = _stored_value(field, stored)
            place = None if stored_value is None else self._find(field, page, stored_value)
            if place is not None:
                self._searches[field], self._vain = _Search(), 0
                self._waiting.clear()  # they were read in the wrong place, and are read again
                yield field, place

    def _find(self, field: str, page: _Waiting, stored_value: Any) -> str | None:
        """Compare one field of a page; return its new place once enough pages agree on it."""
        search, page_value = self._searches[field], page.value_of(field)
        if _is_stored_value(field, page_value, stored_value):
            self._note_difference(field, False)
            search.fit(field, stored_value, page.texts)
            if search.agreeing >= _FORGET_AFTER:
                self._searches[field], self._vain = _Search(), 0
            return None
        places = [
            (place, text)
            for place, value, text in values(field, page.texts)
            if _is_stored_value(field, value, stored_value)
        ]
        if field == "price" and _is_sale(page, stored_value, places):
            return None
        if _is_suspect(field, page, stored_value, places):
            self._alert = _ALERT_PAGES
        elif field == "price" and page_value is not None:
            self._note_difference(field, True)
        else:
            return None
        if not page.texts:
            return None
        is_swapped = any(_is_swapped(page_value, stored_value, text) for _, text in places)
        search.add(stored_value, [BELOW] if is_swapped else [place for place, _ in places])
        search.page_values.add(str(page_value))
        return search.place()

    def _note_difference(self, field: str, differs: bool) -> None:
        """Count a compared price; if many differ, read whether the pages show the stored ones."""
        if field != "price":
            return
        self._different.append(differs)
        if self.pages >= self._next_alert and sum(self._different) >= _MIN_DIFFERENT:
            self._next_alert = self.pages + _ALERT_INTERVAL
            self._alert = max(self._alert, _ALERT_PAGES)
            self._vain = min(self._vain, _MAX_VAIN_PAGES - _ALERT_PAGES)

    def _is_believed(self, page: _Waiting, stored: Mapping[str, Any]) -> bool:
        """Whether many pages' doubtful currency equals their products' stored one by now."""
        currency = page.value_of("currency")
        is_stored = currency is not None and currency == stored.get("currency")
        self._believed += is_stored and "currency" in page.doubtful
        if self._believed < _MIN_HITS:
            return False
        self._believed = 0
        return True

    @property
    def shows_price(self) -> bool:
        """Whether nearly all of the newest pages with a doubtful price show it as an amount."""
        return len(self._shown) >= _MIN_SHOWN and sum(self._shown) >= len(self._shown) - 1

    def name_place(self) -> str | None:
        """Return the place of the names on the newest pages whose name is doubtful."""
        place = name_place(self._unnamed)
        if place is not None:
            self._unnamed.clear()
        return place

    def place_beside_repeated(self) -> str | None:
        """Return the place of each page's own name, where the name's usual place repeats a few."""
        if len(self._alike) < _MIN_ALIKE:
            return None
        place = own_names_place(self._alike)
        self._alike.clear()
        self._next_names = self.pages + self._names_interval
        self._names_interval = min(2 * self._names_interval, _ALERT_INTERVAL)
        return place

    def take_newest(self) -> list[str]:
        """Return the newest pages' addresses, once, because their values may be wrong or missing."""
        urls = self.newest(_MAX_URLS)
        self._newest.clear()
        return urls

    def newest(self, limit: int) -> list[str]:
        """Return the addresses of the newest pages, at most *limit*."""
        return list(dict.fromkeys(map(address_of, self._newest)))[-limit:]


def _is_shown(price: Observation, texts: list[Text]) -> bool:
    """Whether a page shows a price as an amount, and not as the one before a lower price."""
    visible_price = price.votes.get("text")
    is_lowest = (
        visible_price is not None and price.value is not None and price.value < visible_price
    )
    return any(
        price.value in text.amounts
        # In one line with the price before a reduction, the lower amount is not struck.
        and (is_lowest or not text.struck or price.value < max(text.amounts))
        for text in texts
    )


def _stored_value(field: str, stored: Mapping[str, Any]) -> Any:
    value = stored.get(field)
    return amount(value) if field == "price" else value


def _is_stored_value(field: str, value: Any, stored_value: Any) -> bool:
    if value is None:
        return False
    if field == "price":
        return bool(value == stored_value)
    return stored_form(value) == stored_form(stored_value)


def _contradicts(
    field: str, page_value: Any, stored_value: Any, places: list[tuple[str, Text]]
) -> bool:
    """Whether a value without a doubt cannot be a change of the stored one.

    Prices change, but a price many times the stored one is another amount. So is a price beside the
    stored one, unless that is struck, or words may call it the lowest recent price, which shops must
    show. A regular price is never lower than the price: if the stored price stands in an amount
    marked as regular, the template has swapped the two.
    """
    if field != "price" or not page_value or not stored_value:
        return field != "price" and page_value is None
    if max(page_value, stored_value) > _FAR_RATIO * min(page_value, stored_value):
        return True
    return any(
        _is_swapped(page_value, stored_value, text) or not (text.struck or text.labelled)
        for _, text in places
    )


def _is_suspect(
    field: str, page: _Waiting, stored_value: Any, places: list[tuple[str, Text]]
) -> bool:
    """Whether the page's value may have been read from the wrong place."""
    return bool(page.texts and field in page.doubtful) or _contradicts(
        field, page.value_of(field), stored_value, places
    )


def _is_sale(page: _Waiting, stored_value: Any, places: list[tuple[str, Text]]) -> bool:
    """Whether a page shows the stored price as the regular one beside a lower price.

    Where all sources of a page have the lower price, it needs no mark.
    """
    page_value = page.value_of("price")
    if amount(page.fields.get("regular_price")) == stored_value and "price" not in page.doubtful:
        return True
    is_lower = (
        isinstance(page_value, Decimal)
        and isinstance(stored_value, Decimal)
        and page_value < stored_value
    )
    if not is_lower:
        return False
    votes = page.observations["price"].votes
    is_confirmed = len(votes) > 1 and all(value == page_value for value in votes.values())
    return is_confirmed or any(text.struck for _, text in places)


def _is_swapped(page_value: Any, stored_value: Any, text: Text) -> bool:
    if not isinstance(page_value, Decimal) or not isinstance(stored_value, Decimal):
        return False
    return stored_value < page_value and text.struck and not text.labelled

"""Find values that contradict the stored product: jumps, currencies, foreign keys. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import attrs
import orjson

from crawler.extract.address_kinds import without_origin
from crawler.extract.template.mass_changes import amount, is_far
from crawler.extract.template.page_doubts import FOREIGN
from crawler.stores.rows import ProductRow
from scrapy_seine.attrs_bases import Value

#: A value that a page still has this long after its first doubt is accepted.
SECOND_LOOK = timedelta(hours=1)
#: A product whose own page was not seen for this long loses its key to another page.
_ABANDONED_AFTER = timedelta(days=7)
#: A far price needs this confidence; one that differs by this factor needs a second look.
_SURE_CONFIDENCE, _LEAP_FACTOR = 0.97, 20
#: Largest number of prices of a site that jump at once without a changed template.
_MAX_JUMPS = 10
_WORDS = re.compile(r"\w+")
#: Kinds that a second look cannot settle, because the page has the same contradiction each time.
_LASTING_KINDS = frozenset({"missing", "repeated", "order", "cut", FOREIGN})
#: Doubts that are none where a page marks the stored price as the one before: products that are
#: reduced to one price, or behind a new word such as "now".
_DOUBTS_OF_SALES = frozenset({("price", "repeated"), ("price", "make")})
#: Kinds that need several pages to notice, so that the first of them are stored already.
RESTORED_KINDS = frozenset({"repeated", "changed"})
#: A product is stored only if these fields are good.
_ESSENTIAL_FIELDS = frozenset({"external_id", "name"})


@attrs.frozen(eq=False, repr=False)
class Stored(Value):
    """The columns of a stored product that doubts need."""

    item: Mapping[str, Any]
    url: str
    scraped_at: datetime
    earlier_values: Mapping[str, Any] = attrs.Factory(dict)
    """Values from before the changes of the last `SECOND_LOOK`, by field."""


class EarlierDoubt(NamedTuple):
    """A value that was doubted when the page was read before."""

    value: Any
    first_at: datetime
    jumps: int
    """Number of the site's prices that are doubtful because they jumped."""
    mixed: bool = False
    """Whether other products of the site still have this product's stored value."""


@attrs.frozen(eq=False, repr=False)
class Doubtful(Value):
    """One value that is not stored."""

    row: ProductRow
    field: str
    kind: str
    reason: str
    value: Any
    good_value: Any

    @property
    def is_essential(self) -> bool:
        """Whether the whole page cannot be stored."""
        return self.field in _ESSENTIAL_FIELDS and self.good_value is None


def doubts_of(row: ProductRow, stored_product: Stored | None) -> list[Doubtful]:
    """Return the doubtful values of a row compared with the stored product. Pure."""
    item = orjson.loads(row.body)
    if stored_product is not None and (reason := _key_conflict(item, row, stored_product)):
        if not _is_more_certain(item, row, stored_product):
            return [Doubtful(row, "external_id", "conflict", reason, item, None)]
        # The stored page is another's: its values are no history of this product.
        other_page = attrs.evolve(row, url=stored_product.url, scraped_at=stored_product.scraped_at)
        reason = f"its key is that of {str(item.get('name'))[:80]!r} at {row.url[:200]}"
        conflict = Doubtful(
            other_page, "external_id", "conflict", reason, stored_product.item, row.external_id
        )
        return [conflict, *doubts_of(row, None)]
    stored_item: Mapping[str, Any] = stored_product.item if stored_product is not None else {}
    doubts = [
        Doubtful(
            row, field, _kind(field, kind, item, stored_item), reason, item.get(field), good_value
        )
        for field, (kind, reason) in row.doubts.items()
        for good_value in (_good_value(field, kind, item, stored_product),)
        if (
            item.get(field) != good_value
            and not ((field, kind) in _DOUBTS_OF_SALES and _is_marked_sale(item, good_value))
            if stored_product is not None
            else _applies_to_new(field, kind)
        )
    ]
    if "currency" in row.doubts and not any(doubt.field == "currency" for doubt in doubts):
        # The currency is the stored one, but a new price may be in another.
        doubts += _with_currency(row, item, stored_item)
    if "price" not in row.doubts and (reason := _price_jump(item, stored_item)):
        doubts.append(Doubtful(row, "price", "jump", reason, item["price"], stored_item["price"]))
    if reason := _shortened_name(item, stored_item):
        doubts.append(Doubtful(row, "name", "cut", reason, item["name"], stored_item["name"]))
    if reason := _shortened_gtin(item, stored_item):
        doubts.append(Doubtful(row, "gtin", "cut", reason, item["gtin"], stored_item["gtin"]))
    if "currency" not in row.doubts and (reason := _currency_change(item, stored_item)):
        doubts.append(
            Doubtful(row, "currency", "turned", reason, item["currency"], stored_item["currency"])
        )
    return doubts


def conflicts_within(rows: Sequence[ProductRow]) -> list[Doubtful]:
    """Return the doubts about pages of one batch that claim the key of another page in it. Pure.

    Of each two pages, the earlier one counts as stored, as in two batches.
    """
    kept_rows: dict[tuple[str, str], ProductRow] = {}
    conflicts = []
    for row in sorted(rows, key=lambda row: row.scraped_at):
        key = row.site_id, row.external_id
        kept = kept_rows.setdefault(key, row)
        if not row.judged or kept.url == row.url:
            kept_rows[key] = row
            continue
        earlier = Stored(orjson.loads(kept.body), kept.url, kept.scraped_at)
        doubt = next((d for d in doubts_of(row, earlier) if d.kind == "conflict"), None)
        if doubt is None or not doubt.is_essential:
            kept_rows[key] = row
        if doubt is not None:
            conflicts.append(doubt if doubt.is_essential else attrs.evolve(doubt, row=kept))
    return conflicts


def _applies_to_new(field: str, kind: str) -> bool:
    """Whether a doubt also applies to products that are not stored yet.

    Listings that have sold-out products at their end show page after page of them, and a few of a
    shop's products may have a button without words for their stock.
    """
    if field == "availability" and kind in {"repeated", "place"}:
        return False
    return kind != "make" and (kind != "changed" or field == "external_id")


def _is_marked_sale(item: Mapping[str, Any], stored_price: Any) -> bool:
    """Whether a page shows the stored price as the regular one beside a lower price.

    A shop may sell some products for one price. A price that a template gives to all products
    has no such regular price beside it.
    """
    price, regular = amount(item.get("price")), amount(item.get("regular_price"))
    if price is None or regular is None:
        return False
    return price < regular == amount(stored_price)


def _kind(field: str, kind: str, item: Mapping[str, Any], stored_item: Mapping[str, Any]) -> str:
    """Return the doubt's kind: `order` where a price in a new place is the stored regular one."""
    regular = amount(stored_item.get("regular_price"))
    is_moved_price = field == "price" and kind in {"place", "make"} and regular is not None
    return "order" if is_moved_price and amount(item.get("price")) == regular else kind


def _with_currency(
    row: ProductRow, item: Mapping[str, Any], stored_item: Mapping[str, Any]
) -> list[Doubtful]:
    """Return the doubt about a new price whose currency is doubtful."""
    price, stored_price = item.get("price"), stored_item.get("price")
    if "price" in row.doubts or stored_price is None or price == stored_price:
        return []
    kind, reason = row.doubts["currency"]
    return [Doubtful(row, "price", kind, f"its currency: {reason}", price, stored_price)]


def _good_value(
    field: str, kind: str, item: Mapping[str, Any], stored_product: Stored | None
) -> Any:
    """Return the value to keep: for a repeated value stored lately, the one before it."""
    stored_value = None if stored_product is None else stored_product.item.get(field)
    if stored_product is None or kind not in RESTORED_KINDS or item.get(field) != stored_value:
        return stored_value
    return stored_product.earlier_values.get(field, stored_value)


def _key_conflict(item: Mapping[str, Any], row: ProductRow, stored: Stored) -> str | None:
    """Return why a page shows another product than the one stored under its key; None: the same.

    A product has many URLs, and its name may change. Only another name at another URL, or at the
    URL of a replaced product, is a conflict while the stored page was seen lately.
    """
    if item.get("name") == stored.item.get("name"):
        return None
    if row.scraped_at - stored.scraped_at > _ABANDONED_AFTER:
        return None
    urls = {stored.url, stored.item.get("canonical_url", "")}
    if row.url != stored.url and item.get("canonical_url") in urls:
        return None
    gtins = item.get("gtin"), stored.item.get("gtin")
    if gtins[0] is not None and gtins[0] == gtins[1]:
        return None
    words, stored_words = (_words(record.get("name")) for record in (item, stored.item))
    if 2 * len(words & stored_words) >= min(len(words), len(stored_words)):
        return None
    stored_name = str(stored.item.get("name"))[:80]
    if row.url != stored.url:
        return f"its key is that of {stored_name!r} at {stored.url[:200]}"
    return f"its page was that of {stored_name!r} before" if _is_replaced(item, stored) else None


def _is_more_certain(item: Mapping[str, Any], row: ProductRow, stored: Stored) -> bool:
    """Whether of two pages with one key the new one is the product's, and the stored one is not.

    It has a price, or its URL the key, which the stored one lacks; and it lacks neither of the two
    that the stored one has.
    """
    if row.url == stored.url:
        return False
    key = row.external_id.casefold()
    signs = [
        (record.get("price") is not None, key in _words(without_origin(url)))
        for record, url in ((item, row.url), (stored.item, stored.url))
    ]
    return signs[0] != signs[1] and all(new >= old for new, old in zip(*signs, strict=True))


def _is_replaced(item: Mapping[str, Any], stored: Stored) -> bool:
    """Whether a page with another name than the stored one also has another product's number.

    Without numbers, a URL in the stored name's words counts: shops show the next product on the
    page of a sold-out one.
    """
    numbers = item.get("sku"), stored.item.get("sku")
    if None not in numbers:
        return numbers[0] != numbers[1]
    in_url = _words(without_origin(stored.url).replace("_", "-"))
    words, stored_words = (_words(record.get("name")) for record in (item, stored.item))
    return 2 * len(stored_words & in_url) > len(stored_words) and not words <= in_url


def _price_jump(item: Mapping[str, Any], stored_item: Mapping[str, Any]) -> str | None:
    """Return why a new price is doubtful; None: it is accepted."""
    price, stored_price = amount(item.get("price")), amount(stored_item.get("price"))
    if stored_price and _is_zero(item.get("price")):
        return f"it was {stored_price}, and now is 0"
    if not price or not stored_price or item.get("currency") != stored_item.get("currency"):
        return None
    if _is_marked_sale(item, stored_price):
        return None
    factor = max(price / stored_price, stored_price / price)
    is_sure = item.get("confidence", {}).get("price", 1) >= _SURE_CONFIDENCE
    if not is_far(price, stored_price) or (factor < _LEAP_FACTOR and is_sure):
        return None
    return f"it was {stored_price}, and {'one source says' if not is_sure else 'now is'} {price}"


def _is_zero(price: Any) -> bool:
    """Whether a page has a price, and it is 0: templates write that where a price is missing."""
    return price is not None and not str(price).strip("0.")


def _shortened_name(item: Mapping[str, Any], stored_item: Mapping[str, Any]) -> str | None:
    """Return why a name is doubtful: it is the stored one's beginning and dots; None: it is not."""
    name, stored_name = str(item.get("name") or ""), str(stored_item.get("name") or "")
    beginning = name.rstrip("….").rstrip().casefold()
    is_cut = name.endswith(("…", "...")) and len(beginning) < len(stored_name)
    if not (is_cut and beginning and stored_name.casefold().startswith(beginning)):
        return None
    return f"it is the beginning of {stored_name[:80]!r}, which the page had before"


def _shortened_gtin(item: Mapping[str, Any], stored_item: Mapping[str, Any]) -> str | None:
    """Return why a barcode is doubtful: it is a part of the stored one; None: it is not.

    One of ten shortened codes has a valid check digit by chance. Leading zeros may be missing.
    """
    gtin, stored_gtin = str(item.get("gtin") or ""), str(stored_item.get("gtin") or "")
    if (
        not gtin
        or len(gtin) >= len(stored_gtin)
        or gtin not in stored_gtin
        or stored_gtin.lstrip("0") == gtin.lstrip("0")
    ):
        return None
    return f"it is a part of {stored_gtin}, which the page had before"


def _currency_change(item: Mapping[str, Any], stored_item: Mapping[str, Any]) -> str | None:
    """Return why another currency is doubtful; None: it is accepted.

    Shops choose the currency by the client's country, which is that of a worker's exit.
    """
    currency, stored_currency = item.get("currency"), stored_item.get("currency")
    if not currency or not stored_currency or currency == stored_currency:
        return None
    return (
        f"the price was in {stored_currency}, and is in {currency} now: does the worker ask from"
        " another country?"
    )


def _words(name: Any) -> set[str]:
    return set(_WORDS.findall(str(name or "").casefold()))


def is_seen_again(doubt: Doubtful, earlier: EarlierDoubt | None) -> bool:
    """Whether a later reading has the same value, so that it is accepted.

    Four kinds are never accepted: a field that the template lacks is missing each time; many
    jumped prices of a site come from a changed template, which stays, as do prices that all are far
    from the stored ones; and a currency that other products do not have depends on the client's
    country.
    """
    if earlier is None or doubt.kind in _LASTING_KINDS:
        return False
    if doubt.field == "external_id" and doubt.kind != "changed":
        return False
    if doubt.kind in {"jump", "make"} and earlier.jumps > _MAX_JUMPS:
        return False
    is_change_of_prices = doubt.field == "price" and doubt.kind == "changed"
    if is_change_of_prices and is_far(amount(doubt.value), amount(doubt.good_value)):
        return False
    if doubt.field == "currency" and earlier.mixed:
        return False
    is_late_enough = doubt.row.scraped_at - earlier.first_at >= SECOND_LOOK
    return bool(earlier.value == doubt.value and is_late_enough)


def shows_no_product(row: ProductRow) -> bool:
    """Whether a page shows no product, because many pages in a row have the same name."""
    return row.doubts.get("name", ("", ""))[0] == "repeated"

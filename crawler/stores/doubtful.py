"""Keep doubtful values out of the products' table: the last good values stay in it.

Doubts about a single page come from its site's template (`crawler.extract.template`). Two more
need the stored product: a price from one source that is many times the stored one or has another
currency, and a key under which a page with another URL and name is stored. A value that the
product has already is not doubtful, unless it is one that all pages have repeated since. A value
that a later reading of the page has again is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import attrs
import orjson
from psycopg2 import extensions

from crawler.extract.template.mass_changes import amount
from crawler.extract.template.observation import FIELDS
from crawler.stores.queries import query
from crawler.stores.rows import MEANINGFUL, ProductRow, digest_of, fitting
from scrapy_seine.records import Value
from scrapy_seine.sinks.postgres.database import transaction

#: A value that a page still has this long after its first doubt is accepted.
SECOND_LOOK = timedelta(hours=1)
#: How long an operator's acceptance of a site's field lasts.
ACCEPTED_FOR = timedelta(days=1)
#: A product whose own page was not seen for this long loses its key to another page.
_ABANDONED = timedelta(days=7)
#: A price that changed by the first factor needs this confidence; by the second, a second look.
_JUMP, _LEAP, _SURE = 5, 20, 0.97
#: Fields that are stored together, because a price is wrong with another currency.
_WITH = {"price": ("regular_price", "currency"), "currency": ("price", "regular_price")}
#: Prices of a site that may jump at once; more come from a changed template.
_FEW = 10
_WORDS = re.compile(r"\w+")
#: Kinds that a second look cannot settle, because the page has the same contradiction each time.
_LASTING = frozenset({"missing", "repeated", "order", "cut"})
#: Kinds that need several pages to notice, so that the first of them are stored already.
_TAKEN_BACK = frozenset({"repeated", "changed"})
#: A product is stored only if these fields are good.
_ESSENTIAL = frozenset({"external_id", "name"})


@attrs.frozen(eq=False, repr=False)
class Stored(Value):
    """The columns of a stored product that doubts need."""

    item: Mapping[str, Any]
    url: str
    scraped_at: datetime
    lately: Mapping[str, Any] = attrs.Factory(dict)
    """Values from before the changes of the last `SECOND_LOOK`, by field."""


class EarlierDoubt(NamedTuple):
    """A value that was doubted when the page was read before."""

    value: Any
    first_at: datetime
    jumps: int
    """Prices of the site that are doubtful because they jumped."""
    mixed: bool = False
    """Other products of the site still have this one's stored value."""


@attrs.frozen(eq=False, repr=False)
class Doubtful(Value):
    """One value that is not stored."""

    row: ProductRow
    field: str
    kind: str
    reason: str
    value: Any
    kept: Any

    @property
    def is_essential(self) -> bool:
        """Whether the whole page cannot be stored."""
        return self.field in _ESSENTIAL and self.kept is None


def sort_out(
    cursor: extensions.cursor, rows: Sequence[ProductRow]
) -> tuple[dict[int, ProductRow], list[Doubtful]]:
    """Replace the doubtful values of new and changed *rows* by the stored ones.

    Returns the rows to store, by their index in *rows*, and the values that are not stored.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    stored = _look(cursor, rows)
    earlier = _earlier_doubts(cursor, rows)
    storable: dict[int, ProductRow] = {}
    remaining: list[Doubtful] = []
    candidates = {
        i: doubts for i, row in enumerate(rows) if (doubts := doubts_of(row, stored.get(i)))
    }
    accepted = _accepted(cursor, {rows[i].site_id for i in candidates})
    for i, row in enumerate(rows):
        doubts = [
            doubt
            for doubt in candidates.get(i, ())
            if (row.site_id, doubt.field) not in accepted
            and not is_seen_again(doubt, earlier.get((i, doubt.field)))
        ]
        remaining += doubts
        if not any(doubt.is_essential for doubt in doubts):
            storable[i] = _with_good_values(row, doubts, stored.get(i)) if doubts else row
    return storable, remaining


def write_doubtful(cursor: extensions.cursor, doubts: Sequence[Doubtful]) -> None:
    """Record the doubtful values: the newest of each field.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    unique = {(*_key(doubt.row), doubt.field): doubt for doubt in doubts}
    records = [
        {
            "s": site,
            "e": key,
            "f": field,
            "d": doubt.kind,
            "r": doubt.reason[:500],
            "u": doubt.row.url,
            "v": doubt.value,
            "k": doubt.kept,
            "t": doubt.row.scraped_at,
        }
        for (site, key, field), doubt in sorted(unique.items(), key=lambda pair: pair[0])
    ]
    if records:
        cursor.execute(query("add_doubtful"), {"rows": orjson.dumps(records).decode()})


def settle_doubts(
    cursor: extensions.cursor, rows: Sequence[ProductRow], remaining: Iterable[Doubtful] = ()
) -> None:
    """Delete the recorded doubts of *rows*, except those about fields in *remaining*.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    if rows:
        fields: dict[tuple[str, str], list[str]] = {}
        for doubt in remaining:
            fields.setdefault(_key(doubt.row), []).append(doubt.field)
        keys = [
            {
                "s": row.site_id,
                "e": row.external_id,
                "t": row.scraped_at,
                "f": fields.get(_key(row), []),
            }
            for row in rows
        ]
        cursor.execute(query("settle_doubtful"), {"rows": orjson.dumps(keys).decode()})


def accept(database_url: str, site_id: str, field: str, until: datetime) -> int:
    """Accept the values of a site's field until *until*; return how many doubtful values wait.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    values = {"site": site_id, "field": field, "until": until}
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute(query("accept_doubts"), values)
        (waiting,) = cursor.fetchone() or (0,)
        return int(waiting)


def _accepted(cursor: extensions.cursor, sites: Iterable[str]) -> set[tuple[str, str]]:
    """Return the sites and fields that an operator accepted."""
    if not sites:
        return set()
    cursor.execute(query("accepted_fields"), {"sites": sorted(sites)})
    return set(cursor.fetchall())


def _look(cursor: extensions.cursor, rows: Sequence[ProductRow]) -> dict[int, Stored]:
    keys = [
        {
            "i": i,
            "s": row.site_id,
            "e": row.external_id,
            "d": bool(row.doubts),
            "r": _taken_back(row),
            "t": row.scraped_at - SECOND_LOOK,
        }
        for i, row in enumerate(rows)
    ]
    cursor.execute(query("look_closer"), {"keys": orjson.dumps(keys).decode()})
    return {i: Stored(*columns) for i, *columns in cursor.fetchall()}


def _taken_back(row: ProductRow) -> list[str]:
    """Return the fields that need their value from before the first wrong page."""
    if _is_no_products(row):
        return list(FIELDS)
    return [field for field, (kind, _) in row.doubts.items() if kind in _TAKEN_BACK]


def _is_no_products(row: ProductRow) -> bool:
    """Whether a page shows no product, because many pages in a row have the same name."""
    return row.doubts.get("name", ("", ""))[0] == "repeated"


def _earlier_doubts(
    cursor: extensions.cursor, rows: Sequence[ProductRow]
) -> dict[tuple[int, str], EarlierDoubt]:
    keys = [{"i": i, "s": row.site_id, "e": row.external_id} for i, row in enumerate(rows)]
    cursor.execute(query("find_doubtful"), {"keys": orjson.dumps(keys).decode()})
    return {(i, field): EarlierDoubt(*columns) for i, field, *columns in cursor.fetchall()}


def doubts_of(row: ProductRow, stored: Stored | None) -> list[Doubtful]:
    """Return the doubtful values of a row compared with the stored product. Pure."""
    item = orjson.loads(row.body)
    stored_item: Mapping[str, Any] = stored.item if stored is not None else {}
    if stored is not None and (reason := _key_conflict(item, row, stored)):
        return [Doubtful(row, "external_id", "conflict", reason, item, None)]
    doubts = [
        Doubtful(
            row, field, _kind(field, kind, item, stored_item), reason, item.get(field), good_value
        )
        for field, (kind, reason) in row.doubts.items()
        for good_value in (_last_good(field, kind, item, stored),)
        if (item.get(field) != good_value if stored is not None else _applies_to_new(field, kind))
    ]
    if "currency" in row.doubts and not any(doubt.field == "currency" for doubt in doubts):
        # The currency is the stored one, but a new price may be in another.
        doubts += _with_currency(row, item, stored_item)
    if "price" not in row.doubts and (reason := _price_jump(item, stored_item)):
        doubts.append(Doubtful(row, "price", "jump", reason, item["price"], stored_item["price"]))
    if reason := _shortened_gtin(item, stored_item):
        doubts.append(Doubtful(row, "gtin", "cut", reason, item["gtin"], stored_item["gtin"]))
    if "currency" not in row.doubts and (reason := _currency_change(item, stored_item)):
        doubts.append(
            Doubtful(row, "currency", "turned", reason, item["currency"], stored_item["currency"])
        )
    return doubts


def _applies_to_new(field: str, kind: str) -> bool:
    """Whether a doubt also applies to products that are not stored yet."""
    return kind != "make" and (kind != "changed" or field == "external_id")


def _kind(field: str, kind: str, item: Mapping[str, Any], stored_item: Mapping[str, Any]) -> str:
    """Return the doubt's kind: `order` where a price in a new place is the stored regular one."""
    regular = amount(stored_item.get("regular_price"))
    is_moved_price = field == "price" and kind == "place" and regular is not None
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


def _last_good(field: str, kind: str, item: Mapping[str, Any], stored: Stored | None) -> Any:
    """Return the value to keep: for a repeated value stored lately, the one before it."""
    stored_value = None if stored is None else stored.item.get(field)
    if stored is None or kind not in _TAKEN_BACK or item.get(field) != stored_value:
        return stored_value
    return stored.lately.get(field, stored_value)


def _key_conflict(item: Mapping[str, Any], row: ProductRow, stored: Stored) -> str | None:
    """Return why a page shows another product than the one stored under its key; None: the same.

    A product has many URLs, and its name may change. Only another name at another URL, while the
    stored page was seen lately, is a conflict.
    """
    if row.url == stored.url or row.scraped_at - stored.scraped_at > _ABANDONED:
        return None
    if item.get("canonical_url") in {stored.url, stored.item.get("canonical_url", "")}:
        return None
    gtins = item.get("gtin"), stored.item.get("gtin")
    if gtins[0] is not None and gtins[0] == gtins[1]:
        return None
    words, stored_words = (_words(record.get("name")) for record in (item, stored.item))
    if 2 * len(words & stored_words) >= min(len(words), len(stored_words)):
        return None
    return f"its key is that of {str(stored.item.get('name'))[:80]!r} at {stored.url[:200]}"


def _price_jump(item: Mapping[str, Any], stored_item: Mapping[str, Any]) -> str | None:
    """Return why a new price is doubtful; None: it is accepted."""
    price, stored_price = amount(item.get("price")), amount(stored_item.get("price"))
    if not price or not stored_price or item.get("currency") != stored_item.get("currency"):
        return None
    if price < stored_price == amount(item.get("regular_price")):
        return None  # a sale: the page shows the stored price as the regular one
    factor = max(price / stored_price, stored_price / price)
    is_sure = item.get("confidence", {}).get("price", 1) >= _SURE
    if factor < _JUMP or (factor < _LEAP and is_sure):
        return None
    return f"it was {stored_price}, and {'one source says' if not is_sure else 'now is'} {price}"


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

    Three kinds are never accepted: a field that the template lacks is missing each time; many
    jumped prices of a site come from a changed template, which stays; and a currency that other
    products do not have depends on the client's country.
    """
    if earlier is None or doubt.kind in _LASTING:
        return False
    if doubt.field == "external_id" and doubt.kind != "changed":
        return False
    if doubt.kind in {"jump", "make"} and earlier.jumps > _FEW:
        return False
    if doubt.field == "currency" and earlier.mixed:
        return False
    is_late_enough = doubt.row.scraped_at - earlier.first_at >= SECOND_LOOK
    return bool(earlier.value == doubt.value and is_late_enough)


def _with_good_values(
    row: ProductRow, doubts: Iterable[Doubtful], stored: Stored | None
) -> ProductRow:
    item = orjson.loads(row.body)
    stored_item: Mapping[str, Any] = stored.item if stored is not None else {}
    if stored is not None and _is_no_products(row):
        for name in MEANINGFUL:
            _set(item, name, stored.lately.get(name, stored_item.get(name)))
    for doubt in doubts:
        _set(item, doubt.field, doubt.kept)
        for name in _WITH.get(doubt.field, ()):
            _set(item, name, stored_item.get(name))
    return attrs.evolve(row, body=fitting(orjson.dumps(item)), content_hash=digest_of(item))


def _set(item: dict[str, Any], name: str, value: Any) -> None:
    if value is None:
        item.pop(name, None)
    else:
        item[name] = value


def _key(row: ProductRow) -> tuple[str, str]:
    return row.site_id, row.external_id

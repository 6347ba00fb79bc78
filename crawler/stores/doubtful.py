"""Keep doubtful values out of the products' table: the last good values stay in it.

Doubts about a single page come from its site's template (`crawler.extract.template`). Two more
need the stored product: a price from one source that is many times the stored one or has another
currency, and a key under which a page with another URL and name is stored. A value that the
product has already is not doubtful, unless it is one that all pages have repeated since. A value
that a later reading of the page has again is accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import attrs
import orjson
from psycopg2 import extensions

from crawler.extract.template.observation import FIELDS
from crawler.stores.content_hash import MEANINGFUL, digest_of
from crawler.stores.doubts_by_history import (
    RESTORED_KINDS,
    SECOND_LOOK,
    Doubtful,
    EarlierDoubt,
    Stored,
    doubts_of,
    is_seen_again,
    shows_no_product,
)
from crawler.stores.queries import query
from crawler.stores.rows import ProductRow, fitting
from scrapy_seine.sinks.postgres.database import transaction

#: How long an operator's acceptance of a site's field lasts.
ACCEPTED_FOR = timedelta(days=1)
#: Fields that are stored together, because a price is wrong with another currency.
_STORED_TOGETHER = {"price": ("regular_price", "currency"), "currency": ("price", "regular_price")}


def replace_doubtful(
    cursor: extensions.cursor, rows: Sequence[ProductRow]
) -> tuple[dict[int, ProductRow], list[Doubtful]]:
    """Replace the doubtful values of new and changed *rows* by the stored ones.

    Returns the rows to store, by their index in *rows*, and the values that are not stored.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    stored_products = _stored_products(cursor, rows)
    earlier_doubts = _earlier_doubts(cursor, rows)
    storable: dict[int, ProductRow] = {}
    remaining: list[Doubtful] = []
    candidates = {
        i: doubts
        for i, row in enumerate(rows)
        if (doubts := doubts_of(row, stored_products.get(i)))
    }
    accepted = _accepted(cursor, {rows[i].site_id for i in candidates})
    for i, row in enumerate(rows):
        doubts = [
            doubt
            for doubt in candidates.get(i, ())
            if (row.site_id, doubt.field) not in accepted
            and not is_seen_again(doubt, earlier_doubts.get((i, doubt.field)))
        ]
        remaining += doubts
        if not any(doubt.is_essential for doubt in doubts):
            storable[i] = _with_good_values(row, doubts, stored_products.get(i)) if doubts else row
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
            "k": doubt.good_value,
            "t": doubt.row.scraped_at,
        }
        for (site, key, field), doubt in sorted(unique.items(), key=lambda pair: pair[0])
    ]
    if records:
        cursor.execute(query("add_doubtful"), {"rows": orjson.dumps(records).decode()})


def settle_doubts(
    cursor: extensions.cursor,
    rows: Sequence[ProductRow],
    remaining: Iterable[Doubtful] = (),
    *,
    are_new: bool = False,
) -> None:
    """Delete the recorded doubts of *rows*, except those about fields in *remaining*.

    A doubt for which a site's pages are read again stays until the crawl's end if its value is
    stored now: the reading of the same crawl would take the value back.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    if rows:
        fields: dict[tuple[str, str], list[str]] = {}
        for doubt in remaining:
            fields.setdefault(_key(doubt.row), []).append(doubt.field)
        values = {_key(row): _values_of(row) for row in rows} if are_new else {}
        keys = [
            {
                "s": row.site_id,
                "e": row.external_id,
                "u": row.url,
                "t": row.scraped_at,
                "f": fields.get(_key(row), []),
                "v": values.get(_key(row), {}),
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


def _stored_products(cursor: extensions.cursor, rows: Sequence[ProductRow]) -> dict[int, Stored]:
    keys = [
        {
            "i": i,
            "s": row.site_id,
            "e": row.external_id,
            "d": bool(row.doubts),
            "r": _fields_to_restore(row),
            "t": row.scraped_at - SECOND_LOOK,
        }
        for i, row in enumerate(rows)
    ]
    cursor.execute(query("look_closer"), {"keys": orjson.dumps(keys).decode()})
    return {i: Stored(*columns) for i, *columns in cursor.fetchall()}


def _fields_to_restore(row: ProductRow) -> list[str]:
    """Return the fields that need their value from before the first wrong page."""
    if shows_no_product(row):
        return list(FIELDS)
    return [field for field, (kind, _) in row.doubts.items() if kind in RESTORED_KINDS]


def _earlier_doubts(
    cursor: extensions.cursor, rows: Sequence[ProductRow]
) -> dict[tuple[int, str], EarlierDoubt]:
    keys = [{"i": i, "s": row.site_id, "e": row.external_id} for i, row in enumerate(rows)]
    cursor.execute(query("find_doubtful"), {"keys": orjson.dumps(keys).decode()})
    return {(i, field): EarlierDoubt(*columns) for i, field, *columns in cursor.fetchall()}


def _with_good_values(
    row: ProductRow, doubts: Iterable[Doubtful], stored_product: Stored | None
) -> ProductRow:
    item = orjson.loads(row.body)
    stored_item: Mapping[str, Any] = stored_product.item if stored_product is not None else {}
    if stored_product is not None and shows_no_product(row):
        for name in MEANINGFUL:
            _set(item, name, stored_product.earlier_values.get(name, stored_item.get(name)))
    for doubt in doubts:
        _set(item, doubt.field, doubt.good_value)
        for name in _STORED_TOGETHER.get(doubt.field, ()):
            _set(item, name, stored_item.get(name))
    return attrs.evolve(row, body=fitting(orjson.dumps(item)), content_hash=digest_of(item))


def _set(item: dict[str, Any], name: str, value: Any) -> None:
    if value is None:
        item.pop(name, None)
    else:
        item[name] = value


def _values_of(row: ProductRow) -> dict[str, Any]:
    item = orjson.loads(row.body)
    return {name: item.get(name) for name in FIELDS}


def _key(row: ProductRow) -> tuple[str, str]:
    return row.site_id, row.external_id

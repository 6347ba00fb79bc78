"""Products read for people: lists paged by a cursor, one product, its history.

A list neither counts rows nor uses OFFSET: each page starts after the last row of the page before,
along an index (migrations 0016, 0017, 0019 to 0021), so that a page costs the same among a
thousand products and a million.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import attrs
import orjson

from crawler.reads.database import Database, Row
from scrapy_seine.attrs_bases import Value

_VALUES = (
    "name, price, regular_price, currency, availability, brand, url,"
    " image, scraped_at, updated_at, first_seen, gone_at"
)
_COLUMNS = f"site_id, external_id, {_VALUES}"
#: The index is on a hash, because a URL may be too long for an index of texts.
_AT_URL = "hashtextextended(url, 0) = hashtextextended(%(url)s, 0) AND url = %(url)s"
#: Separators of words, as in migration 0017.
_PUNCTUATION = re.compile(r"[\s!-/:-@\[-`{-~]+")
#: Words of one search that are used.
_MAX_WORDS = 8
_MAX_WORD_LENGTH = 60
_PLACE = 3
#: Sites in a list to choose from, at most.
MAX_SITES = 500


@attrs.frozen(eq=False, repr=False)
class Order(Value):
    """One order of a list."""

    column: str
    newest_first: bool = True

    @property
    def time(self) -> bool:
        """Whether the column is a time; else it is a price."""
        return self.column != "price"


#: Orders of a list of products; those by price leave out products without one.
ORDERS = {
    "changed": Order("updated_at"),
    "cheapest": Order("price", newest_first=False),
    "dearest": Order("price"),
    "newest": Order("first_seen"),
}
#: Moves of a price, with their signs.
MOVES = {"fell": -1, "rose": 1}


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ProductFilter(Value):
    """The conditions of a list of products; an empty text is no condition."""

    words: str = ""
    """Words of name, brand and numbers, the last one a prefix; or a whole URL."""
    site: str = ""
    stock: str = ""
    """schema.org ItemAvailability."""
    move: str = ""
    """One of MOVES: products whose price moved so, the latest change first."""
    order: str = "changed"
    """One of ORDERS; ignored where *move* is set."""


@attrs.frozen(eq=False, repr=False)
class Listed(Value):
    """One page of a list."""

    rows: list[Row]
    after: str
    """The cursor of the next page; empty: this is the last one."""


async def search_products(
    database: Database, selection: ProductFilter, *, limit: int = 50, after: str = ""
) -> Listed:
    """Return one page of the products that a filter matches, in its order.

    *after* is the cursor of the page before; an unreadable one starts at the first page.
    """
    order = ORDERS.get(selection.order, ORDERS["changed"])
    by_move = selection.move in MOVES
    if by_move:
        order = Order("changed_at")
    statement, params = _statement(selection, order, read_cursor(after, order), by_move=by_move)
    rows = await database.rows(statement, {**params, "limit": limit + 1})
    if len(rows) <= limit:
        return Listed(rows, "")
    return Listed(rows[:limit], _cursor_of(rows[limit - 1], order))


def _statement(
    selection: ProductFilter, order: Order, position: list[str] | None, *, by_move: bool
) -> tuple[str, dict[str, Any]]:
    """Write the query with the conditions in use only, so that the server plans for those."""
    conditions, params = _conditions(selection)
    key = f"{order.column}, site_id, external_id"
    if selection.site and order.column == "first_seen":
        # Written as a range: with an equality, the planner drops the site from the order and scans
        # the index of all sites (5,400 pages at a million products, for a site crawled first).
        conditions.append("site_id >= %(site)s AND site_id <= %(site)s")
        key = "site_id, first_seen, external_id"
    elif selection.site:
        conditions.append("site_id = %(site)s")
    sign, direction = ("<", " DESC") if order.newest_first else (">", "")
    if position:
        cast = "timestamptz" if order.time else "numeric"
        values = {order.column: f"%(p0)s::{cast}", "site_id": "%(p1)s", "external_id": "%(p2)s"}
        conditions.append(f"({key}) {sign} ({', '.join(values[name] for name in key.split(', '))})")
        params |= {f"p{n}": part for n, part in enumerate(position)}
    if order.column == "price":
        conditions.append("price IS NOT NULL")
    columns, source = _COLUMNS, "products"
    if by_move:
        columns = f"{_COLUMNS}, changed_at, old_price, new_price"
        # Without a filter on products, each move's product is looked up by LATERAL, because for a
        # join the planner expected few rows, and sorted all moves of a site for the first 50.
        is_filtered = selection.words or selection.stock
        products = "JOIN products USING (site_id, external_id)" if is_filtered else _ITS
        source = f"({_MOVED}) AS moved {products}"
        params["move"] = MOVES[selection.move]
    where_sql = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    ordered = ", ".join(f"{name}{direction}" for name in key.split(", "))
    # Columns, orders and conditions are constants of this file; a visitor's input is a parameter.
    return f"SELECT {columns} FROM {source}{where_sql} ORDER BY {ordered} LIMIT %(limit)s", params  # noqa: S608


#: The product of each move; OFFSET keeps the planner from turning the look-up into a join.
_ITS = (
    f"CROSS JOIN LATERAL (SELECT {_VALUES} FROM products"  # noqa: S608  # our own texts
    " WHERE (site_id, external_id) = (moved.site_id, moved.external_id) OFFSET 0) AS product"
)
#: The latest change of each product's price, where it moved in the given direction.
_MOVED = """
    SELECT v.site_id, v.external_id, v.changed_at,
           (v.old #>> '{}')::numeric AS old_price, (v.new #>> '{}')::numeric AS new_price
    FROM product_versions v
    WHERE v.field = 'price' AND v.changed_at > now() - interval '30 days'
      AND seine_price_move(v.old, v.new) = %(move)s
      AND CASE v.id WHEN (
          SELECT last.id FROM product_versions last
          WHERE last.site_id = v.site_id AND last.external_id = v.external_id
            AND last.field = 'price'
          ORDER BY last.changed_at DESC, last.id DESC LIMIT 1) THEN true ELSE false END
"""


def _conditions(selection: ProductFilter) -> tuple[list[str], dict[str, Any]]:
    conditions, params = [], {}
    if selection.words.startswith(("http://", "https://")):
        conditions.append(_AT_URL)
        params["url"] = selection.words
    elif selection.words:
        conditions.append("words @@ %(words)s::tsquery")
        params["words"] = words_query(selection.words)
    if selection.site:
        params["site"] = selection.site  # its condition depends on the order
    if selection.stock:
        conditions.append("availability = %(stock)s")
        params["stock"] = selection.stock
    return conditions, params


def words_query(text: str) -> str:
    """Write a tsquery for products that have all of these words, the last one as a prefix.

    A server whose locale is C folds the case of ASCII letters only, so that other words are
    searched in lower, capitalised and upper case.

    >>> words_query("Lamp AB-12")
    "'lamp' & 'ab' & '12':*"
    >>> words_query("öl"), words_query("100%"), words_query("%")
    ("('öl':* | 'Öl':* | 'ÖL':*)", "'100':*", '')
    """
    parts = [part for part in _PUNCTUATION.split(text) if part][:_MAX_WORDS]
    ends = [""] * (len(parts) - 1) + [":*"]
    return " & ".join(map(_word, parts, ends))


def _word(word: str, end: str) -> str:
    word = word[:_MAX_WORD_LENGTH]
    if word.isascii():
        return f"'{word.lower()}'{end}"
    spellings = dict.fromkeys((word.lower(), word.capitalize(), word.upper()))
    return "(" + " | ".join(f"'{spelling}'{end}" for spelling in spellings) + ")"


def _cursor_of(row: Row, order: Order) -> str:
    """Encode the last row of a page for a URL."""
    parts = [str(row[order.column]), row["site_id"], row["external_id"]]
    return base64.urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def read_cursor(text: str, order: Order) -> list[str] | None:
    """Decode a cursor; None where it is not valid for the order.

    >>> read_cursor("WyI5LjkwIiwic2hvcCIsInAxIl0", Order("price"))
    ['9.90', 'shop', 'p1']
    >>> (read_cursor("WyI5LjkwIiwic2hvcCIsInAxIl0", Order("updated_at")),
    ...     read_cursor("?", Order("price")))
    (None, None)
    """
    try:
        parts = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        if not isinstance(parts, list) or [type(part) for part in parts] != [str] * _PLACE:
            return None
        if order.time:
            datetime.fromisoformat(parts[0])
        elif not Decimal(parts[0]).is_finite():
            return None
    except (ValueError, InvalidOperation, binascii.Error):
        return None
    return parts


async def product_at(database: Database, url: str) -> Row | None:
    """Return the product that a URL shows, or None."""
    rows = await database.rows(
        f"SELECT {_COLUMNS} FROM products WHERE {_AT_URL} LIMIT 1",  # noqa: S608  # our own texts
        {"url": url},
    )
    return rows[0] if rows else None


async def product(database: Database, site_id: str, external_id: str) -> Row | None:
    """Return one product with the whole item, or None."""
    rows = await database.rows(
        f"SELECT {_COLUMNS}, item FROM products"  # noqa: S608  # our own list of columns
        " WHERE site_id = %(site)s AND external_id = %(id)s",
        {"site": site_id, "id": external_id},
    )
    return rows[0] if rows else None


async def changes(database: Database, site_id: str, external_id: str) -> list[Row]:
    """Return the newest changes of one product."""
    return await database.rows(
        "SELECT changed_at, field, old, new FROM product_versions"
        " WHERE site_id = %(site)s AND external_id = %(id)s"
        " ORDER BY changed_at DESC, id DESC LIMIT 200",
        {"site": site_id, "id": external_id},
    )


async def doubts(database: Database, site_id: str, external_id: str) -> list[Mapping[str, Any]]:
    """Return the doubtful values of one product that were kept out, with the reasons."""
    return list(
        await database.rows(
            "SELECT field, reason, value, kept, times, seen_at FROM doubtful"
            " WHERE site_id = %(site)s AND external_id = %(id)s ORDER BY field LIMIT 50",
            {"site": site_id, "id": external_id},
        )
    )


async def sites(database: Database) -> list[str]:
    """Return the sites with stored products, MOST_SITES at most."""
    rows = await database.rows(
        "SELECT site_id FROM sites ORDER BY site_id LIMIT %(most)s", {"most": MAX_SITES}
    )
    return [row["site_id"] for row in rows]

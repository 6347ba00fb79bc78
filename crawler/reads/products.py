"""Products read for people: lists that go on from a place, one product, its history.

A list never counts and never skips: each page goes on after the last row of the one before, along
an index (migrations 0016, 0017, 0019 to 0021), so that a page costs the same among a thousand
products and a million.
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
from scrapy_seine.records import Value

_VALUES = (
    "name, price, regular_price, currency, availability, brand, url,"
    " image, scraped_at, updated_at, first_seen, gone_at"
)
_COLUMNS = f"site_id, external_id, {_VALUES}"
#: The index is one of hashes, because a URL may be too long for an index of texts.
_AT_URL = "hashtextextended(url, 0) = hashtextextended(%(url)s, 0) AND url = %(url)s"
#: What parts words, as in migration 0017.
_PUNCTUATION = re.compile(r"[\s!-/:-@\[-`{-~]+")
#: Words of one search that count.
_MOST_WORDS = 8
_LONGEST_WORD = 60
_PLACE = 3
#: Sites that a list to choose from names.
MOST_SITES = 500


@attrs.frozen(eq=False, repr=False)
class Order(Value):
    """One order of a list."""

    column: str
    newest_first: bool = True

    @property
    def time(self) -> bool:
        """Whether the column is a time; else it is a price."""
        return self.column != "price"


#: Orders of a list of products; those by price leave out what has none.
ORDERS = {
    "changed": Order("updated_at"),
    "cheapest": Order("price", newest_first=False),
    "dearest": Order("price"),
    "newest": Order("first_seen"),
}
#: What may have become of a price lately, and the sign of that.
MOVES = {"fell": -1, "rose": 1}


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ProductFilter(Value):
    """Which products are listed; an empty text asks for nothing."""

    words: str = ""
    """Words of name, brand and numbers, the last one a beginning; or a whole URL."""
    site: str = ""
    stock: str = ""
    """schema.org ItemAvailability."""
    move: str = ""
    """One of MOVES: products whose price did that, the latest change first."""
    order: str = "changed"
    """One of ORDERS; what has a move is ordered by when it moved."""


@attrs.frozen(eq=False, repr=False)
class Listed(Value):
    """One page of a list."""

    rows: list[Row]
    after: str
    """Where the next page goes on; empty: this is the last one."""


async def search_products(
    database: Database, wanted: ProductFilter, *, limit: int = 50, after: str = ""
) -> Listed:
    """Return the products that a filter matches, in its order, from a place on.

    *after* comes from the page before; one that cannot be read is the beginning.
    """
    order = ORDERS.get(wanted.order, ORDERS["changed"])
    moved = wanted.move in MOVES
    if moved:
        order = Order("changed_at")
    statement, params = _statement(wanted, order, place_of(after, order), moved=moved)
    rows = await database.rows(statement, {**params, "limit": limit + 1})
    if len(rows) <= limit:
        return Listed(rows, "")
    return Listed(rows[:limit], _place(rows[limit - 1], order))


def _statement(
    wanted: ProductFilter, order: Order, place: list[str] | None, *, moved: bool
) -> tuple[str, dict[str, Any]]:
    """Write the question: only conditions that are asked, so that the server plans for them."""
    conditions, params = _conditions(wanted)
    key = f"{order.column}, site_id, external_id"
    if wanted.site and order.column == "first_seen":
        # An equal site would be no part of the order, and the planner would walk the index of all
        # sites: 5,400 pages at a million products where the site was crawled before the others.
        conditions.append("site_id >= %(site)s AND site_id <= %(site)s")
        key = "site_id, first_seen, external_id"
    elif wanted.site:
        conditions.append("site_id = %(site)s")
    sign, way = ("<", " DESC") if order.newest_first else (">", "")
    if place:
        cast = "timestamptz" if order.time else "numeric"
        at = {order.column: f"%(p0)s::{cast}", "site_id": "%(p1)s", "external_id": "%(p2)s"}
        conditions.append(f"({key}) {sign} ({', '.join(at[name] for name in key.split(', '))})")
        params |= {f"p{n}": part for n, part in enumerate(place)}
    if order.column == "price":
        conditions.append("price IS NOT NULL")
    columns, source = _COLUMNS, "products"
    if moved:
        columns = f"{_COLUMNS}, changed_at, old_price, new_price"
        # Where no product is left out, each is looked up for its move. Of a join the planner
        # thought that it gives few rows, and sorted all moves of a site for the first 50.
        few = wanted.words or wanted.stock
        products = "JOIN products USING (site_id, external_id)" if few else _ITS
        source = f"({_MOVED}) AS moved {products}"
        params["move"] = MOVES[wanted.move]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    ordered = ", ".join(f"{name}{way}" for name in key.split(", "))
    # Our own columns, orders and conditions; what a visitor typed travels as parameters.
    return f"SELECT {columns} FROM {source}{where} ORDER BY {ordered} LIMIT %(limit)s", params  # noqa: S608


#: The product of each move; OFFSET keeps it a look-up for one row after the other.
_ITS = (
    f"CROSS JOIN LATERAL (SELECT {_VALUES} FROM products"  # noqa: S608  # our own texts
    " WHERE (site_id, external_id) = (moved.site_id, moved.external_id) OFFSET 0) AS product"
)
#: The latest change of each product's price, where it went the way that is asked.
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


def _conditions(wanted: ProductFilter) -> tuple[list[str], dict[str, Any]]:
    conditions, params = [], {}
    if wanted.words.startswith(("http://", "https://")):
        conditions.append(_AT_URL)
        params["url"] = wanted.words
    elif wanted.words:
        conditions.append("words @@ %(words)s::tsquery")
        params["words"] = words_query(wanted.words)
    if wanted.site:
        params["site"] = wanted.site  # its condition depends on the order
    if wanted.stock:
        conditions.append("availability = %(stock)s")
        params["stock"] = wanted.stock
    return conditions, params


def words_query(text: str) -> str:
    """Write the search for products that have all of these words, the last one as a beginning.

    A server whose locale is C knows the case of ASCII letters only: of other words each usual way
    of writing is asked for.

    >>> words_query("Lamp AB-12")
    "'lamp' & 'ab' & '12':*"
    >>> words_query("öl"), words_query("100%"), words_query("%")
    ("('öl':* | 'Öl':* | 'ÖL':*)", "'100':*", '')
    """
    parts = [part for part in _PUNCTUATION.split(text) if part][:_MOST_WORDS]
    ends = [""] * (len(parts) - 1) + [":*"]
    return " & ".join(map(_word, parts, ends))


def _word(word: str, end: str) -> str:
    word = word[:_LONGEST_WORD]
    if word.isascii():
        return f"'{word.lower()}'{end}"
    ways = dict.fromkeys((word.lower(), word.capitalize(), word.upper()))
    return "(" + " | ".join(f"'{way}'{end}" for way in ways) + ")"


def _place(row: Row, order: Order) -> str:
    """Write where a page ended, for an address."""
    parts = [str(row[order.column]), row["site_id"], row["external_id"]]
    return base64.urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def place_of(text: str, order: Order) -> list[str] | None:
    """Read where a page ended; None: there is nothing to read.

    >>> place_of("WyI5LjkwIiwic2hvcCIsInAxIl0", Order("price"))
    ['9.90', 'shop', 'p1']
    >>> place_of("WyI5LjkwIiwic2hvcCIsInAxIl0", Order("updated_at")), place_of("?", Order("price"))
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
    """Return the values of one product that are held back, and why."""
    return list(
        await database.rows(
            "SELECT field, reason, value, kept, times, seen_at FROM doubtful"
            " WHERE site_id = %(site)s AND external_id = %(id)s ORDER BY field LIMIT 50",
            {"site": site_id, "id": external_id},
        )
    )


async def sites(database: Database) -> list[str]:
    """Return the sites that something was stored of, MOST_SITES at most."""
    rows = await database.rows(
        "SELECT site_id FROM sites ORDER BY site_id LIMIT %(most)s", {"most": MOST_SITES}
    )
    return [row["site_id"] for row in rows]

"""Items of any kind as rows: what identifies them, their JSON, and the table they go to."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import orjson
from itemadapter import ItemAdapter, is_item
from psycopg2 import extensions, sql

from scrapy_seine.errors import BadItem, ConfigError
from scrapy_seine.records import Value

#: Name of a table, with its schema or without; PostgreSQL cuts longer ones.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62})?")
#: An escaped zero byte, which JSON may hold and JSONB may not.
_ZERO = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
#: A number that makes workers create the table one after the other (any, the same everywhere).
_LOCK = 0x5E17E
_TABLE = """
CREATE TABLE IF NOT EXISTS {table} (
    spider text NOT NULL,
    key text NOT NULL,
    kind text NOT NULL,
    item jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (spider, key)
)
"""
_UPSERT = """
INSERT INTO {table} AS old (spider, key, kind, item)
SELECT * FROM unnest(%(spiders)s::text[], %(keys)s::text[], %(kinds)s::text[], %(items)s::jsonb[])
ON CONFLICT (spider, key) DO UPDATE
SET kind = excluded.kind, item = excluded.item, updated_at = now()
WHERE (old.kind, old.item) IS DISTINCT FROM (excluded.kind, excluded.item)
"""
_THERE = """
SELECT count(*) FROM {table} JOIN unnest(%(spiders)s::text[], %(keys)s::text[]) AS new (spider, key)
USING (spider, key)
"""


@attrs.frozen(eq=False, repr=False)
class ItemRow(Value):
    """One item."""

    spider: str
    key: str
    kind: str
    """Name of the item's class."""
    body: str
    """JSON."""


def json_of(item: Any) -> str:
    """Return an item (dict, Item, dataclass, attrs, pydantic) as JSON.

    NaN and infinities become null, because JSON has none.

    Raises:
        BadItem: it holds what JSON or PostgreSQL cannot.
    """
    try:
        fields = ItemAdapter(item).asdict()
        try:
            text = orjson.dumps(fields, default=_plain, option=orjson.OPT_NON_STR_KEYS).decode()
        except TypeError:  # an integer of more than 64 bits, half a surrogate pair
            text = json.dumps(fields, default=_plain, allow_nan=False, ensure_ascii=False)
            text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadItem(f"it cannot be stored as JSON: {error}") from None
    if _ZERO.search(text):
        raise BadItem("it cannot be stored as JSONB: a text holds a zero byte")
    return text


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if is_item(value):
        return ItemAdapter(value).asdict()
    shown: Any = type(value)
    if shown.__str__ is object.__str__ and shown.__repr__ is object.__repr__:
        # Its text would be an address of memory.
        raise TypeError(f"a value is {type(value).__name__}")
    return str(value)


def table_name(name: str) -> sql.Identifier:
    """Read SEINE_ITEMS_TABLE.

    Raises:
        ConfigError: it is no name of a table.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"SEINE_ITEMS_TABLE={name!r} is no name of a table, such as items or shop.items"
        )
    return sql.Identifier(*name.split("."))


#: Says what identifies an item; None where nothing does.
KeyOf = Callable[[Any], str | None]


def key_reader(named: Any) -> KeyOf:
    """Return what reads an item's key: a field, several fields, or a function of the item.

    Raises:
        ConfigError: *named* is none of these.
    """
    if callable(named):
        return lambda item: _text(named(item))
    if not named:
        return lambda item: None
    fields = [part.strip() for part in named.split(",")] if isinstance(named, str) else named
    if not isinstance(fields, Sequence) or not all(isinstance(f, str) and f for f in fields):
        raise ConfigError(f"item_key (SEINE_ITEMS_KEY) is {named!r}, not a field or several fields")
    return lambda item: _of_fields(ItemAdapter(item), fields)


def _of_fields(item: Mapping[str, Any], fields: Sequence[str]) -> str | None:
    values = [item.get(field) for field in fields]
    if any(value is None for value in values):
        return None
    if len(values) == 1:
        return _text(values[0])
    return json.dumps([_text(value) for value in values], ensure_ascii=False)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def key_of_content(body: str) -> str:
    """Return a key that only an equal item has."""
    return f"sha256:{hashlib.sha256(body.encode('utf-8', 'replace')).hexdigest()}"


def create(cursor: extensions.cursor, table: sql.Identifier) -> None:
    """Make the table where there is none.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    # Two workers that create one table at once would collide in PostgreSQL's own catalogue.
    cursor.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    cursor.execute(sql.SQL(_TABLE).format(table=table))


def write_items(
    table: sql.Identifier, cursor: extensions.cursor, rows: Sequence[ItemRow]
) -> Counter[str]:
    """Insert or update a batch inside the caller's transaction; of equal keys the last one counts.

    Raises:
        psycopg2.Error: the caller rolls back.
        BadItem: PostgreSQL left a row out without an error; the caller rolls back.
    """
    last = {(row.spider, row.key): row for row in rows}
    ordered = [last[at] for at in sorted(last)]  # one order for all workers: no deadlock
    values = {
        "spiders": [row.spider for row in ordered],
        "keys": [row.key for row in ordered],
        "kinds": [row.kind for row in ordered],
        "items": [row.body for row in ordered],
    }
    cursor.execute(sql.SQL(_UPSERT).format(table=table), values)
    written = cursor.rowcount
    cursor.execute(sql.SQL(_THERE).format(table=table), values)
    found = cursor.fetchone()
    if found is None or found[0] != len(ordered):
        raise BadItem("PostgreSQL left it out without an error: a trigger, or a rule")
    return Counter(written=written, unchanged=len(rows) - written)

"""Items of any kind as rows: their key, their JSON, and their table."""

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

from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import BadItem, ConfigError

#: Name of a table, with its schema or without; PostgreSQL cuts longer ones.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62})?")
#: An escaped zero byte, which JSON may hold and JSONB may not.
_ZERO = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
#: An advisory lock (any number) that makes workers create the table one after the other.
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
        BadItem: it contains a value that JSON or PostgreSQL cannot store.
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
    kind: Any = type(value)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        # Its text would be a memory address.
        raise TypeError(f"a value is {type(value).__name__}")
    return str(value)


def table_name(name: str) -> sql.Identifier:
    """Parse SEINE_ITEMS_TABLE.

    Raises:
        ConfigError: it is no name of a table.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"SEINE_ITEMS_TABLE={name!r} is no name of a table, such as items or shop.items"
        )
    return sql.Identifier(*name.split("."))


#: Returns an item's key; None if it has none.
KeyOf = Callable[[Any], str | None]


def key_reader(key_setting: Any) -> KeyOf:
    """Return a function that reads an item's key: a field, several fields, or a function.

    Raises:
        ConfigError: *key_setting* is none of these.
    """
    if callable(key_setting):
        return lambda item: _text(key_setting(item))
    if not key_setting:
        return lambda item: None
    fields = (
        [part.strip() for part in key_setting.split(",")]
        if isinstance(key_setting, str)
        else key_setting
    )
    if not isinstance(fields, Sequence) or not all(isinstance(f, str) and f for f in fields):
        raise ConfigError(
            f"item_key (SEINE_ITEMS_KEY) is {key_setting!r}, not a field or several fields"
        )
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
    """Create the table if it does not exist.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    # Two workers that create one table at the same time would collide in PostgreSQL's catalogue.
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
    last_by_key = {(row.spider, row.key): row for row in rows}
    ordered = [
        last_by_key[key] for key in sorted(last_by_key)
    ]  # the same order in all workers: no deadlock
    values = {
        "spiders": [row.spider for row in ordered],
        "keys": [row.key for row in ordered],
        "kinds": [row.kind for row in ordered],
        "items": [row.body for row in ordered],
    }
    cursor.execute(sql.SQL(_UPSERT).format(table=table), values)
    changed_count = cursor.rowcount
    cursor.execute(sql.SQL(_THERE).format(table=table), values)
    count_row = cursor.fetchone()
    if count_row is None or count_row[0] != len(ordered):
        raise BadItem("PostgreSQL left it out without an error: a trigger, or a rule")
    return Counter(written=changed_count, unchanged=len(rows) - changed_count)

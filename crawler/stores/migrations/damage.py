"""How a database's schema differs from what the migrations make of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import attrs
from psycopg2 import extensions

from crawler.stores.migrations.files import Migration, available
from scrapy_seine.attrs_bases import Value

#: A table that a migration makes and keeps; "CREATE TEMP TABLE" is none.
_MADE = re.compile(r"^CREATE TABLE (\w+) \(", re.MULTILINE)
#: By a type of the migrations: types, as PostgreSQL prints them, that keep each of its values or
#: refuse it, which is noticed. `integer` or `numeric(10,2)` stores another price without an error.
_TEXTS = ("text", "character varying")
_KEEPING = {
    "numeric": ("numeric", *_TEXTS),
    "double precision": ("double precision", "numeric", *_TEXTS),
    "timestamptz": ("timestamp with time zone", *_TEXTS),
    "text": _TEXTS,
}
_STATEMENT = re.compile(r"^(?:CREATE|ALTER) TABLE (\w+)\b(.*?);$", re.MULTILINE | re.DOTALL)
_COLUMN = re.compile(rf"(?:^ +|ADD COLUMN )(\w+) +({'|'.join(_KEEPING)})\b(?!\[)", re.MULTILINE)
_TRIGGER = re.compile(r"^CREATE TRIGGER (\w+) \w+ \w+ ON (\w+)\b", re.MULTILINE)
_LENGTH = re.compile(r"^(character varying)\(\d+\)$")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Damage(Value):
    """What a database lacks, or has otherwise than its migrations made it."""

    pending: tuple[str, ...] = ()
    """Migrations that are not applied; what is gone is not known then."""
    tables: tuple[str, ...] = ()
    """Tables that migrations made, and that are gone."""
    columns: tuple[str, ...] = ()
    """Columns of the others that are gone."""
    rounding: tuple[str, ...] = ()
    """Columns, with their types, that keep another value than is stored in them."""
    silent: tuple[str, ...] = ()
    """Triggers that migrations made, and that are gone or disabled."""
    changing: tuple[str, ...] = ()
    """Triggers of others that see each row before it is stored."""


def damage(cursor: extensions.cursor) -> Damage:
    """Compare the database of *cursor* with the migrations; it is only read."""
    migrations = available()
    cursor.execute("SELECT to_regclass('seine_migrations') IS NOT NULL")
    names = applied(cursor) if (cursor.fetchone() or [False])[0] else {}
    tables = sorted({name for migration in migrations for name in _MADE.findall(migration.sql)})
    cursor.execute(
        "SELECT t.name, a.attname, format_type(a.atttypid, a.atttypmod) FROM unnest(%s) AS"
        " t(name) JOIN pg_attribute a ON a.attrelid = to_regclass(quote_ident(t.name))"
        " WHERE a.attnum > 0 AND NOT a.attisdropped ORDER BY t.name, a.attnum",
        (tables,),
    )
    found: list[tuple[str, str, str]] = cursor.fetchall()
    pending = tuple(migration.name for migration in migrations if migration.name not in names)
    made = _made_columns(migrations)
    rounding = _rounding(found, made)
    silent, changing = _triggers(cursor, tables, migrations)
    if pending:
        return Damage(pending=pending, rounding=rounding, changing=changing)
    there = {table for table, _, _ in found}
    columns = {(table, column) for table, column, _ in found}
    return Damage(
        tables=tuple(table for table in tables if table not in there),
        columns=tuple(
            f"{table}.{column}"
            for table, column in sorted(made)
            if table in there and (table, column) not in columns
        ),
        rounding=rounding,
        silent=silent,
        changing=changing,
    )


def damage_texts(found: Damage) -> list[tuple[str, str]]:
    """Return what lets a worker store its rows, if otherwise than it should: text and remedy.

    >>> damage_texts(Damage(changing=("products.round",)))[0][0]
    'a trigger may change or keep out rows before they are stored: products.round'
    """
    texts = (
        (
            "values are rounded or cut by the type of",
            found.rounding,
            "ALTER TABLE … ALTER COLUMN … TYPE …, then crawl again; `item` has the values",
        ),
        (
            "changes of prices and stock are not kept, because this trigger is gone or disabled:",
            found.silent,
            "ALTER TABLE … ENABLE TRIGGER …, or make it again as in 0001_products.sql",
        ),
        (
            "a trigger may change or keep out rows before they are stored:",
            found.changing,
            "DROP TRIGGER …, unless it is meant; `item` has the values that were read",
        ),
    )
    return [(f"{text} {', '.join(names)}", advice) for text, names, advice in texts if names]


def applied(cursor: extensions.cursor) -> dict[str, str]:
    """Return the digests of the migrations that were applied, by name."""
    cursor.execute("SELECT name, digest FROM seine_migrations")
    return dict(cursor.fetchall())


def _made_columns(migrations: Iterable[Migration]) -> dict[tuple[str, str], str]:
    """Return the types of the columns that migrations made, of those types that are read."""
    return {
        (table, column): kind
        for migration in migrations
        for table, columns in _STATEMENT.findall(migration.sql)
        for column, kind in _COLUMN.findall(columns)
    }


def _rounding(
    found: Iterable[tuple[str, str, str]], made: Mapping[tuple[str, str], str]
) -> tuple[str, ...]:
    return tuple(
        f"{table}.{column} ({kind}, made as {made[table, column]})"
        for table, column, kind in found
        if (table, column) in made and _LENGTH.sub(r"\1", kind) not in _KEEPING[made[table, column]]
    )


def _triggers(
    cursor: extensions.cursor, tables: Sequence[str], migrations: Iterable[Migration]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the triggers of the migrations that do nothing, and others that may change rows."""
    made = {
        f"{table}.{name}"
        for migration in migrations
        for name, table in _TRIGGER.findall(migration.sql)
    }
    cursor.execute(  # tgtype: 1 for each row, 2 before; `R` fires on a replica alone
        "SELECT t.name || '.' || g.tgname, g.tgtype & 3 = 3 FROM unnest(%s) AS t(name)"
        " JOIN pg_trigger g ON g.tgrelid = to_regclass(quote_ident(t.name))"
        " WHERE NOT g.tgisinternal AND g.tgenabled IN ('O', 'A') ORDER BY 1",
        (tables,),
    )
    at_work: list[tuple[str, bool]] = cursor.fetchall()
    silent = sorted(made - {trigger for trigger, _ in at_work})
    return tuple(silent), tuple(x for x, is_before in at_work if is_before and x not in made)

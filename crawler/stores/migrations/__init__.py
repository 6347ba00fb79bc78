"""The database's schema, as numbered SQL files, and how they are applied."""

from crawler.stores.migrations.applying import (
    available,
    migrate,
    missing_columns,
    missing_tables,
    pending,
    prepare,
    rounding_columns,
)

__all__ = [
    "available",
    "migrate",
    "missing_columns",
    "missing_tables",
    "pending",
    "prepare",
    "rounding_columns",
]

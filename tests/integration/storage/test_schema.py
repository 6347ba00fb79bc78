"""The migrations together make exactly the schema that schema.txt describes.

A new migration changes the schema on purpose: write the file anew with
`SEINE_WRITE_SCHEMA=1 pytest tests/integration/storage/test_schema.py` and read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.integration.storage.kit import rows_of

pytestmark = pytest.mark.postgres
SCHEMA = Path(__file__).with_name("schema.txt")

COLUMNS = """
    SELECT format('%s %s.%s %s%s', CASE c.relkind WHEN 'v' THEN 'view' ELSE 'table' END,
        c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
        CASE WHEN a.attnotnull THEN ' not null' ELSE '' END)
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v')
      AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum
"""
OTHERS = """
    SELECT pg_get_indexdef(indexrelid) FROM pg_index
    WHERE indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)
    UNION SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION SELECT 'FUNCTION ' || proname || '(' || pg_get_function_arguments(oid) || ')'
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    ORDER BY 1
"""


def test_the_migrations_make_the_schema_that_is_written_down(database: str) -> None:
    lines = [line for query in (COLUMNS, OTHERS) for (line,) in rows_of(database, query)]
    if os.environ.get("SEINE_WRITE_SCHEMA"):
        SCHEMA.write_text("\n".join(lines) + "\n")
    assert lines == SCHEMA.read_text().splitlines()

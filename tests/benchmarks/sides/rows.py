"""One row and one commit an item: the pipeline of the tutorials."""

from __future__ import annotations

import json
from typing import Any

import psycopg2

TABLE = (
    "CREATE TABLE IF NOT EXISTS bench_rows (run text, url text, item jsonb, PRIMARY KEY (run, url))"
)
UPSERT = """INSERT INTO bench_rows VALUES (%s, %s, %s)
ON CONFLICT (run, url) DO UPDATE SET item = excluded.item"""


class Rows:
    """A connection that stays open, and what a run stores through it."""

    def __init__(self, database_url: str, run: str) -> None:
        self.run = run
        self.connection = psycopg2.connect(database_url)
        self.cursor = self.connection.cursor()

    def store(self, item: dict[str, Any]) -> None:
        """Write one item, for good."""
        self.cursor.execute(UPSERT, (self.run, item["url"], json.dumps(item, default=str)))
        self.connection.commit()

"""Pipelines that empty their store when a worker starts are named."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.settings import Settings

from scrapy_seine.engine.stored.spider_state import own_to_pipelines


class DropsItsTable:
    def __init__(self) -> None:
        self.connection: Any = None
        self.create_table()

    def create_table(self) -> None:
        self.connection.execute("""
            DROP TABLE IF EXISTS quotes""")
        self.connection.execute("CREATE TABLE quotes (title text)")

    def process_item(self, item: Any) -> Any:
        self.connection.execute("INSERT INTO quotes VALUES (?)", item)
        return item


class EmptiesItsCollection:
    def open_spider(self, spider: Any) -> None:
        self.db: Any = spider.client["shop"]
        self.db["items"].delete_many({})

    def process_item(self, item: Any) -> Any:
        self.db["items"].insert_one(item)
        return item


class ReplacesRows:
    """Drop table names are in the settings; it empties nothing."""

    def open_spider(self, spider: Any) -> None:
        """Drop table locks of an earlier run."""
        self.connection = spider.connection
        spider.client["shop"]["locks"].delete_many({"owner": spider.name})
        self.connection.execute("CREATE TABLE IF NOT EXISTS quotes (title text)")

    def process_item(self, item: Any) -> Any:
        self.connection.execute("DELETE FROM quotes WHERE title = ?", item)
        return item


@pytest.mark.parametrize("kind", [DropsItsTable, EmptiesItsCollection])
def test_a_pipeline_that_empties_its_store_at_the_start_is_named(kind: type) -> None:
    """A worker that joined deleted 70 of 100 rows of the others, without a line."""
    (line,) = own_to_pipelines(Settings({"ITEM_PIPELINES": {kind: 1, ReplacesRows: 2}}))
    assert line.startswith(f"pipeline {kind.__name__} empties its store when a worker starts")

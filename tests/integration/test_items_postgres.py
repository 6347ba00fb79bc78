"""PostgresPipeline: items of any kind as JSONB, upserted by key, none missing after a kill (I4)."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import json
import uuid
from collections import Counter
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import attrs
import psycopg2
import pytest
from psycopg2 import sql
from scrapy import Field, Item

from scrapy_seine.errors import BadItem, ConfigError
from scrapy_seine.sinks.postgres import item_rows
from scrapy_seine.sinks.postgres.batches import Limits
from scrapy_seine.sinks.postgres.item_rows import ItemRow, key_reader, table_name, write_items
from scrapy_seine.sinks.postgres.writer import Writer
from tests.helpers import execute, patient, serving, wait_until
from tests.integration.feeds import kit

pytestmark = pytest.mark.postgres
PAGES = 40


def stored_in(url: str) -> dict[str, Any]:
    """Settings of a crawl that stores each row of a page in the table `pages`."""
    return {
        "ITEM_PIPELINES": json.dumps(
            {"scrapy_seine.sinks.postgres.pipeline.PostgresPipeline": 900}
        ),
        "DATABASE_URL": url,
        "SEINE_ITEMS_TABLE": "pages",
        "SEINE_ITEMS_KEY": "page, row",
    }


def rows_of(url: str, table: str = "seine_items") -> list[tuple[Any, ...]]:
    """Return key, kind and item of each row."""
    with psycopg2.connect(url) as connection, connection.cursor() as cursor:
        name = sql.Identifier(*table.split("."))
        query = sql.SQL("SELECT key, kind, item FROM {} ORDER BY key")
        cursor.execute(query.format(name))
        return cursor.fetchall()


@pytest.mark.redis
def test_no_item_is_missing_where_a_worker_is_killed_and_none_is_there_twice(
    tmp_path: Path, redis_url: str, namespace: str, database_url_empty: str
) -> None:
    site = kit.site_of(PAGES)
    more = {**stored_in(database_url_empty), "SEINE_LEASE_SECONDS": 1}
    with serving(site) as base:
        begin = partial(kit.start, tmp_path, redis_url, namespace, base, **more)
        site.held_from = 10
        assert kit.kill_when(begin(), lambda: len(site.served) >= 10)
        site.held_from = inf
        log = kit.finish(begin(), tmp_path)
    found = [(item["page"], item["row"]) for _, _, item in rows_of(database_url_empty, "pages")]
    assert sorted(found) == kit.expected(PAGES)
    assert "Traceback" not in log


@pytest.mark.redis
def test_a_table_that_is_gone_for_good_ends_the_worker_and_costs_no_item(
    tmp_path: Path, redis_url: str, namespace: str, database_url_empty: str
) -> None:
    """It was waited for without an end."""
    site = kit.site_of(PAGES)
    more = {**stored_in(database_url_empty), "SEINE_OUTAGE_LIMIT": 1, "SEINE_DRAIN_SECONDS": 1}
    with serving(site) as base:
        begin = partial(kit.start, tmp_path, redis_url, namespace, base, **more)
        site.held_from = 10
        worker = begin()
        wait_until(lambda: len(site.served) >= 10, 60, "the crawl is under way")
        execute(database_url_empty, "ALTER TABLE pages RENAME TO away")
        site.held_from = inf
        assert worker.wait(patient(60)) == 1
        log = (tmp_path / "log").read_text("utf-8")
        assert 'the table items: relation "pages" does not exist (42P01)' in log
        assert "Traceback" not in log
        execute(database_url_empty, "ALTER TABLE away RENAME TO pages")
        kit.finish(begin(), tmp_path)
    found = [(item["page"], item["row"]) for _, _, item in rows_of(database_url_empty, "pages")]
    assert sorted(found) == kit.expected(PAGES)


class Quote(Item):
    text = Field()


@dataclasses.dataclass
class Data:
    text: str


@attrs.define
class Attrs:
    text: str


def test_items_of_each_kind_have_the_same_json() -> None:
    kinds: list[Any] = [{"text": "é"}, Quote(text="é"), Data("é"), Attrs("é")]
    assert {item_rows.json_of(item) for item in kinds} == {'{"text":"é"}'}


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (decimal.Decimal("9.90"), '"9.90"'),
        (datetime.date(2026, 1, 2), '"2026-01-02"'),
        (float("nan"), "null"),
        (10**30, str(10**30)),
        (b"abc", '"abc"'),
        (b"\xff", '"/w=="'),
        ({"b", "a"}, '["a","b"]'),
        ({1: Quote(text="x")}, '{"1":{"text":"x"}}'),
        ([Data("y")], '[{"text":"y"}]'),
        ("\\u0000", '"\\\\u0000"'),
    ],
)
def test_values_of_any_kind_are_stored(value: Any, stored: str) -> None:
    assert item_rows.json_of({"v": value}).replace(": ", ":") == f'{{"v":{stored}}}'


@pytest.mark.parametrize("value", ["a\x00b", object(), "\ud800", [float("inf"), 10**30]])
def test_what_cannot_be_stored_is_refused_with_a_line(value: Any) -> None:
    with pytest.raises(BadItem, match="it cannot be stored as JSON"):
        item_rows.json_of({"v": value})


@pytest.mark.parametrize(
    ("named", "item", "key"),
    [
        ("url", {"url": "u"}, "u"),
        ("url", {"url": 7}, "7"),
        ("shop, sku", {"shop": "a", "sku": 1}, '["a", "1"]'),
        (("shop", "sku"), {"shop": "a", "sku": 1}, '["a", "1"]'),
        (["sku"], {"shop": "a"}, None),
        ("sku", {"sku": None}, None),
        ("", {"sku": 1}, None),
        (lambda item: item["n"], {"n": 3}, "3"),
        (lambda item: None, {"n": 3}, None),
    ],
)
def test_the_key_is_a_field_or_several_or_a_function(named: Any, item: Any, key: Any) -> None:
    assert key_reader(named)(item) == key


@pytest.mark.parametrize("named", [7, ["a", 1], {"a": 1}, [""]])
def test_a_key_that_is_none_is_named(named: Any) -> None:
    with pytest.raises(ConfigError, match="item_key"):
        key_reader(named)


@pytest.mark.parametrize("name", ["", "a b", 'x"; DROP TABLE y', "a.b.c", "1a", "a" * 64])
def test_a_name_that_no_table_has_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="SEINE_ITEMS_TABLE"):
        table_name(name)


def test_a_row_is_updated_where_it_changed_and_the_last_of_equal_keys_counts(
    database_url_empty: str,
) -> None:
    table = table_name("public.Items")
    with psycopg2.connect(database_url_empty) as connection, connection.cursor() as cursor:
        for _ in range(2):
            item_rows.create(cursor, table)
        rows = [ItemRow("s", "b", "dict", '{"n": 1}'), ItemRow("s", "a", "dict", '{"n": 1}')]
        assert write_items(table, cursor, rows) == Counter(written=2, unchanged=0)
        again = [rows[0], ItemRow("s", "a", "dict", '{"n": 2}'), ItemRow("s", "a", "Q", '{"n": 3}')]
        assert write_items(table, cursor, again) == Counter(written=1, unchanged=2)
    assert rows_of(database_url_empty, "public.Items") == [
        ("a", "Q", {"n": 3}),
        ("b", "dict", {"n": 1}),
    ]


def test_a_table_that_takes_no_row_for_a_while_is_waited_for(database_url_empty: str) -> None:
    """A grant that is missing for a moment gives no page up: the refusal is no row's."""
    table, reports = table_name("things"), []
    with psycopg2.connect(database_url_empty) as connection, connection.cursor() as cursor:
        item_rows.create(cursor, table)
    writer = Writer(
        database_url_empty,
        {"items": partial(write_items, table)},
        on_report=reports.append,
        on_pause=lambda is_pressed: None,
        replacement_of=lambda *_: None,
        limits=Limits(age_s=0.05),
    )
    writer.start()
    execute(database_url_empty, "ALTER TABLE things RENAME TO away")
    for number in range(30):
        writer.put("items", ItemRow("s", str(number), "Item", "{}"), 10, number)
    wait_until(lambda: not writer.waiting[0], 10, "the rows are tried")
    execute(database_url_empty, "ALTER TABLE away RENAME TO things")
    writer.close(patient(20))
    assert sorted(n for report in reports for n in report.stored) == list(range(30))
    assert [report.reason for report in reports if report.failed] == []


def test_a_row_that_a_trigger_swallows_is_no_stored_row(database_url_empty: str) -> None:
    table = table_name("items")
    with psycopg2.connect(database_url_empty) as connection, connection.cursor() as cursor:
        item_rows.create(cursor, table)
        cursor.execute(
            "CREATE FUNCTION swallow() RETURNS trigger AS 'BEGIN RETURN NULL; END' LANGUAGE plpgsql"
        )
        cursor.execute(
            "CREATE TRIGGER t BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION swallow()"
        )
        with pytest.raises(BadItem):
            write_items(table, cursor, [ItemRow("s", "a", "dict", "{}")])


@pytest.mark.redis
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"DATABASE_URL": "postgresql://me:word@127.0.0.1:1/x"}, "worker exits: PostgresPipeline"),
        ({"SEINE_ITEMS_TABLE": "a b"}, "SEINE_ITEMS_TABLE"),
    ],
)
def test_a_wrong_setting_ends_the_worker_with_a_line(
    tmp_path: Path, redis_url: str, database_url_empty: str, given: dict[str, str], told: str
) -> None:
    more = {
        "ITEM_PIPELINES": json.dumps(
            {"scrapy_seine.sinks.postgres.pipeline.PostgresPipeline": 900}
        ),
        "DATABASE_URL": database_url_empty,
        "SEINE_OUTAGE_LIMIT": 0,
        **given,
    }
    site = kit.site_of(2)
    with serving(site) as base:
        worker = kit.start(tmp_path, redis_url, uuid.uuid4().hex, base, **more)
        worker.wait(patient(60))
    log = (tmp_path / "log").read_text("utf-8")
    assert told in log
    assert "word@" not in log
    assert not site.served

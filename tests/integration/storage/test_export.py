"""Exports: right values in each format, constant memory, and no way to smuggle SQL."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import uuid
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import orjson
import psutil
import pytest
from psycopg2 import extensions
from pyarrow import parquet

from crawler.stores.export import Condition, Selection, stream
from crawler.stores.export_formats import FORMATS, format_of
from scrapy_seine.errors import ConfigError, StoreError, StoreUnreachable
from tests.helpers import execute
from tests.integration.storage.kit import T0, desk, row

pytestmark = pytest.mark.postgres
ROOT = Path(__file__).parents[3]


@pytest.fixture
def filled(database: str) -> str:
    with desk(database) as made:
        for number in range(1, 6):
            made.put(row(number, price=f"{number}.50", brand=None if number == 3 else "Acme"))
        made.put(row(6, name='Ünique "quoted", comma\nline', attributes={"a": "b"}, price=None))
    with desk(database) as made:
        made.put(row(1, price="0.99", at=T0 + timedelta(days=1)))
    return database


def export(url: str, name: str, selection: Selection) -> bytes:
    out = io.BytesIO()
    with stream(url, selection) as (columns, chunks):
        FORMATS[name](columns, chunks, out)
    return out.getvalue()


def keys(url: str, *where: str, table: str = "products") -> list[str]:
    selection = Selection.parse(table, "external_id", where)
    return [
        line["external_id"]
        for line in map(orjson.loads, export(url, "jsonl", selection).split(b"\n")[:-1])
    ]


def test_csv_is_read_back_as_it_was(filled: str) -> None:
    text = export(filled, "csv", Selection.parse("products")).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(rows) == 6
    assert rows[5]["name"] == 'Ünique "quoted", comma\nline'
    assert rows[5]["price"] == ""
    assert rows[1]["price"] == "2.50"
    assert rows[0]["scraped_at"] == "2026-01-02T00:00:00+00:00"


def test_json_lines_hold_the_whole_item(filled: str) -> None:
    lines = export(
        filled, "jsonl", Selection.parse("products", "external_id,price,item")
    ).splitlines()
    last = orjson.loads(lines[5])
    assert last["item"]["attributes"] == {"a": "b"}
    assert orjson.loads(lines[1])["price"] == "2.50"


def test_parquet_has_types(filled: str) -> None:
    data = export(filled, "parquet", Selection.parse("products"))
    table = parquet.read_table(io.BytesIO(data))
    assert table.num_rows == 6
    assert table["price"].to_pylist()[1] == Decimal("2.50")
    assert table["scraped_at"].to_pylist()[1] == T0
    changes = export(filled, "parquet", Selection.parse("product_versions"))
    assert parquet.read_table(io.BytesIO(changes))["new"].to_pylist().count('"0.99"') == 1


def test_conditions(filled: str) -> None:
    assert keys(filled, "price<2.5") == ["sku-1"]
    assert keys(filled, "price>=2.5", "price <= 4") == ["sku-2", "sku-3"]
    assert keys(filled, "name~QUOTED") == ["sku-6"]
    assert keys(filled, "price=") == ["sku-6"]
    assert keys(filled, "brand!=Acme") == ["sku-1", "sku-3", "sku-6"]
    assert keys(filled, "scraped_at>2026-01-01T12:00:00Z") == ["sku-1"]
    assert keys(filled, "name~%") == []
    assert keys(filled, "field=price", table="product_versions") == ["sku-1"]


@pytest.mark.parametrize(
    "where",
    ["price<cheap", "nosuch=1", "price", "1=1", "price<1 OR 1=1", "name;drop table products=1"],
)
def test_what_is_no_condition_is_one_clear_error(filled: str, where: str) -> None:
    with pytest.raises(ConfigError):
        keys(filled, where)
    assert len(keys(filled)) == 6


def test_a_value_never_becomes_sql(filled: str) -> None:
    assert keys(filled, "name='; DROP TABLE products; --") == []
    assert keys(filled, "name=x' OR '1'='1") == []
    assert len(keys(filled)) == 6


def test_a_right_that_is_missing_is_not_told_as_a_wrong_condition(filled: str) -> None:
    """`--where: permission denied` sent the reader to a condition that nobody had given."""
    role = f"reader_{uuid.uuid4().hex[:12]}"
    execute(filled, f"CREATE ROLE {role} LOGIN")
    try:
        url = extensions.make_dsn(filled, user=role)
        with pytest.raises(StoreError) as caught:
            export(url, "csv", Selection.parse("products"))
    finally:
        execute(filled, f"DROP ROLE {role}")
    assert str(caught.value).startswith("PostgreSQL refuses it (42501): permission denied")


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ("price = 'NaN'", "parquet"),
        ("price = 12345678901234567890.12", "parquet"),
        ("scraped_at = '0044-03-15 BC'", "csv"),
    ],
)
def test_a_value_that_a_format_cannot_hold_is_one_clear_error(
    filled: str, change: str, name: str
) -> None:
    """Other programs write to the table as well."""
    execute(filled, f"UPDATE products SET {change} WHERE brand IS NULL")
    with pytest.raises(StoreError, match=r"a value cannot be written: .*; another --format"):
        export(filled, name, Selection.parse("products"))
    left = export(filled, name, Selection.parse("products", "", ["brand=Acme"]))
    assert left


def test_an_empty_result_is_a_sound_file(database: str) -> None:
    for name in FORMATS:
        data = export(database, name, Selection.parse("products"))
        if name == "csv":
            assert data.startswith(b"site_id,external_id")
        elif name == "parquet":
            assert parquet.read_table(io.BytesIO(data)).num_rows == 0
        else:
            assert data == b""


def test_bad_requests_name_what_there_is() -> None:
    with pytest.raises(ConfigError, match="there is products"):
        Selection.parse("users")
    with pytest.raises(ConfigError, match="there is csv"):
        format_of("xlsx", "")
    assert [format_of("", name) for name in ("", "a.parquet", "a.jsonl", "a.json")] == [
        "csv", "parquet", "jsonl", "jsonl",
    ]  # fmt: skip
    assert Condition.parse("a=b=c") == Condition("a", "=", "b=c")
    with (
        pytest.raises(StoreUnreachable),
        stream("postgresql://127.0.0.1:1/none", Selection.parse("products")),
    ):
        pass


@pytest.mark.parametrize("rows", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.timeout(600)
def test_memory_stays_the_same_however_many_rows(database: str, rows: int, tmp_path: Path) -> None:
    execute(
        database,
        "INSERT INTO products (site_id, external_id, url, name, price, item, content_hash,"
        " first_seen, scraped_at, updated_at) SELECT 's', n::text, 'https://a.example/' || n,"
        " repeat('name ', 20), n, '{}', '\\x00', now(), now(), now()"
        f" FROM generate_series(1, {rows}) n",
    )
    out = tmp_path / "all.csv"
    command = [sys.executable, "-m", "scrapy", "export", "products", "--json", "-o", str(out)]
    environment = {
        "DATABASE_URL": database, "REDIS_URL": "redis://unused", "SCRAPY_PROJECT": "cluster",
        "PATH": "/usr/bin:/bin",
    }  # fmt: skip
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE) as process:
        watched, most = psutil.Process(process.pid), 0
        while process.poll() is None:
            try:
                most = max(most, watched.memory_info().rss)
                process.wait(0.05)
            except (subprocess.TimeoutExpired, psutil.Error):
                continue
        assert process.stdout is not None
        report = orjson.loads(process.stdout.read())
    print(f"{rows} rows, {most / 1e6:.0f} MB")
    assert report["rows"] == rows
    with out.open() as lines:
        assert sum(1 for _ in lines) == rows + 1
    assert 0 < most < 200e6


def test_each_product_tells_how_sure_its_values_are(database: str) -> None:
    with desk(database) as made:
        made.put(row(1, confidence={"price": 0.97, "name": 0.8}))
        made.put(row(2))
    lines = export(database, "jsonl", Selection.parse("products")).splitlines()
    told = [orjson.loads(line)["confidence"] for line in lines]
    assert told == [{"name": 0.8, "price": 0.97}, None]
    assert keys(database, "confidence!=") == ["sku-1"]
    text = export(database, "csv", Selection.parse("products")).decode()
    (first, _) = csv.DictReader(io.StringIO(text, newline=""))
    assert orjson.loads(first["confidence"])["price"] == 0.97

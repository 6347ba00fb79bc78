"""A writer with its reports collected, and rows to give it."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

import attrs
import boto3
import psycopg2
import pytest
from moto.server import ThreadedMotoServer

from crawler.items import Product
from crawler.stores.content_hash import digest
from crawler.stores.products import (
    confirm_products,
    mark_vanished,
    write_products,
    write_rejected,
)
from crawler.stores.refused_to_rejected import refused
from crawler.stores.rows import ProductRow, product_row
from scrapy_seine.sinks.postgres.batches import Limits, Report
from scrapy_seine.sinks.postgres.writer import Writer
from tests.helpers import execute

T0 = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def product(number: int = 1, *, at: datetime = T0, **fields: Any) -> Product:
    made: dict[str, Any] = {
        "url": f"https://shop.example/p/{number}",
        "name": f"Lamp {number}",
        "external_id": f"sku-{number}",
        "site_id": "shop",
        "price": Decimal("9.99"),
        "currency": "EUR",
        "scraped_at": at,
    }
    return Product(**{**made, **fields})


def row(number: int = 1, *, at: datetime = T0, **fields: Any) -> ProductRow:
    made = product(number, at=at, **fields)
    return product_row(made, digest(made))


@attrs.define
class Desk:
    """A writer and what it said."""

    writer: Writer = attrs.field(init=False)
    stored: list[Any] = attrs.Factory(list)
    failed: list[Any] = attrs.Factory(list)
    reasons: list[str] = attrs.Factory(list)
    counts: Counter[str] = attrs.Factory(Counter)
    pressed: list[bool] = attrs.Factory(list)
    lock: Any = attrs.Factory(threading.Lock)

    def heard(self, report: Report) -> None:
        with self.lock:
            self.stored += report.stored
            self.failed += report.failed
            self.reasons += [report.reason] * len(report.failed)
            self.counts.update(report.counts)

    def put(self, made: ProductRow, ticket: object = "ticket") -> bool:
        return self.writer.put("products", made, len(made.body), ticket)


@contextmanager
def desk(database_url: str, limits: Limits | None = None, limit_s: float = 20) -> Iterator[Desk]:
    """Open a writer; at the end it has written all it was given."""
    made = Desk()
    made.writer = Writer(
        database_url,
        {
            "products": lambda cursor, rows: write_products(cursor, rows, HOUR),
            "confirmed": confirm_products,
            "vanished": mark_vanished,
            "rejected": write_rejected,
        },
        on_report=made.heard,
        on_pause=made.pressed.append,
        replacement_of=refused,
        limits=limits or Limits(age_s=0.02),
    )
    made.writer.start()
    try:
        yield made
    finally:
        made.writer.close(limit_s)


def cut_off(database: str) -> None:
    """End every connection to the database."""
    execute(
        database,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )


def rows_of(database_url: str, query: str) -> list[tuple[Any, ...]]:
    with closing(psycopg2.connect(database_url)) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()


def guard(database: str, body: str, *, table: str = "products", when: str = "") -> None:
    """Put a trigger before each row that is written; *when* names the rows it is about."""
    execute(
        database,
        f"CREATE OR REPLACE FUNCTION guard_{table}() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN {f'IF {when} THEN' if when else ''} {body} {'END IF;' if when else ''}"
        " RETURN NEW; END $$",
    )
    execute(
        database,
        f"CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON {table}"
        f" FOR EACH ROW EXECUTE FUNCTION guard_{table}()",
    )


@contextmanager
def lesser_role(database: str) -> Iterator[str]:
    """Give the URL of the database for a role that may do what it is granted, and no more."""
    name = f"role_{urlsplit(database).path[1:]}"
    execute(database, f"CREATE ROLE {name} LOGIN PASSWORD 'x'")
    for what in ("ALL TABLES", "ALL SEQUENCES"):
        execute(database, f"GRANT ALL ON {what} IN SCHEMA public TO {name}")
    options = psycopg2.extensions.parse_dsn(database)
    options.update(user=name, password="x")
    try:
        yield psycopg2.extensions.make_dsn(**options)
    finally:
        execute(database, f"DROP OWNED BY {name}")
        execute(database, f"DROP ROLE {name}")


@contextmanager
def s3_bucket() -> Iterator[str]:
    """Run an S3 server, with what reaches it in the environment; gives `s3://bucket/prefix`."""
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_REGION", "us-east-1")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        # The server's memory outlives it: each has a bucket of its own.
        bucket = f"pages-{uuid.uuid4().hex[:12]}"
        boto3.client("s3").create_bucket(Bucket=bucket)
        yield f"s3://{bucket}/raw"
    server.stop()

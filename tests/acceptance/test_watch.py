"""`scrapy watch` says by its line and its exit status whether the file has the whole shop."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest

from crawler.demo.shop_process import served
from tests.helpers import patient, wait_until

pytestmark = pytest.mark.acceptance
PRODUCTS, FILE = 300, "all.csv"
Watching = subprocess.Popen[str]


@pytest.fixture
def watching(redis_url: str, database: str, tmp_path: Path) -> Iterator[Watching]:
    """Watch a shop; a test begins with the first products."""
    stores = {"REDIS_URL": redis_url, "DATABASE_URL": database, "SEINE_DATA_DIR": str(tmp_path)}
    with served(products=PRODUCTS, latency_ms=300) as shop:
        command = [sys.executable, "-m", "scrapy", "watch", shop.url, "-o", str(tmp_path / FILE)]
        with subprocess.Popen(
            command,
            env={**os.environ, **stores},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            try:
                wait_until(lambda: _stored(database) > 0, 60, "the first products")
                yield process
            finally:
                process.kill()


def _stored(database: str) -> int:
    with closing(psycopg2.connect(database)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM products")
        return int((cursor.fetchone() or [0])[0])


def _products_in(folder: Path) -> int:
    with (folder / FILE).open(newline="") as file:
        return len(list(csv.DictReader(file)))


def test_a_watch_whose_worker_is_killed_fails(watching: Watching, tmp_path: Path) -> None:
    """It reported the products so far as all of them."""
    children = Path(f"/proc/{watching.pid}/task/{watching.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGKILL)
    said, _ = watching.communicate(timeout=patient(60))
    assert watching.returncode == 1, said
    assert "the worker ended with status -9 after" in said
    assert 0 < _products_in(tmp_path) < PRODUCTS


def test_a_watch_that_is_stopped_ends_as_a_stopped_command(
    watching: Watching, tmp_path: Path
) -> None:
    watching.send_signal(signal.SIGINT)
    said, _ = watching.communicate(timeout=patient(60))
    assert watching.returncode == 130, said
    assert "\nstopped: " in said
    assert 0 < _products_in(tmp_path) < PRODUCTS

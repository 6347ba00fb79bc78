"""What the store keeps of how often prices change, and of which products matter."""

from __future__ import annotations

import argparse
import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest
from scrapy.settings import Settings

from crawler.catalogue.coordinator.recrawl import candidates, expectations
from crawler.catalogue.jobs.model import Plan
from crawler.commands.importance import Command
from crawler.stores.products import set_importance, write_products
from crawler.stores.rows import ProductRow
from scrapy_seine.sinks.postgres.database import transaction
from tests.helpers import execute
from tests.integration.storage.kit import HOUR, T0, row, rows_of

pytestmark = pytest.mark.postgres
DAY = timedelta(days=1)
PLAN = Plan(site_id="shop", recrawl_s=86_400)
CHANGES = "SELECT observed_s, price_changes, price_changed_s FROM products ORDER BY external_id"


def write(database: str, *rows: ProductRow) -> None:
    with transaction(database) as connection, connection.cursor() as cursor:
        write_products(cursor, rows, HOUR)


def test_only_an_unannounced_change_of_price_or_stock_counts(database: str) -> None:
    write(database, row())
    write(database, row(at=T0 + DAY, description="another text"))
    assert rows_of(database, CHANGES) == [(86400.0, 0, 0.0)]
    write(database, row(at=T0 + 3 * DAY, description="another text", price="8.99"))
    assert rows_of(database, CHANGES) == [(3 * 86400.0, 1, 2 * 86400.0)]
    told = row(at=T0 + 4 * DAY, description="another text", price="7.99")
    write(database, attrs.evolve(told, is_announced=True))
    assert rows_of(database, CHANGES) == [(4 * 86400.0, 1, 2 * 86400.0)]
    out = row(at=T0 + 5 * DAY, description="t", price="7.99", availability="OutOfStock")
    write(database, out)
    assert rows_of(database, CHANGES) == [(5 * 86400.0, 2, 3 * 86400.0)]
    write(database, row(at=T0 + 2 * DAY, price="1"))  # an older page
    assert rows_of(database, CHANGES) == [(5 * 86400.0, 2, 3 * 86400.0)]


def test_many_changes_are_not_forgotten(database: str) -> None:
    """The newest 16 are kept apart, and all older ones counted as looks without a change."""
    for day in range(40):
        write(database, row(at=T0 + day * DAY, price=str(day + 1)))
    assert rows_of(database, CHANGES) == [(39 * 86400.0, 39, 39 * 86400.0)]


def test_the_coordinator_reads_what_a_rule_may_ask_for(database: str) -> None:
    crumbs = ["Home", "Phones", "Old ones"]
    write(database, row(1, breadcrumbs=crumbs, brand="Acme"), row(2))
    write(database, row(1, at=T0 + DAY, breadcrumbs=crumbs, brand="Acme", price="3.50"))
    assert set_importance(database, ["https://shop.example/p/1", "http://no.where/"], 7) == {
        "https://shop.example/p/1"
    }
    one, two = sorted(candidates(database, PLAN, T0 + 9 * DAY), key=lambda known: known.external_id)
    assert (one.category, one.brand, one.price, one.watched) == ("Phones", "Acme", 3.5, 7.0)
    assert (two.category, two.brand, two.watched) == ("", None, None)
    expected = expectations(database, PLAN)
    assert set(expected) == {"", "Phones"}
    assert expected["Phones"].rate > expected[""].rate
    assert expectations(database, attrs.evolve(PLAN, site_id="other")) == {}


@pytest.fixture
def command(database: str) -> Command:
    made = Command()
    made.settings = Settings({"DATABASE_URL": database})
    write_at = datetime.now(UTC)
    write(database, row(1, at=write_at), row(2, at=write_at))
    return made


def run(command: Command, *args: str, **options: Any) -> int:
    given = {"list": "", "importance": "10", "forget": False, **options}
    return command.perform(list(args), argparse.Namespace(**given)) or 0


def test_a_watch_list_is_set_and_forgotten(
    command: Command,
    database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    weights = "SELECT importance FROM products ORDER BY external_id"
    listed = tmp_path / "list.txt"
    listed.write_text("\ufeff# mine\nhttps://shop.example/p/1\n\n https://shop.example/p/2 \n")
    assert run(command, list=str(listed), importance="2.5") == 0
    assert rows_of(database, weights) == [(2.5,), (2.5,)]
    monkeypatch.setattr("sys.stdin", io.StringIO("https://shop.example/p/9\n\0\n"))
    assert run(command, "https://shop.example/p/1", list="-", forget=True) == 1
    assert rows_of(database, weights) == [(None,), (2.5,)]
    assert "no product is stored at https://shop.example/p/9" in capsys.readouterr().out
    execute(database, "INSERT INTO product_urls VALUES ('shop', 'http://a.b/', 'sku-1')")
    assert run(command, "http://a.b/") == 0
    assert rows_of(database, weights) == [(10.0,), (2.5,)]


@pytest.mark.parametrize("importance", ["0", "-1", "1001", "nan", "much", ""])
def test_an_importance_that_is_none_is_refused(command: Command, importance: str) -> None:
    from scrapy_seine.errors import ConfigError

    with pytest.raises(ConfigError, match="--importance"):
        run(command, "https://shop.example/p/1", importance=importance)

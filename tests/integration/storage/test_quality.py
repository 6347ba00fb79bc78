"""The quality score follows its formula, and a changed layout is noticed."""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing
from datetime import timedelta
from typing import Any

import attrs
import psycopg2
import pytest

from crawler.cleaning.product import clean, from_mapping
from crawler.commands.quality import certainty, since
from crawler.stores.content_hash import digest
from crawler.stores.gone_products import finish_site
from crawler.stores.quality import WEIGHTS, Quality, fall_of, measure, measure_sites
from crawler.stores.rows import product_row, rejected_row
from scrapy_seine.errors import ConfigError
from scrapy_seine.sinks.postgres.batches import Limits
from tests import started
from tests.helpers import execute
from tests.integration.storage.kit import T0, desk, product, row, rows_of

MINUTE = timedelta(minutes=1)
FULL: dict[str, Any] = {
    "availability": "InStock", "images": ["https://a.example/1.jpg"], "brand": "Acme",
    "description": "Good.", "sku": "s", "breadcrumbs": ["A"],
}  # fmt: skip


def quality(**changes: Any) -> Quality:
    usual: dict[str, Any] = {
        "site_id": "s", "products": 100, "rejected": 0, "changed": 0, "sane": 1.0,
        "coverage": dict.fromkeys(WEIGHTS, 1.0),
    }  # fmt: skip
    return Quality(**{**usual, **changes})


def test_the_formula() -> None:
    assert quality().score == 1.0
    assert quality(sane=0.5).score == 0.9
    assert quality(rejected=100).score == 0.9
    assert quality(changed=50).score == 1.0
    assert quality(changed=75).score == 0.95
    assert quality(changed=1000).score == 0.9
    assert quality(coverage=dict.fromkeys(WEIGHTS, 0.0)).score == 0.5
    assert quality(coverage={**dict.fromkeys(WEIGHTS, 1.0), "price": 0}).score == 0.875
    assert quality(products=0).score == 0.0


def test_a_fall_is_said_in_words() -> None:
    assert fall_of(quality(), 1.0, dict.fromkeys(WEIGHTS, 1.0)) is None
    assert "fell from 1.00 to 0.88" in (fall_of(quality(rejected=150), 1.0, {}) or "")
    bare = quality(coverage={**dict.fromkeys(WEIGHTS, 1.0), "brand": 0.5})
    assert fall_of(bare, 1.0, {"brand": 1.0}) == "brand fell from 100% to 50% of products"


@pytest.mark.postgres
def test_a_site_that_loses_its_prices_is_noticed_at_the_end_of_the_crawl(database: str) -> None:
    with desk(database) as made:
        for number in range(20):
            made.put(row(number, **{**FULL, "sku": f"s{number}"}))
        refused = rejected_row(product(99), "no name")
        made.writer.put("rejected", refused, 100)
    first = finish_site(database, "shop", T0).quality
    assert (first.products, first.rejected, first.fall) == (20, 1, None)
    assert first.score == pytest.approx(0.5 + 0.2 + 0.2 * 20 / 21 + 0.1, abs=1e-4)

    with desk(database, Limits(age_s=0.01)) as made:
        for number in range(20):
            bare = {**FULL, "sku": f"s{number}", "price": None, "currency": None}
            made.put(row(number, at=T0 + MINUTE, **bare))
    second = finish_site(database, "shop", T0 + MINUTE).quality
    assert second.coverage["price"] == 0
    assert "the score fell" in (second.fall or "")
    assert rows_of(database, "SELECT site_id, fall IS NOT NULL FROM current_quality") == [
        ("shop", True)
    ]


@pytest.mark.postgres
def test_prices_that_jump_or_are_nothing_are_not_sane(database: str) -> None:
    with desk(database) as made:
        for number in range(4):
            made.put(row(number, price=("10", "10", "0", "9")[number], regular_price="9.5"))
    with desk(database) as made:
        made.put(row(0, price="9000", at=T0 + MINUTE))
    with closing(psycopg2.connect(database)) as connection, connection:
        found = measure(connection.cursor(), "shop", T0)
    # One jumped, one costs more than before the reduction, one costs nothing.
    assert (found.sane, found.changed) == (0.25, 1)


@pytest.mark.postgres
def test_each_site_is_measured_by_itself(database: str) -> None:
    with desk(database) as made:
        made.put(row(1, site_id="a"))
        made.put(row(1, site_id="b", price=None))
    found = measure_sites(database, keep=True)
    assert [(one.site_id, one.coverage["price"]) for one in found] == [("a", 1.0), ("b", 0.0)]
    assert [one.site_id for one in measure_sites(database, "b")] == ["b"]


@pytest.mark.postgres
def test_sure_prices_and_doubtful_values_are_counted(database: str) -> None:
    with desk(database) as made:
        made.put(row(1, confidence={"price": 0.97}))
        made.put(row(2, confidence={"price": 0.6}))
        made.put(row(3))
        made.put(row(4, doubts={"price": ["place", "elsewhere"]}, confidence={"name": 0.9}))
    (found,) = measure_sites(database)
    assert (found.sure, found.doubtful) == (0.5, 1)
    assert certainty(found) == (
        "50% of the prices are sure, 1 doubtful value kept out (reasons: scrapy export doubtful)"
    )
    execute(database, "DELETE FROM products WHERE item ? 'confidence'")
    assert measure_sites(database)[0].sure is None
    assert certainty(attrs.evolve(found, sure=None, doubtful=0)) == ""


def test_times_are_read() -> None:
    assert since("") is None
    assert since("24h") is not None
    with pytest.raises(ConfigError, match="90m"):
        since("yesterday")


@pytest.mark.postgres
def test_the_command_measures_and_says_what_fell(database: str) -> None:
    with desk(database) as made:
        made.put(row(1))
    command = [sys.executable, "-m", "scrapy", "quality", "--json", "--keep"]
    environment = {**os.environ, "DATABASE_URL": database, "SCRAPY_PROJECT": "cluster"}
    first = started.run(command, env=environment, capture_output=True, text=True, check=False)
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["sites"][0]["coverage"]["price"] == 1.0
    execute(database, "UPDATE products SET price = NULL, currency = NULL")
    second = started.run(command[:-2], env=environment, capture_output=True, text=True, check=False)
    assert second.returncode == 1
    assert "shop" in second.stdout


@pytest.mark.parametrize("own", [{"price": "high"}, {"price": None, 7: 1}, "sure", ["x"], None])
def test_an_items_own_words_about_its_values_keep_no_crawl_from_its_end(
    database: str, own: Any
) -> None:
    """A project's item may call a field of its own `confidence` or `doubts`."""
    fields = {"url": "https://shop.example/p/1", "name": "Lamp", "site_id": "shop", "price": "9"}
    made = from_mapping({**fields, "confidence": own, "doubts": own, "currency": "EUR"})
    clean(made, T0)
    with desk(database, Limits(age_s=0.01)) as writing:
        writing.put(product_row(made, digest(made)))
    assert (writing.stored, writing.reasons) == (["ticket"], [])
    done = finish_site(database, "shop", T0, job_id="j")
    assert done is not None
    assert done.quality.products == 1

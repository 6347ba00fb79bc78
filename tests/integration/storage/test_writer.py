"""The writer: nothing is lost, nothing older wins, and bad rows go alone."""

from __future__ import annotations

import random
import threading
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from scrapy_seine.errors import StoreUnreachable
from scrapy_seine.sinks.postgres.batches import Limits
from scrapy_seine.sinks.postgres.database import transaction
from scrapy_seine.sinks.postgres.lost_commits import Committed
from tests.helpers import execute, wait_until
from tests.integration.storage.kit import T0, cut_off, desk, row, rows_of

pytestmark = pytest.mark.postgres
DAY = timedelta(days=1)


def test_tickets_come_back_after_the_commit(database: str) -> None:
    with desk(database) as made:
        for number in range(1200):
            assert made.put(row(number), number)
        wait_until(lambda: len(made.stored) == 1200, 10, "all rows are stored")
        assert rows_of(database, "SELECT count(*) FROM products") == [(1200,)]
    assert sorted(made.stored) == list(range(1200))
    assert made.counts["new"] == 1200
    assert rows_of(database, "SELECT site_id FROM sites") == [("shop",)]


def test_the_row_holds_the_typed_columns_and_the_whole_item(database: str) -> None:
    with desk(database) as made:
        made.put(row(1, brand="Acme", images=["https://shop.example/1.jpg", "b"], rating=4.5))
    found = rows_of(
        database, "SELECT name, price, currency, brand, image, rating, item FROM products"
    )[0]
    assert found[:2] == ("Lamp 1", found[1])
    assert str(found[1]) == "9.99"
    assert found[2:6] == ("EUR", "Acme", "https://shop.example/1.jpg", 4.5)
    assert found[6]["price"] == "9.99"
    assert found[6]["images"] == ["https://shop.example/1.jpg", "b"]


def test_an_unchanged_product_is_not_rewritten_within_the_window(database: str) -> None:
    with desk(database) as made:
        made.put(row())
    before = rows_of(database, "SELECT xmin::text, scraped_at FROM products")
    with desk(database) as made:
        made.put(row(at=T0 + timedelta(minutes=59)))
    assert rows_of(database, "SELECT xmin::text, scraped_at FROM products") == before
    assert made.counts["unchanged"] == 1
    assert rows_of(database, "SELECT external_ids FROM sightings") == [(["sku-1"],)]


def test_past_the_window_only_the_time_is_refreshed(database: str) -> None:
    with desk(database) as made:
        made.put(row())
    with desk(database) as made:
        made.put(row(at=T0 + DAY))
    assert rows_of(database, "SELECT scraped_at, updated_at FROM products") == [(T0 + DAY, T0)]
    assert rows_of(database, "SELECT * FROM product_versions") == []


def test_a_change_is_written_at_once_and_noted_field_by_field(database: str) -> None:
    with desk(database) as made:
        made.put(row(brand="Acme"))
    later = T0 + timedelta(seconds=1)
    with desk(database) as made:
        made.put(row(at=later, price="8.50", mpn="M1", job_id="j2"))
    assert rows_of(
        database,
        "SELECT field, old, new, changed_at, job_id FROM product_versions ORDER BY field",
    ) == [
        ("brand", "Acme", None, later, "j2"),
        ("mpn", None, "M1", later, "j2"),
        ("price", "9.99", "8.50", later, "j2"),
    ]
    found = rows_of(
        database, "SELECT old_price::text, new_price::text, percent::text FROM price_changes"
    )
    assert found == [("9.99", "8.50", "-14.91")]


def test_an_older_page_never_overwrites_a_newer_one(database: str) -> None:
    with desk(database) as made:
        made.put(row(at=T0 + DAY, name="new"))
    with desk(database) as made:
        made.put(row(at=T0, name="old"))
    assert rows_of(database, "SELECT name FROM products") == [("new",)]
    assert made.counts["stale"] == 1
    with desk(database, Limits(age_s=1)) as made:  # both in one batch
        made.put(row(2, at=T0 + DAY, name="new"))
        made.put(row(2, at=T0, name="old"))
    assert rows_of(database, "SELECT name FROM products ORDER BY url") == [("new",), ("new",)]


def test_a_product_that_is_back_is_no_longer_gone(database: str) -> None:
    with desk(database) as made:
        made.put(row())
    execute(database, "UPDATE products SET gone_at = now()")
    with desk(database) as made:
        made.put(row(at=T0 + timedelta(minutes=1)))
    assert rows_of(database, "SELECT gone_at FROM products") == [(None,)]


def test_a_second_address_of_a_product_is_remembered(database: str) -> None:
    with desk(database, Limits(age_s=0.2)) as made:
        made.put(row())
        made.put(row(url="https://shop.example/sale/1"))
    with desk(database) as made:
        made.put(row(url="https://shop.example/new/1"))
    assert rows_of(database, "SELECT url FROM product_addresses ORDER BY url") == [
        ("https://shop.example/new/1",),
        ("https://shop.example/p/1",),
        ("https://shop.example/sale/1",),
    ]


def test_one_bad_row_does_not_lose_its_batch(database: str) -> None:
    with desk(database, Limits(age_s=0.5)) as made:
        for number in range(50):
            made.put(row(number), number)
        made.put(row(50, price="1e200000"), 50)
        made.put(row(51, external_id=random.Random(1).randbytes(9000).hex()), 51)
    assert sorted(made.stored) == list(range(52))
    assert rows_of(database, "SELECT count(*) FROM products") == [(50,)]
    refused = rows_of(database, "SELECT url, reason FROM rejected_items ORDER BY url")
    assert [url for url, _ in refused] == ["https://shop.example/p/50", "https://shop.example/p/51"]
    assert "PostgreSQL refused it" in refused[0][1]


def test_four_writers_on_the_same_keys_never_deadlock_and_the_newest_wins(database: str) -> None:
    newest: list[dict[int, str]] = [{} for _ in range(4)]

    def work(seed: int) -> None:
        own, mine = random.Random(seed), newest[seed]
        with desk(database, Limits(rows=100, age_s=0.01)) as made:
            for _ in range(10):
                for number in own.sample(range(300), 300):
                    at = T0 + timedelta(seconds=own.randrange(1000))
                    made.put(row(number, at=at, name=f"{at.isoformat()} by {seed}"))
                    mine[number] = max(mine.get(number, ""), at.isoformat())

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = rows_of(database, "SELECT external_id, split_part(name, ' ', 1) FROM products")
    assert dict(found) == {
        f"sku-{number}": max(mine[number] for mine in newest) for number in range(300)
    }
    torn = "SELECT count(*) FROM products WHERE item ->> 'name' <> name"
    assert rows_of(database, torn) == [(0,)]
    deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    assert rows_of(database, deadlocks) == [(0,)]


def test_a_database_that_is_away_presses_and_loses_nothing(database: str) -> None:
    name = urlsplit(database).path[1:]
    server = urlsplit(database)._replace(path="/postgres").geturl()
    with desk(database) as made:
        made.put(row(1), 1)
        wait_until(lambda: made.stored == [1], 5, "the first row")
        execute(server, f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        execute(
            server,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            f" WHERE datname = '{name}' AND pid <> pg_backend_pid()",
        )
        for number in range(2, 100):
            made.put(row(number), number)
        wait_until(lambda: made.pressed == [True], 5, "back-pressure")
        execute(server, f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
        wait_until(lambda: len(made.stored) == 99, 10, "all rows after the outage")
    assert made.pressed == [True, False]
    assert rows_of(database, "SELECT count(*) FROM products") == [(99,)]


def test_an_idle_connection_that_was_ended_is_no_outage(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    """idle_session_timeout and proxies end connections: nobody is alarmed, no crawl waits."""
    with desk(database) as made:
        made.put(row(1), 1)
        wait_until(lambda: made.stored == [1], 5, "the first row")
        cut_off(database)
        made.put(row(2), 2)
        wait_until(lambda: made.stored == [1, 2], 5, "the second row")
    assert made.pressed == []
    assert [line for line in caplog.messages if "the store" in line] == []


def test_what_a_server_lost_after_its_commit_is_written_again(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    """I12: an asynchronous replica that takes over lacks what the pages' acks relied on."""
    with desk(database) as made:
        for number in range(5):
            made.put(row(number), number)
        wait_until(lambda: len(made.stored) == 5, 5, "the first rows")
        kept: Committed = made.writer._committed
        assert [stretch.number is not None for stretch in kept.stretches] == [True]
        # As after a fall: the rows are gone, and their transaction's number was never given.
        kept.stretches[0].number = (kept.stretches[0].number or 0) + 1_000_000
        execute(database, "DELETE FROM products; DELETE FROM sightings")
        cut_off(database)
        made.put(row(5), 5)
        wait_until(lambda: len(made.stored) == 6, 5, "the row after the fall")
        wait_until(lambda: made.counts["rolled_back"] == 5, 5, "the loss is counted")
    assert rows_of(database, "SELECT count(*) FROM products") == [(6,)]
    (told,) = [line for line in caplog.messages if "state_rolled_back" in line]
    assert told.endswith("5 rows that it had confirmed are written again")
    assert sorted(made.stored) == list(range(6)), "each ticket comes back once"


def test_a_server_that_kept_all_is_not_said_to_have_fallen_back(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    with desk(database) as made:
        for number in range(3):
            made.put(row(number), number)
            wait_until(lambda: len(made.stored) == number + 1, 5, "a row")  # noqa: B023
            cut_off(database)
    assert rows_of(database, "SELECT count(*) FROM products") == [(3,)]
    assert made.counts["rolled_back"] == 0
    assert [line for line in caplog.messages if "state_rolled_back" in line] == []


def test_letters_that_the_database_s_own_client_encoding_lacks_are_stored(database: str) -> None:
    name = urlsplit(database).path[1:]
    execute(database, f"ALTER DATABASE \"{name}\" SET client_encoding = 'LATIN1'")
    with desk(database) as made:
        made.put(row(1, name="Lampe 灯 …"), 1)
    assert made.stored == [1]
    assert rows_of(database, "SELECT count(*) FROM products") == [(1,)]


def test_a_transaction_whose_connection_breaks_says_that_the_store_is_away(database: str) -> None:
    with (
        pytest.raises(StoreUnreachable, match="DATABASE_URL: "),
        transaction(database) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


def test_memory_is_bounded_while_the_database_is_away() -> None:
    limits = Limits(pause_bytes=10_000, refuse_bytes=20_000)
    with desk("postgresql://127.0.0.1:1/none", limits, limit_s=0.1) as made:
        taken = [made.put(row(number), number) for number in range(200)]
        assert taken[0]
        assert not taken[-1]
        assert made.writer.waiting[1] < 30_000
    assert made.stored == []
    assert sorted(made.failed) == [number for number, was in enumerate(taken) if was]
    assert made.pressed[-1] is True

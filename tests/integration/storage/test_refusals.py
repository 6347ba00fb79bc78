"""I4: whatever PostgreSQL has against a row, the row is stored, kept as refused, or its page fails.

Each fault is made on a real server: triggers that raise, views with a check, grants revoked, rows
that time out, connections that break.
"""

from __future__ import annotations

import threading
from datetime import timedelta
from urllib.parse import urlsplit

import attrs
import psycopg2
import pytest

from crawler.stores.rows import Vanished
from scrapy_seine.sinks.postgres import writer as module
from scrapy_seine.sinks.postgres.batches import Limits
from tests.helpers import execute, wait_until
from tests.integration.storage.kit import T0, desk, guard, lesser_role, row, rows_of

pytestmark = pytest.mark.postgres
#: The one product that the faults below are about.
BAD = 7
BATCH = Limits(age_s=0.3)
DAY = timedelta(days=1)


def store_around(database: str, url: str = "") -> tuple[list[str], list[tuple[object, ...]]]:
    """Write thirty rows of which one is bad; returns the stored keys and what was rejected."""
    with desk(url or database, BATCH) as made:
        for number in range(30):
            made.put(row(number), number)
        wait_until(lambda: len(made.stored) + len(made.failed) == 30, 20, "each row has its end")
    assert sorted(made.stored) == list(range(30)), made.reasons
    keys = [key for (key,) in rows_of(database, "SELECT external_id FROM products")]
    rejected = rows_of(database, "SELECT url, code, constraint_name, reason FROM rejected_items")
    return keys, rejected


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        ("RAISE 'no lamps today'", "P0001"),
        ("RAISE 'x' USING ERRCODE = '44000'", "44000"),
        ("RAISE 'x' USING ERRCODE = '21000'", "21000"),
        ("RAISE 'x' USING ERRCODE = 'XX000'", "XX000"),
        ("RAISE 'x' USING ERRCODE = 'AB123'", "AB123"),
        ("RAISE 'x' USING ERRCODE = '42501'", "42501"),
        ("PERFORM 1 FROM no_such_table", "42P01"),
        ("RAISE 'x' USING ERRCODE = '23514', CONSTRAINT = 'only_lamps'", "23514"),
        ("RAISE 'x' USING ERRCODE = '40001'", "40001"),
        ("RAISE 'x' USING ERRCODE = '55P03'", "55P03"),
    ],
)
def test_a_row_that_is_refused_by_any_code_goes_alone(
    database: str, raised: str, code: str
) -> None:
    guard(database, f"{raised};", when=f"NEW.external_id = 'sku-{BAD}'")
    keys, rejected = store_around(database)
    assert len(keys) == 29
    ((url, known, constraint, reason),) = rejected
    assert (url, known) == (f"https://shop.example/p/{BAD}", code)
    assert constraint == ("only_lamps" if code == "23514" else None)
    assert "PostgreSQL refused it" in str(reason)


@pytest.mark.parametrize("known", [False, True])
def test_a_row_that_a_trigger_swallows_is_kept_as_refused(database: str, *, known: bool) -> None:
    """A trigger that returns NULL keeps a row out without an error, a new one or a change."""
    if known:
        with desk(database, BATCH) as made:
            made.put(row(BAD, price="1.00", at=T0 - DAY))
    guard(database, "RETURN NULL;", when=f"NEW.external_id = 'sku-{BAD}'")
    keys, rejected = store_around(database)
    assert len(keys) == 29 + known
    ((url, code, _, reason),) = rejected
    assert (url, code) == (f"https://shop.example/p/{BAD}", None)
    assert "a trigger or a rule of products kept it out without an error" in str(reason)


@pytest.mark.parametrize("final", [False, True])
def test_a_product_that_a_trigger_keeps_from_being_gone_is_said(
    database: str, *, final: bool
) -> None:
    """A batch of two: the other product is marked, though two pages told of the one."""
    with desk(database, BATCH) as made:
        made.put(row(1)), made.put(row(BAD))
    guard(database, "RETURN NULL;", when=f"NEW.external_id = 'sku-{BAD}'")
    gone = [Vanished("shop", f"https://shop.example/p/{n}", T0 + DAY, final) for n in (1, 1, BAD)]
    with desk(database, BATCH) as made:
        for ticket, one in enumerate(gone):
            made.writer.put("vanished", one, 10, ticket)
    assert sorted(made.stored) == [0, 1, 2], made.reasons
    marked = "SELECT external_id FROM products WHERE missing_at IS NOT NULL"
    assert rows_of(database, marked) == [("sku-1",)]
    ((url, reason),) = rows_of(database, "SELECT url, reason FROM rejected_items")
    assert url == f"https://shop.example/p/{BAD}"
    assert reason == (
        "PostgreSQL refused to note that it is gone:"
        " a trigger or a rule of products kept it out without an error"
    )


def test_a_sighting_that_a_trigger_swallows_is_said(database: str) -> None:
    """Without its sighting, the end of the crawl takes an unchanged product for one not seen."""
    with desk(database, BATCH) as made:
        made.put(row(1)), made.put(row(BAD))
    guard(database, "RETURN NULL;", table="sightings", when=f"'sku-{BAD}' = ANY(NEW.external_ids)")
    with desk(database, BATCH) as made:
        for number in (1, BAD):
            made.put(row(number, at=T0 + timedelta(minutes=1)), number)
    assert sorted(made.stored) == [1, BAD], made.reasons
    assert rows_of(database, "SELECT external_ids FROM sightings") == [(["sku-1"],)]
    ((reason,),) = rows_of(database, "SELECT reason FROM rejected_items")
    assert "a trigger or a rule of sightings kept it out without an error" in str(reason)


def test_a_further_address_that_a_trigger_swallows_is_said(database: str) -> None:
    """One that is known already is no row either, and nothing is said about it."""
    guard(database, "RETURN NULL;", table="product_urls", when="NEW.url LIKE '%bad'")
    twice = [row(1, url="https://shop.example/p/1?good"), row(1)]
    for at in (T0, T0 + DAY):
        with desk(database, BATCH) as made:
            for one in twice:
                made.put(attrs.evolve(one, scraped_at=at))
    assert rows_of(database, "SELECT url FROM product_urls") == [(twice[0].url,)]
    assert rows_of(database, "SELECT reason FROM rejected_items") == []
    with desk(database, BATCH) as made:
        made.put(row(1, at=T0 + 2 * DAY, url="https://shop.example/p/1?bad"), "bad")
    assert made.stored == ["bad"], made.reasons
    ((url, reason),) = rows_of(database, "SELECT url, reason FROM rejected_items")
    assert url == "https://shop.example/p/1?bad"
    assert "a trigger or a rule of product_urls kept it out without an error" in str(reason)


def test_a_swallowed_note_of_a_refused_row_fails_its_page(database: str) -> None:
    guard(database, "RETURN NULL;")
    guard(database, "RETURN NULL;", table="rejected_items")
    with desk(database, BATCH) as made:
        made.put(row(1), 1)
        wait_until(lambda: made.failed == [1], 20, "the page fails")
    assert "a trigger or a rule of rejected_items" in made.reasons[0]


def test_a_view_that_checks_its_rows_costs_the_row_only(database: str) -> None:
    execute(database, "ALTER TABLE products RENAME TO held")
    execute(
        database,
        "CREATE VIEW products AS SELECT * FROM held WHERE price < 100 WITH CASCADED CHECK OPTION",
    )
    with desk(database, BATCH) as made:
        made.put(row(1), 1)
        made.put(row(2, price="500"), 2)
        wait_until(lambda: len(made.stored) + len(made.failed) == 2, 20, "both rows have an end")
    assert sorted(made.stored) == [1, 2], made.reasons
    assert rows_of(database, "SELECT external_id FROM held") == [("sku-1",)]
    assert rows_of(database, "SELECT code FROM rejected_items") == [("44000",)]


def test_a_policy_that_refuses_one_row_does_not_look_like_a_revoked_grant(database: str) -> None:
    with lesser_role(database) as url:
        execute(database, "ALTER TABLE products ENABLE ROW LEVEL SECURITY")
        execute(
            database, f"CREATE POLICY p ON products USING (true) WITH CHECK (sku IS DISTINCT FROM"
            f" 'no' AND external_id <> 'sku-{BAD}')",
        )  # fmt: skip
        keys, rejected = store_around(database, url)
    assert len(keys) == 29
    assert [code for _, code, _, _ in rejected] == ["42501"]


def test_a_row_that_takes_too_long_costs_itself_only(database: str) -> None:
    execute(
        database,
        f'ALTER DATABASE "{urlsplit(database).path[1:]}" SET statement_timeout = 300',
    )
    guard(database, "PERFORM pg_sleep(10);", when=f"NEW.external_id = 'sku-{BAD}'")
    keys, rejected = store_around(database)
    assert len(keys) == 29
    assert [code for _, code, _, _ in rejected] == ["57014"]


def test_a_row_that_breaks_its_connection_each_time_ends(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WAITS_S", (0.0,))
    guard(
        database,
        "PERFORM pg_terminate_backend(pg_backend_pid());",
        when=f"NEW.external_id = 'sku-{BAD}'",
    )
    keys, rejected = store_around(database)
    assert len(keys) == 29
    assert len(rejected) == 1


def test_each_reason_of_refused_rows_is_told_once(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    guard(database, "RAISE 'no %', NEW.site_id;")
    with desk(database, BATCH) as made:
        for number in range(40):
            made.put(row(number, site_id=f"s{number % 2}"), number)
    told = [line for line in caplog.messages if "a row for products was refused" in line]
    found = sorted(line.partition(": ")[2].partition(";")[0] for line in told)
    assert found == ["no s0 (P0001)", "no s1 (P0001)"]
    assert rows_of(database, "SELECT count(*) FROM rejected_items") == [(40,)]


@pytest.mark.parametrize("fault", ["REVOKE", "DROP"])
def test_a_table_that_takes_no_row_at_all_is_waited_for_and_rejects_none(
    database: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    with lesser_role(database) as url, desk(url, BATCH) as made:
        made.put(row(0), 0)
        wait_until(lambda: made.stored == [0], 10, "the first row")
        role = f"role_{urlsplit(database).path[1:]}"
        if fault == "REVOKE":
            execute(database, f"REVOKE INSERT ON products FROM {role}")
        else:
            execute(database, "ALTER TABLE products RENAME TO away")
        for number in range(1, 500):
            made.put(row(number), number)
        wait_until(lambda: made.pressed == [True], 20, "the crawl waits")
        if fault == "REVOKE":
            execute(database, f"GRANT INSERT ON products TO {role}")
        else:
            execute(database, "ALTER TABLE away RENAME TO products")
        wait_until(lambda: len(made.stored) == 500, 20, "all rows")
    assert rows_of(database, "SELECT count(*) FROM products") == [(500,)]
    assert rows_of(database, "SELECT count(*) FROM rejected_items") == [(0,)]
    assert made.failed == []
    waits = [line for line in caplog.messages if "the store accepts no row for products" in line]
    assert len(waits) == 1
    assert ("permission denied" if fault == "REVOKE" else "does not exist") in waits[0]


def test_a_site_all_of_whose_rows_are_doubtful_does_not_keep_others_waiting(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Pages are taken meanwhile, or no row of another site would ever come and tell."""
    guard(database, "PERFORM 1 FROM no_such_table;", when="NEW.site_id = 'bad'")
    with desk(database, BATCH) as made:
        for number in range(40):
            made.put(row(number, site_id="bad"), number)
        wait_until(lambda: "the store accepts no row for products" in caplog.text, 20, "suspicion")
        assert made.pressed == []
        for number in range(40, 200):
            made.put(row(number, site_id="bad"), number)
        made.put(row(999), 999)
        wait_until(lambda: len(made.stored) == 201, 60, "each row has its end")
    assert rows_of(database, "SELECT external_id FROM products") == [("sku-999",)]
    assert rows_of(database, "SELECT count(*) FROM rejected_items") == [(200,)]


def test_a_crawl_whose_every_row_is_doubtful_waits_when_a_batch_of_them_does(
    database: str,
) -> None:
    """None is rejected: where no row tells, the fault may be everybody's."""
    guard(database, "PERFORM 1 FROM no_such_table;")
    with desk(database, attrs.evolve(BATCH, rows=30)) as made:
        for number in range(100):
            made.put(row(number), number)
        wait_until(lambda: made.pressed == [True], 20, "the crawl waits")
        assert rows_of(database, "SELECT count(*) FROM rejected_items") == [(0,)]
        execute(database, "DROP TRIGGER guard ON products")
        wait_until(lambda: len(made.stored) == 100, 60, "each row has its end")
    assert rows_of(database, "SELECT count(*) FROM products") == [(100,)]
    assert made.pressed[-1] is False


@pytest.mark.parametrize("fault", ["trigger", "missing", "grant"])
def test_what_even_the_rejected_table_refuses_fails_its_page(database: str, fault: str) -> None:
    guard(database, "RAISE 'no lamps';", when="NEW.external_id = 'sku-7'")
    with lesser_role(database) as url:
        if fault == "trigger":
            guard(database, "RAISE 'no rejects';", table="rejected_items")
        elif fault == "missing":
            execute(database, "DROP TABLE rejected_items")
        else:
            execute(
                database,
                f"REVOKE ALL ON rejected_items FROM role_{urlsplit(database).path[1:]}",
            )
        with desk(url, BATCH) as made:
            for number in range(30):
                made.put(row(number), number)
            wait_until(lambda: len(made.stored) + len(made.failed) == 30, 20, "all have an end")
    assert made.failed == [BAD]
    assert "rejected" in made.reasons[0]
    assert rows_of(database, "SELECT count(*) FROM products") == [(29,)]
    assert made.pressed in ([], [True, False])


@pytest.mark.parametrize("code", ["53100", "53200", "57P03", "58030", "25006"])
def test_a_server_that_is_full_or_read_only_is_waited_for(database: str, code: str) -> None:
    guard(database, f"RAISE 'disk full' USING ERRCODE = '{code}';")
    with desk(database, BATCH) as made:
        for number in range(30):
            made.put(row(number), number)
        wait_until(lambda: made.pressed == [True], 10, "back-pressure")
        execute(database, "DROP TRIGGER guard ON products")
        wait_until(lambda: len(made.stored) == 30, 20, "all rows")
    assert made.failed == []
    assert rows_of(database, "SELECT count(*) FROM rejected_items") == [(0,)]


def test_a_row_that_always_loses_against_others_does_not_hold_up_the_rest(database: str) -> None:
    """A lock that somebody holds is waited for; the rows behind it are stored when it is free."""
    with desk(database, BATCH) as made:
        made.put(row(1), 1)
        wait_until(lambda: made.stored == [1], 10, "the first row")
    execute(database, f'ALTER DATABASE "{urlsplit(database).path[1:]}" SET lock_timeout = 200')
    holder = psycopg2.connect(database)
    holder.cursor().execute("LOCK TABLE products IN ACCESS EXCLUSIVE MODE")
    release = threading.Timer(3, holder.rollback)
    release.start()
    with desk(database, BATCH) as made:
        for number in range(100):
            made.put(row(number), number)
        wait_until(lambda: len(made.stored) == 100, 30, "all rows after the lock")
    release.join()
    holder.close()
    assert made.failed == []
    assert rows_of(database, "SELECT count(*) FROM rejected_items") == [(0,)]

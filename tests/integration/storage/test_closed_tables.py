"""A row that is refused alone: its own fault, or that of its table, which takes none now.

No other row tells. Each fault is made on a real server, and the time for doubts is none or endless,
so that no answer depends on how fast the machine is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg2
import pytest

from crawler.reads.doctor.facts import _postgres, _postgres_facts
from scrapy_seine import once_a_minute
from scrapy_seine.sinks.postgres import item_rows
from scrapy_seine.sinks.postgres import writer as module
from scrapy_seine.sinks.postgres.batches import Report
from scrapy_seine.sinks.postgres.item_rows import ItemRow, table_name
from scrapy_seine.sinks.postgres.writer import Writer
from tests.helpers import execute, wait_until
from tests.integration.storage.kit import Desk, cut_off, desk, guard, lesser_role, row, rows_of

pytestmark = pytest.mark.postgres
REJECTED = "SELECT url, code, constraint_name, reason FROM rejected_items"


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WAITS_S", (0.05,))


@pytest.fixture
def _brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Doubts end at once."""
    monkeypatch.setattr(module, "DOUBT_S", 0.0)


def ended(made: Desk, many: int = 1) -> bool:
    return len(made.stored) + len(made.failed) == many


def is_rejected(database: str, made: Desk, code: str) -> None:
    """One row has its end, which is a rejected one with the code."""
    wait_until(lambda: ended(made), 20, "the row has its end")
    assert made.stored == [1], made.reasons
    ((url, known, _, reason),) = rows_of(database, REJECTED)
    assert (url, known) == ("https://shop.example/p/1", code)
    assert f"({code})" in str(reason)
    assert rows_of(database, "SELECT count(*) FROM products") == [(0,)]


def is_waited_for(
    database: str, url: str, fault: Callable[[], None], cure: Callable[[], None], many: int
) -> None:
    """No row is stored, refused or given up until the cure; then each is stored."""
    fault()
    with desk(url) as made:
        for number in range(many):
            made.put(row(number), number)
        wait_until(lambda: made.pressed == [True], 20, "the crawl waits")
        assert not ended(made, many)
        cure()
        wait_until(lambda: ended(made, many), 20, "all rows")
    assert sorted(made.stored) == list(range(many)), made.reasons
    assert rows_of(database, "SELECT count(*) FROM products") == [(many,)]
    assert rows_of(database, REJECTED) == []


@pytest.mark.parametrize("code", ["42501", "XX001", "0A000", "42P01", "3F000"])
def test_a_row_for_which_a_trigger_raises_is_rejected_with_nothing_beside_it(
    database: str, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """Whatever the code says otherwise: a function's author meant this row. None is waited for."""
    monkeypatch.setattr(module, "DOUBT_S", 1e6)
    guard(database, f"RAISE 'not this' USING ERRCODE = '{code}';")
    with desk(database) as made:
        made.put(row(1), 1)
        is_rejected(database, made, code)
    assert made.pressed == []


@pytest.mark.usefixtures("_brief")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("PERFORM 1 FROM no_such_table;", "42P01"),
        ("PERFORM no_such_function();", "42883"),
        ("EXECUTE 'SELEC 1';", "42601"),
    ],
)
def test_a_row_at_which_a_trigger_breaks_is_rejected_with_nothing_beside_it(
    database: str, body: str, code: str
) -> None:
    guard(database, body)
    with desk(database) as made:
        made.put(row(1), 1)
        is_rejected(database, made, code)


@pytest.mark.usefixtures("_brief")
def test_a_row_that_a_policy_refuses_is_rejected_with_nothing_beside_it(database: str) -> None:
    """The server's own 42501, as of a revoked grant."""
    with lesser_role(database) as url:
        execute(database, "ALTER TABLE products ENABLE ROW LEVEL SECURITY")
        execute(database, "CREATE POLICY p ON products USING (true) WITH CHECK (sku = 'no')")
        with desk(url) as made:
            made.put(row(1), 1)
            is_rejected(database, made, "42501")


@pytest.mark.usefixtures("_brief")
@pytest.mark.parametrize("table", ["products", "sites", "sightings"])
@pytest.mark.parametrize("many", [1, 30])
def test_a_revoked_grant_is_waited_for_though_no_other_row_tells(
    database: str, table: str, many: int
) -> None:
    with lesser_role(database) as url:
        if table == "sightings":  # only what is known already gets there
            with desk(url) as made:
                for number in range(many):
                    made.put(row(number), number)
        role = f"role_{urlsplit(database).path[1:]}"
        is_waited_for(
            database,
            url,
            lambda: execute(database, f"REVOKE INSERT ON {table} FROM {role}"),
            lambda: execute(database, f"GRANT INSERT ON {table} TO {role}"),
            many,
        )


@pytest.mark.usefixtures("_brief")
@pytest.mark.parametrize("many", [1, 30])
@pytest.mark.parametrize(
    ("fault", "cure"),
    [
        ("ALTER TABLE products RENAME TO away", "ALTER TABLE away RENAME TO products"),
        ("ALTER TABLE products RENAME gtin TO ean", "ALTER TABLE products RENAME ean TO gtin"),
        (
            "ALTER TABLE products ADD shelf text NOT NULL",
            "ALTER TABLE products ALTER shelf SET DEFAULT 'none'",
        ),
        (
            "ALTER TABLE products ALTER COLUMN etag TYPE integer USING 1",
            "ALTER TABLE products ALTER COLUMN etag TYPE text",
        ),
    ],
)
def test_a_table_that_somebody_changed_is_waited_for_though_no_other_row_tells(
    database: str, fault: str, cure: str, many: int
) -> None:
    is_waited_for(
        database,
        database,
        lambda: execute(database, fault),
        lambda: execute(database, cure),
        many,
    )


def test_a_table_with_a_damaged_block_is_waited_for(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL's own XX001: an insert takes the table's last block, which is no page.

    Whether a batch without rows meets the block is the planner's choice, so that other rows tell.
    """
    monkeypatch.setattr(module, "DOUBT_S", 1e6)
    ((folder, path),) = rows_of(
        database, "SELECT current_setting('data_directory'), pg_relation_filepath('products')"
    )
    file = Path(str(folder)) / str(path)

    def damage() -> None:
        with file.open("ab") as damaged:
            damaged.write(b"\x55" * 8192)

    def cure() -> None:
        # Refused rows have left index entries behind, for places that rows get again now.
        with closing(psycopg2.connect(database)) as other, other, other.cursor() as cursor:
            cursor.execute("LOCK TABLE products IN ACCESS EXCLUSIVE MODE")
            # Zeros are an empty page. A cut file would be extended by what the server remembers.
            with file.open("r+b") as cured:
                cured.write(bytes(8192))
            cursor.execute("REINDEX TABLE products")

    is_waited_for(database, database, damage, cure, 30)


@pytest.mark.usefixtures("_brief")
def test_rows_that_are_refused_slowly_one_after_the_other_blame_the_table_in_the_end(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    guard(database, "PERFORM 1 FROM no_such_table;")
    with desk(database) as made:
        for number in range(module.SUSPECT - 1):
            made.put(row(number), number)
            wait_until(lambda many=number + 1: ended(made, many), 20, "the row has its end")
        assert made.pressed in ([], [True, False])
        made.put(row(99), 99)
        wait_until(lambda: "the store accepts no row" in caplog.text, 20, "the table is suspected")
        assert not ended(made, module.SUSPECT)
        execute(database, "DROP TRIGGER guard ON products")
        wait_until(lambda: ended(made, module.SUSPECT), 20, "the last row")
    assert made.failed == []
    assert rows_of(database, "SELECT external_id FROM products") == [("sku-99",)]
    assert len(rows_of(database, REJECTED)) == module.SUSPECT - 1


@pytest.mark.usefixtures("_brief")
@pytest.mark.parametrize(
    ("rule", "code", "constraint"),
    [
        ("ADD CONSTRAINT cheap CHECK (price < 1)", "23514", "cheap"),
        ("ALTER sku SET NOT NULL", "23502", None),
        ("ADD CONSTRAINT one UNIQUE (currency)", "23505", "one"),
    ],
)
def test_a_rule_that_a_user_added_rejects_the_rows_that_break_it(
    database: str, rule: str, code: str, constraint: str | None
) -> None:
    with desk(database) as made:
        made.put(row(0, sku="a", price="0.50"), 0)
    execute(database, f"ALTER TABLE products {rule}")
    with desk(database) as made:
        for number in range(1, 30):
            made.put(row(number), number)
        wait_until(lambda: ended(made, 29), 20, "each row has its end")
    assert made.failed == []
    assert made.pressed == []
    assert {(c, n) for _, c, n, _ in rows_of(database, REJECTED)} == {(code, constraint)}
    assert len(rows_of(database, REJECTED)) == 29


def test_rows_that_are_written_again_wait_for_their_table(database: str) -> None:
    """They are no log's: a rejected row beside each would say that the product is wrong."""
    with desk(database) as made:
        for number in range(3):
            made.put(row(number), number)
        wait_until(lambda: ended(made, 3), 20, "the first rows")
        kept = made.writer._committed.stretches[0]
        kept.number = (kept.number or 0) + 1_000_000  # as after a fall to an older state
        execute(database, "ALTER TABLE products RENAME TO elsewhere")
        cut_off(database)
        made.put(row(3), 3)
        wait_until(lambda: made.pressed == [True], 20, "the crawl waits")
        execute(database, "ALTER TABLE elsewhere RENAME TO products; DELETE FROM products")
        wait_until(lambda: ended(made, 4), 20, "the row after the fall")
    assert rows_of(database, "SELECT count(*) FROM products") == [(4,)]
    assert rows_of(database, REJECTED) == []
    assert sorted(made.stored) == list(range(4)), "each ticket comes back once"


def test_a_long_wait_is_told_again_and_a_short_one_once(
    database: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(words: str) -> int:
        return sum(words in line for line in caplog.messages)

    with desk(database) as made:
        for _ in range(3):
            execute(database, "ALTER TABLE products RENAME TO elsewhere")
            made.put(row(1), 1)
            wait_until(lambda: made.pressed[-1:] == [True], 20, "the crawl waits")
            execute(database, "ALTER TABLE elsewhere RENAME TO products")
            wait_until(lambda: made.pressed[-1:] == [False], 20, "the table is back")
        assert (told("the store accepts no row"), told("the store is back")) == (1, 1)
        monkeypatch.setattr(once_a_minute, "AGAIN_S", 0.1)
        execute(database, "ALTER TABLE products RENAME TO elsewhere")
        made.put(row(2), 2)
        wait_until(lambda: told("the store accepts no row") >= 3, 20, "the wait is told again")
        execute(database, "ALTER TABLE elsewhere RENAME TO products")


@pytest.mark.usefixtures("_brief")
def test_a_table_that_is_locked_longer_than_the_limit_is_waited_for(database: str) -> None:
    execute(database, f'ALTER DATABASE "{urlsplit(database).path[1:]}" SET lock_timeout = 20')
    holder = psycopg2.connect(database)
    holder.cursor().execute("LOCK TABLE products IN ACCESS EXCLUSIVE MODE")
    with desk(database) as made:
        made.put(row(1), 1)
        wait_until(lambda: made.pressed == [True], 20, "the crawl waits")
        assert not ended(made)
        holder.rollback()
        wait_until(lambda: ended(made), 20, "the row after the lock")
    holder.close()
    assert made.stored == [1], made.reasons
    assert rows_of(database, REJECTED) == []


def test_a_lock_that_one_row_waits_for_never_proves_later_ones_wrong(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that lost against a lock says nothing about the next one that meets a lock."""
    monkeypatch.setattr(module, "DOUBT_S", 1e6)
    guard(
        database,
        "RAISE 'busy' USING ERRCODE = '55P03';",
        when="NEW.sku = 'busy'",
    )
    with desk(database) as made:
        made.put(row(1, sku="busy"), 1)
        made.put(row(2), 2)
        wait_until(lambda: ended(made, 2), 20, "both rows have an end")
        assert made.stored.count(1) == 1
        monkeypatch.setattr(module, "DOUBT_S", 0.0)
        made.put(row(3, sku="busy"), 3)
        wait_until(lambda: ended(made, 3), 20, "the third row has its end")
    assert made.failed == [3]
    assert "busy (55P03)" in made.reasons[0]


@pytest.mark.usefixtures("_brief")
@pytest.mark.parametrize("many", [1, 12])
def test_what_a_closed_table_never_took_fails_when_the_worker_ends(
    database: str, many: int
) -> None:
    """Its pages come again; a table's fault rejects no row."""
    with lesser_role(database) as url:
        execute(database, f"REVOKE INSERT ON products FROM role_{urlsplit(database).path[1:]}")
        with desk(url, limit_s=1) as made:
            for number in range(many):
                made.put(row(number), number)
            wait_until(lambda: made.pressed == [True], 20, "the crawl waits")
    assert sorted(made.failed) == list(range(many))
    assert "permission denied for table products (42501)" in made.reasons[0]
    assert rows_of(database, REJECTED) == []


def test_the_doctor_names_a_table_of_which_one_right_is_missing(database: str) -> None:
    """A worker that may insert and not delete passed, and failed at the first product gone."""
    assert _postgres_facts(database).owner
    with lesser_role(database) as url:
        role = f"role_{urlsplit(database).path[1:]}"
        assert (_postgres_facts(url).closed_tables, _postgres_facts(url).owner) == ((), False)
        execute(database, f"REVOKE DELETE ON products FROM {role}")
        execute(database, f"REVOKE INSERT ON seine_migrations FROM {role}")
        assert _postgres_facts(url).closed_tables == ("products",)
        execute(database, f"REVOKE SELECT ON seine_migrations FROM {role}")
        (found,) = _postgres(url)
        assert "permission denied for table seine_migrations" in found.text
        assert found.advice.startswith("GRANT SELECT")


def test_the_doctor_names_a_column_that_nothing_fills(database: str) -> None:
    assert _postgres_facts(database).unfilled_columns == ()
    execute(database, "ALTER TABLE products ADD shelf text NOT NULL, ADD n int NOT NULL DEFAULT 1")
    assert _postgres_facts(database).unfilled_columns == ("products.shelf",)


@contextmanager
def items(url: str, told: list[Report], pressed: list[bool]) -> Iterator[Writer]:
    """Write items of any kind, as the library's pipeline does."""
    table = table_name("items")
    with psycopg2.connect(url) as connection, connection.cursor() as cursor:
        item_rows.create(cursor, table)
    writer = Writer(
        url,
        {"items": lambda cursor, rows: item_rows.write_items(table, cursor, rows)},
        on_report=told.append,
        on_pause=pressed.append,
        replacement_of=lambda table, row, found: None,
    )
    writer.start()
    yield writer
    writer.close(20)


@pytest.mark.usefixtures("_brief")
@pytest.mark.parametrize(
    ("fault", "cure"),
    [
        ("ALTER TABLE items RENAME TO away", "ALTER TABLE away RENAME TO items"),
        ("ALTER TABLE items ADD n integer NOT NULL", "ALTER TABLE items ALTER n SET DEFAULT 1"),
        ("ALTER TABLE items RENAME kind TO k", "ALTER TABLE items RENAME k TO kind"),
    ],
)
def test_a_table_of_items_that_takes_none_is_waited_for(
    database_url_empty: str, fault: str, cure: str
) -> None:
    told: list[Report] = []
    pressed: list[bool] = []
    with items(database_url_empty, told, pressed) as writer:
        execute(database_url_empty, fault)
        writer.put("items", ItemRow("s", "a", "dict", "{}"), 10, 1)
        wait_until(lambda: pressed == [True], 20, "the crawl waits")
        assert not any(report.stored or report.failed for report in told)
        execute(database_url_empty, cure)
        wait_until(lambda: any(report.stored for report in told), 20, "the item")
    assert not any(report.failed for report in told)
    assert rows_of(database_url_empty, "SELECT key FROM items") == [("a",)]


@pytest.mark.usefixtures("_brief")
@pytest.mark.parametrize("code", ["42501", "XX001", "P0001"])
def test_an_item_that_a_trigger_refuses_fails_its_page_with_the_reason(
    database_url_empty: str, code: str
) -> None:
    """There is no place for rejected items: the page ends as a dead letter that says why."""
    told: list[Report] = []
    pressed: list[bool] = []
    with items(database_url_empty, told, pressed) as writer:
        raised = f"RAISE 'not this' USING ERRCODE = '{code}';"
        guard(database_url_empty, raised, table="items", when="NEW.key = 'bad'")
        for key in ("bad", "good"):
            writer.put("items", ItemRow("s", key, "dict", "{}"), 10, key)
        wait_until(lambda: sum(len(r.stored) + len(r.failed) for r in told) == 2, 20, "both end")
    assert [report.reason for report in told if report.failed] == [
        f"PostgreSQL refused a row for items: not this ({code})"
    ]
    assert rows_of(database_url_empty, "SELECT key FROM items") == [("good",)]

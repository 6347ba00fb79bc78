"""Faults of PostgreSQL and the archive: rows that are refused, times at which none is taken."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from contextlib import closing
from urllib.parse import urlsplit

import psycopg2

from tests.benchmarks.edges.scene import Scene, pause
from tests.benchmarks.edges.servers import small_disk

#: What a trigger raises for one product, by SQLSTATE; its neighbours of the batch must be stored.
REFUSALS: Mapping[str, str] = {
    "P0001": "a trigger raises",
    "44000": "a view's check refuses",
    "42501": "the role may not",
    "21000": "a cardinality is violated",
    "XX001": "an index is corrupt",
    "0A000": "a feature is not supported",
    "22003": "a number is out of range",
    "23514": "a check refuses",
    "P0004": "an assertion fails",
}
#: What the server is to blame for: nothing is refused, all rows wait.
OUTAGES: Mapping[str, str] = {
    "53100": "the disk is full",
    "53200": "the memory is full",
    "57014": "statement_timeout ends the statement",
    "40001": "the transaction cannot be serialised",
    "40P01": "a deadlock is broken",
    "25006": "the server is read-only for now",
    "55P03": "a lock is not available",
}
_DISK_MB = 8
_TRIGGER = """
CREATE FUNCTION edges_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE rule record;
BEGIN
    FOR rule IN SELECT * FROM edges_rules LOOP
        IF NEW.sku LIKE rule.sku THEN
            RAISE EXCEPTION 'refused on purpose' USING ERRCODE = rule.code;
        END IF;
    END LOOP;
    RETURN NEW;
END $$;
CREATE TABLE edges_rules (sku text, code text);
CREATE TRIGGER edges_refuse BEFORE INSERT OR UPDATE ON products FOR EACH ROW
    EXECUTE FUNCTION edges_refuse();
"""


def stores(scene: Scene) -> None:
    """Keep one fleet, and do one thing after the other to its database."""
    scene.environment["EDGES_KEEP_ALIVE"] = "1"
    scene.settings["SEINE_KEEP_ALIVE"] = 1
    scene.settings["SEINE_ARCHIVE"] = str(scene.folder / "archive")
    scene.settings["SEINE_ARCHIVE_SECONDS"] = 1
    scene.query(_TRIGGER)
    # The disk stays to the end, because a stopping worker looks for its objects of the archive.
    with small_disk(scene.folder / "archive", f"{_DISK_MB}m"):
        scene.start()
        _refusals(scene)
        _archive(scene)
        _outages(scene)
        _terminated(scene)
        _closed(scene)
        _renamed(scene)
        _locked(scene)
        scene.stop()
    scene.exits("stores")
    scene.judge()


def _refusals(scene: Scene) -> None:
    """Let single rows of one crawl be refused, each with a code of its own."""
    seeds = []
    names = []
    for code, text in REFUSALS.items():
        name = scene.fault(f"2 a row is refused with {code}: {text}")
        host, seed = scene.shelf(name, 4)
        scene.thing(name, host, "/p/bad", 666, "rejected")
        sku = f"{host.rpartition('.')[2].replace(':', '-')}-666"
        scene.query("INSERT INTO edges_rules VALUES (%s, %s)", sku, code)
        seeds += [seed, scene.seed_of(f"http://{host}/p/bad")]
        names.append(name)
    scene.seed(*seeds)
    for name in names:
        scene.settle(name)


def _archive(scene: Scene) -> None:
    """Let the archive's disk be full for a while."""
    name = scene.fault("15 the archive's disk is full")
    ballast = scene.folder / "archive" / "ballast"
    with contextlib.suppress(OSError):
        ballast.write_bytes(bytes(_DISK_MB << 20))
    _, seed = scene.shelf(name, 10)
    scene.seed(seed)
    pause(4)
    ballast.unlink(missing_ok=True)
    scene.settle(name)


def _outages(scene: Scene) -> None:
    """Let every write fail for a while, with each code."""
    for code, text in OUTAGES.items():
        name = scene.fault(f"2 no row is taken for a while, {code}: {text}")
        host, seed = scene.shelf(name, 10)
        scene.query("INSERT INTO edges_rules VALUES (%s, %s)", "%", code)
        scene.seed(seed)
        scene.asked(name, host, 11)
        pause(1)
        scene.query("DELETE FROM edges_rules WHERE sku = %s", "%")
        scene.settle(name)


def _terminated(scene: Scene) -> None:
    name = scene.fault("15 PostgreSQL cuts every connection off")
    host, seed = scene.shelf(name, 40)
    scene.seed(seed)
    scene.asked(name, host, 10)
    scene.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    scene.settle(name)


def _closed(scene: Scene) -> None:
    name = scene.fault("15 PostgreSQL takes no connection for a while")
    host, seed = scene.shelf(name, 20)
    database = scene.query("SELECT current_database() AS name")[0]["name"]
    server = urlsplit(scene.database)._replace(path="/postgres").geturl()
    scene.seed(seed)
    scene.asked(name, host, 3)
    with closing(psycopg2.connect(server)) as admin, admin.cursor() as cursor:
        admin.autocommit = True
        cursor.execute(f'ALTER DATABASE "{database}" WITH ALLOW_CONNECTIONS false')
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
            (database,),
        )
        pause(3)
        cursor.execute(f'ALTER DATABASE "{database}" WITH ALLOW_CONNECTIONS true')
    scene.settle(name)


def _renamed(scene: Scene) -> None:
    name = scene.fault("15 an operator takes the table away for a while")
    host, seed = scene.shelf(name, 10)
    scene.query("ALTER TABLE products RENAME TO products_away")
    scene.seed(seed)
    scene.asked(name, host, 11)
    pause(2)
    scene.query("ALTER TABLE products_away RENAME TO products")
    scene.settle(name)


def _locked(scene: Scene) -> None:
    """Hold the table while statements may take a second only."""
    name = scene.fault("15 statement_timeout while somebody holds the table")
    database = scene.query("SELECT current_database() AS name")[0]["name"]
    scene.query(f"ALTER DATABASE \"{database}\" SET statement_timeout = '1s'")
    host, seed = scene.shelf(name, 10)
    with closing(psycopg2.connect(scene.database)) as holder, holder.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; LOCK TABLE products IN ACCESS EXCLUSIVE MODE")
        scene.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid NOT IN (pg_backend_pid(), %s)",
            holder.info.backend_pid,
        )
        scene.seed(seed)
        scene.asked(name, host, 11)
        pause(3)
        holder.rollback()
    scene.settle(name)

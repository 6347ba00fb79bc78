"""`scrapy up`, `down`, `redis` and `sql`: the stores without a client of one's own."""

from __future__ import annotations

import argparse
import io
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from redis import Redis
from scrapy.settings import Settings

from crawler.cli.live_line import Line
from crawler.commands import down, redis, sql, up
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.errors import ConfigError
from tests.helpers import execute, patient, server_folder, wait_until

Perform = Callable[..., Any]


@pytest.fixture
def perform(redis_url: str, database: str) -> Perform:
    """Run a command in this process; gives its status."""

    def run(kind: type[SeineCommand], *args: str, as_json: bool = False, **settings: str) -> Any:
        command = kind()
        command.as_json = as_json
        command.settings = Settings({"REDIS_URL": redis_url, "DATABASE_URL": database, **settings})
        parser = argparse.ArgumentParser(conflict_handler="resolve")
        command.add_options(parser)
        options, words = parser.parse_known_args(args)
        return command.perform(words, options)

    return run


def test_down_stops_no_servers_that_somebody_uses(
    perform: Perform, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second terminal's worker would wait for its stores until it gives up."""
    with server_folder() as data:
        here = {"REDIS_URL": "", "DATABASE_URL": "", "SEINE_EMBEDDED": "1"}
        here["SEINE_DATA_DIR"] = str(data)
        perform(up.Command, as_json=True, **here)
        first = json.loads(capsys.readouterr().out)
        perform(up.Command, **here)
        again = capsys.readouterr().out
        assert first["private"] == ["redis", "postgres"]
        assert first["redis_url"] in again
        assert f"data in {' and '.join(first['data'])}; `scrapy down` ends them" in again
        with Redis.from_url(first["redis_url"]) as client:
            client.ping()
            with pytest.raises(ConfigError, match=r"uses the servers \(1 connection\)"):
                perform(down.Command, **here)
            assert client.ping()
        perform(down.Command, **here)
        assert capsys.readouterr().out.startswith("stopped Redis and PostgreSQL; data stays in ")
        perform(down.Command, "--force", **here)
        assert capsys.readouterr().out.startswith("nothing runs in ")


def test_up_shows_no_password_of_servers_of_ones_own(
    perform: Perform, capsys: pytest.CaptureFixture[str], database: str
) -> None:
    perform(up.Command, DATABASE_URL=database.replace("@", ":hunter2@", 1))
    shown = capsys.readouterr().out

    assert "://***@" in shown
    assert "hunter2" not in shown
    assert shown.splitlines()[-2:] == ['redis-cli -u "$REDIS_URL"', 'psql "$DATABASE_URL"']
    assert "scrapy down" not in shown


def test_a_wrong_line_ends_no_session_with_redis(
    perform: Perform,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    namespace: str,
) -> None:
    lines = (
        f"set {namespace}:a 'two words'",
        "get 'no end",
        "nosuch",
        "",
        f"get {namespace}:a",
        "quit",
        f"del {namespace}:a",
    )
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines)))

    assert perform(redis.Command) == 1

    said = capsys.readouterr()
    assert said.out.splitlines() == ['"OK"', '"two words"']
    assert "No closing quotation" in said.err
    assert "unknown command" in said.err.lower()
    assert perform(redis.Command, "del", f"{namespace}:a") == 0, "what follows quit was not done"
    assert capsys.readouterr().out == "(integer) 1\n"


@pytest.mark.parametrize(
    ("reply", "lines"),
    [
        ([], ["(empty)"]),
        ({b"k": [b"a", None]}, ['1) "k"', '2) 1) "a"', "   2) (nil)"]),
        (b'a "b"\n\\', ['"a \\"b\\"\\n\\\\"']),
        (1.5, ["1.5"]),
    ],
)
def test_a_reply_is_shown_as_redis_cli_does(reply: Any, lines: list[str]) -> None:
    assert list(redis.reply_text(reply)) == lines
    json.dumps(redis.plain(reply))  # --json can always say it


def test_sql_shows_rows_json_and_what_a_statement_did(
    perform: Perform, capsys: pytest.CaptureFixture[str], database: str
) -> None:
    execute(database, "CREATE TABLE things (a jsonb, b text)")
    perform(sql.Command, "INSERT INTO things VALUES ('[1]', NULL), ('{}', 'x')")
    assert capsys.readouterr().out == "INSERT 0 2\n"
    perform(sql.Command, "SELECT", "*", "FROM", "things")
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert shown == [["a", "b"], ["[1]"], ["{}", "x"], ["2", "rows"]]
    perform(sql.Command, "SELECT * FROM things", as_json=True)
    assert json.loads(capsys.readouterr().out)["rows"] == [
        {"a": [1], "b": None},
        {"a": {}, "b": "x"},
    ]
    with pytest.raises(ConfigError, match=r"^PostgreSQL: relation .nosuch. does not exist"):
        perform(sql.Command, "SELECT * FROM nosuch")
    with pytest.raises(ConfigError, match="no text in UTF-8"):
        perform(sql.Command, "SELECT '\udcff'")


def test_sql_shows_the_result_of_each_statement(
    perform: Perform, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those before the last were run, and nothing of them was shown."""
    perform(sql.Command, "CREATE TABLE things (a text); SELECT 1 AS one; SELECT ';' AS two; -- end")
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert shown == [
        ["CREATE", "TABLE"],
        ["one"],
        ["1"],
        ["1", "row"],
        ["two"],
        [";"],
        ["1", "row"],
    ]
    perform(sql.Command, "SELECT 1 AS a; SELECT 2 AS b", as_json=True)
    both = [{"rows": [{"a": 1}]}, {"rows": [{"b": 2}]}]
    assert json.loads(capsys.readouterr().out) == {"results": both}
    with pytest.raises(ConfigError, match="syntax error"):
        perform(sql.Command, "DROP TABLE things; SELEC")
    perform(sql.Command, "SELECT count(*) FROM things")  # all or none


def test_sql_shows_values_as_postgresql_writes_them(
    perform: Perform, capsys: pytest.CaptureFixture[str]
) -> None:
    """A date before Christ was a traceback, infinity the year 9999, a month 30 days, bytes an
    object's address, and of two columns of one name JSON had one."""
    statement = (
        "SELECT '0044-03-15 BC'::date d, 'infinity'::timestamptz t, '1 month'::interval i,"
        " '\\x00ff'::bytea b, array['a'::bytea] bs, '24:00'::time h, '2026-01-02'::date d,"
        " array['2026-01-02'::date, '-infinity'] ds, 3 d_2"
    )
    perform(sql.Command, statement, as_json=True)
    written = {"d": "0044-03-15 BC", "t": "infinity", "i": "1 mon", "b": "\\x00ff"}
    lists = {"bs": ["\\x61"], "ds": ["2026-01-02", "-infinity"]}
    one_name = {"d_2": "2026-01-02", "d_2_2": 3}
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row == {**written, **lists, "h": "24:00:00", **one_name}


def test_ctrl_c_ends_a_long_statement(database: str) -> None:
    """The command ended when the statement did, whatever was pressed."""
    code = "from scrapy_seine.interrupts import main; main()"
    env = {**os.environ, "DATABASE_URL": database, "SCRAPY_PROJECT": "default"}
    running = "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(3600)'"
    with closing(psycopg2.connect(database)) as connection, connection.cursor() as cursor:
        connection.autocommit = True

        def runs() -> bool:
            cursor.execute(running)
            return bool((cursor.fetchone() or [0])[0])

        command = [sys.executable, "-c", code, "sql", "SELECT pg_sleep(3600)"]
        with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process:
            wait_until(runs, 30, "the statement runs")
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=patient(30))
        assert (process.returncode, said) == (130, "seine: stopped\n")
        wait_until(lambda: not runs(), 10, "the statement is cancelled")


def test_sql_says_that_there_are_no_tables_yet(perform: Perform, database_url_empty: str) -> None:
    with pytest.raises(ConfigError, match=r"products.*: `scrapy migrate` makes them"):
        perform(sql.Command, "SELECT * FROM products", DATABASE_URL=database_url_empty)
    with pytest.raises(ConfigError, match=r'relation "prodcts" does not exist$'):
        perform(sql.Command, "SELECT * FROM prodcts")


def test_sql_without_a_client_asks_for_a_statement(
    perform: Perform, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("crawler.stores.embedded.postgres.psql", lambda setting: "psql")

    with pytest.raises(ConfigError, match="there is no psql here; name a statement"):
        perform(sql.Command)


def test_a_terminals_last_line_gives_way_to_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is wider than the terminal could not be taken away again."""
    monkeypatch.setenv("COLUMNS", "10")
    out = io.StringIO()
    line = Line(out)
    line.filter(logging.makeLogRecord({}))
    assert out.getvalue() == "", "nothing is shown yet"
    line.show("a shop\x1b[2J with a long name")
    (shown,) = out.getvalue().split("\x1b[2K")[1:]
    line.filter(logging.makeLogRecord({}))

    assert len(shown) == 9
    assert "\x1b" not in shown
    assert out.getvalue().endswith("\r\x1b[2K")

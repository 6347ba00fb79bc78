"""What is foreign gives no orders to who reads it: terminals, logs, spreadsheets."""

from __future__ import annotations

import csv
import io
import logging
import sys

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.stores.export import Column
from crawler.stores.export_formats import harmless_cell, write_csv, write_jsonl
from scrapy_seine.commands.one_line_errors import guarded
from scrapy_seine.engine.telemetry.logs import SafeFormatter
from scrapy_seine.errors import ConfigError
from scrapy_seine.printable import escaped, guarded_streams, printable, redact
from scrapy_seine.reads import lazy_rich
from tests.measuring import within_cpu

ORDERS = ["\x1b[2J", "\x9b31m", "\x07", "\x08", "\x7f", "\r", "\u202e", "\u2066", "\ud800"]
FORMULAS = [
    '=HYPERLINK("http://x","y")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "\uff1d1",
    "a;=1+1",
    'a\t"=1',
    "\ufeff=1",
    "\x00=1",
]


def test_a_closed_standard_input_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """`scrapy seine seed -` and a question for a confirmation ended in a traceback."""
    monkeypatch.setattr(sys, "stdin", None)
    read: list[str] = []
    assert guarded(lambda: read.append(sys.stdin.read())) == 0
    assert read == [""]
    sys.stdin.close()


def test_a_locale_without_a_letter_gets_another_instead_of_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = io.BytesIO()
    with io.TextIOWrapper(written, encoding="ascii") as narrow:
        monkeypatch.setattr(sys, "stdout", narrow)
        with guarded_streams():
            print("Bremøre –")
        narrow.flush()
        assert written.getvalue() == b"Brem?re ?\n"


@pytest.mark.parametrize("order", ORDERS)
def test_no_order_reaches_a_terminal(order: str, capsys: pytest.CaptureFixture[str]) -> None:
    with guarded_streams():
        print(f"a{order}b")
        print(f"a{order}b", file=sys.stderr)
        table = lazy_rich.Table()
        table.add_column(f"c{order}d")
        table.add_row(lazy_rich.Text(f"a{order}b"))
        table.add_row(f"a{order}b")
        lazy_rich.Console(highlight=False, width=60).print(table, f"x{order}y")
    out, err = capsys.readouterr()
    assert order not in out + err
    assert "b" in out


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_stream_that_a_shell_closed_costs_no_command(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`>&-` and some supervisors close one; Python has None in its place."""
    monkeypatch.setattr(sys, name, None)
    assert guarded(lambda: print("said", file=getattr(sys, name))) == 0
    assert not getattr(sys, name).isatty()
    getattr(sys, name).close()


def test_the_consoles_own_styles_still_reach_a_terminal() -> None:
    out = io.StringIO()
    lazy_rich.Console(file=out, force_terminal=True).print(lazy_rich.Text("a\x1b[5mb", style="red"))
    assert out.getvalue() == "\x1b[31ma\ufffd[5mb\x1b[0m\n"


@pytest.mark.parametrize("order", ORDERS)
def test_no_order_and_no_password_reaches_a_log(order: str) -> None:
    record = logging.LogRecord("x", 20, "f", 1, "got %s", (f"http://me:p@ss@h/{order}",), None)
    line = SafeFormatter(logging.Formatter("%(message)s")).format(record)
    assert order not in line
    assert line.startswith("got http://***@h/")


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_begins_a_formula(text: str) -> None:
    out = io.BytesIO()
    write_csv([Column("name", "text")], [[(text,)]], out)
    (cell,) = list(csv.reader(io.StringIO(out.getvalue().decode(), newline="")))[1]
    for part in cell.replace("\t", ";").replace("\n", ";").split(";"):
        assert part.lstrip(' "\ufeff\ufffd')[:1] not in tuple("=+-@\uff1d")
    raw = io.BytesIO()
    write_csv([Column("name", "text")], [[(text,)]], raw, raw=True)
    assert text in list(csv.reader(io.StringIO(raw.getvalue().decode(), newline="")))[1]


@pytest.mark.parametrize("text", ["-5.20", "+3", "1e-7", "-1,5", "a-b", "x = y", "it's", "Ä; b"])
def test_what_is_no_formula_stays(text: str) -> None:
    assert harmless_cell(text) == text


@given(st.text())
def test_json_lines_lose_nothing(text: str) -> None:
    out = io.BytesIO()
    write_jsonl([Column("name", "text")], [[(text,)]], out)
    assert orjson.loads(out.getvalue()) == {"name": text}
    assert printable(out.getvalue().decode()) == out.getvalue().decode()
    assert orjson.loads(escaped(orjson.dumps(text).decode())) == text


@pytest.mark.parametrize("letter", ["\n", " ", ";", '"', "=", "@", "\x1b", "a;"])
def test_the_time_for_a_cell_is_linear(letter: str) -> None:
    with within_cpu(0.5):
        harmless_cell(letter * 200_000)


@pytest.mark.parametrize("part", ["a://b:c/", "a://:x", "://b:c", "a://b/", "://a:b@", "a:b@"])
def test_the_time_to_hide_passwords_in_a_foreign_text_is_linear(part: str) -> None:
    """A description without a space held a worker for seconds as its item was logged."""
    with within_cpu(0.5):
        redact(part * (100_000 // len(part)) + " me@x")


def test_a_failure_whose_reader_has_gone_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """`scrapy logs nosuch --json | true` said its line, and then how it could not say it."""
    monkeypatch.setattr(sys, "stdout", sys.stdout)

    def fail() -> None:
        raise ConfigError("there is none")

    def tell(_: str) -> None:
        raise BrokenPipeError

    assert guarded(fail, tell) == 1

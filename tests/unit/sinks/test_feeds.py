"""A feed's parts, and the file that is made of them: each page's last whole reading, once (I4)."""

from __future__ import annotations

import csv
import gzip
import json
import lzma
import pickle
from argparse import ArgumentParser
from collections.abc import Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest
from scrapy import exporters
from scrapy.exporters import BaseItemExporter
from scrapy.settings import Settings

from scrapy_seine.commands.join_feeds import Command
from scrapy_seine.errors import SeineError
from scrapy_seine.sinks.feeds.exporter import post_process
from scrapy_seine.sinks.feeds.join import Order, join
from scrapy_seine.sinks.feeds.parquet import ParquetItemExporter
from scrapy_seine.sinks.feeds.part import NO_PAGE, SIDECAR, Part, Reading

EXPORTERS: dict[str, type[BaseItemExporter]] = {
    "jsonl": exporters.JsonLinesItemExporter,
    "json": exporters.JsonItemExporter,
    "csv": exporters.CsvItemExporter,
    "xml": exporters.XmlItemExporter,
    "pickle": exporters.PickleItemExporter,
    "parquet": ParquetItemExporter,
}
formats = pytest.mark.parametrize("format_", sorted(EXPORTERS))
Row = tuple[Reading, dict[str, Any]]
FIRST, AGAIN = Reading("s 1", "11", 100), Reading("s 1", "22", 200)
OTHER = Reading("s 2", "33", 150)


def put_part(
    folder: Path,
    name: str,
    format_: str,
    rows: Sequence[Row],
    ended: Sequence[tuple[Reading, str]] = (),
    **options: Any,
) -> None:
    """Write a part as a worker does."""
    buffer = BytesIO()
    part = Part(EXPORTERS[format_](buffer, **options), buffer)
    for reading, item in rows:
        part.add(item, reading)
    part.finished_readings += ended
    sealed = part.seal()
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.{format_}{SIDECAR}").write_bytes(sealed.sidecar())
    if sealed.rows:
        (folder / f"{name}.{format_}").write_bytes(sealed.data)


def read(path: Path) -> list[dict[str, Any]]:
    """Read the items of a file; numbers are texts where the format has no others."""
    text = path.suffix
    if text == ".jsonl":
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    if text == ".json":
        found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
        return found
    if text == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    if text == ".xml":
        root = ElementTree.parse(path).getroot()
        return [{field.tag: field.text for field in item} for item in root]
    if text == ".parquet":
        return list(pq.read_table(path).to_pylist())
    with path.open("rb") as pickled:
        items = []
        while pickled.peek(1):
            items.append(pickle.load(pickled))
    return items


def texts(items: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """Return items with texts as their values."""
    return [{name: str(value) for name, value in item.items()} for item in items]


def order(folder: Path, format_: str, **options: Any) -> Order:
    return Order(folder, "r", lambda number: folder.parent / f"out-{number}.{format_}", **options)


@formats
@pytest.mark.parametrize("indent", [None, 0, 2])
def test_the_joined_file_is_what_one_worker_writes(
    tmp_path: Path, format_: str, indent: int | None
) -> None:
    items = [{"n": n, "text": f'é "{n}",\n[]'} for n in range(5)]
    options = {"indent": indent} if format_ in {"json", "xml"} else {}
    buffer = BytesIO()
    whole = EXPORTERS[format_](buffer, **options)
    whole.start_exporting()
    for item in items:
        whole.export_item(item)
    whole.finish_exporting()
    parts = tmp_path / "parts"
    for at, chosen in enumerate(([0, 1], [], [2, 3, 4])):
        rows = [(OTHER, items[n]) for n in chosen]
        put_part(parts, f"r{at}", format_, rows, [(OTHER, "done")] if at == 2 else (), **options)
    joined = join(order(parts, format_))
    assert joined is not None
    assert (joined.items, joined.parts, joined.cut_off, joined.doubled) == (5, 3, 0, 0)
    out = tmp_path / f"out-1.{format_}"
    if format_ == "parquet":
        assert read(out) == items
    else:
        assert out.read_bytes() == buffer.getvalue()


@formats
@pytest.mark.parametrize(
    ("ends", "kept", "cut_off"),
    [
        ([(AGAIN, "done")], ["c", "d"], 0),
        ([(FIRST, "done"), (AGAIN, "done")], ["c", "d"], 0),
        ([(FIRST, "done")], ["a", "b"], 0),
        ([(FIRST, "retry"), (AGAIN, "bury")], ["c", "d"], 0),
        ([(FIRST, "retry")], ["c", "d"], 1),
        ([], ["c", "d"], 1),
    ],
)
def test_of_a_page_that_was_read_again_the_last_whole_reading_stays(
    tmp_path: Path, format_: str, ends: list[tuple[Reading, str]], kept: list[str], cut_off: int
) -> None:
    parts = tmp_path / "parts"
    put_part(parts, "r1", format_, [(FIRST, {"t": "a"}), (OTHER, {"t": "x"}), (FIRST, {"t": "b"})])
    put_part(parts, "r2", format_, [(AGAIN, {"t": "c"}), (NO_PAGE, {"t": "y"})], [(OTHER, "done")])
    put_part(parts, "r3", format_, [(AGAIN, {"t": "d"})], ends)
    joined = join(order(parts, format_))
    assert joined is not None
    found = [item["t"] for item in read(tmp_path / f"out-1.{format_}")]
    assert sorted(found) == sorted([*kept, "x", "y"])
    assert (joined.doubled, joined.cut_off) == (2, cut_off)


def test_a_reading_without_items_takes_the_place_of_one_that_was_cut_off(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    put_part(parts, "r1", "jsonl", [(FIRST, {"t": "a"}), (OTHER, {"t": "x"})], [(OTHER, "done")])
    put_part(parts, "r2", "jsonl", [], [(AGAIN, "done")])
    join(order(parts, "jsonl"))
    assert read(tmp_path / "out-1.jsonl") == [{"t": "x"}]


def test_a_part_without_its_sidecar_counts_for_nothing(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    put_part(parts, "r1", "jsonl", [(FIRST, {"t": "a"})], [(FIRST, "done")])
    (parts / "r3.jsonl").write_text('{"t": "c"}\n', "utf-8")
    (parts / ".r4.jsonl.77").write_text('{"t":', "utf-8")
    join(order(parts, "jsonl", over=True))
    assert read(tmp_path / "out-1.jsonl") == [{"t": "a"}]
    assert {path.name for path in parts.iterdir()} == {".lock", "r.joined"}


@formats
@pytest.mark.parametrize("doubled", [False, True])
def test_what_is_appended_to_stays_and_joining_twice_is_as_good_as_once(
    tmp_path: Path, format_: str, doubled: bool
) -> None:
    parts = tmp_path / "parts"
    put_part(parts, "r1", format_, [(FIRST, {"t": "a"}), (FIRST, {"t": "b"})], [(FIRST, "done")])
    join(order(parts, format_, append=True, over=True))
    put_part(parts, "q1", format_, [(OTHER, {"t": "c"})], [(OTHER, "done")])
    second = Order(parts, "q", order(parts, format_).file, append=True)
    if doubled:
        join(second)
    join(Order(parts, "q", second.file, append=True, over=True))
    found = [item["t"] for item in read(tmp_path / f"out-1.{format_}")]
    assert found == ["a", "b", "c"]


@formats
def test_a_file_holds_as_many_items_as_a_batch(tmp_path: Path, format_: str) -> None:
    parts = tmp_path / "parts"
    for at in range(3):
        put_part(parts, f"r{at}", format_, [(OTHER, {"t": f"{at}{n}"}) for n in range(3)])
    joined = join(order(parts, format_, batch=4))
    assert joined is not None
    assert [items for _, items in joined.files] == [4, 4, 1]
    found = [item["t"] for path, _ in joined.files for item in read(path)]
    assert found == [f"{at}{n}" for at in range(3) for n in range(3)]


def test_a_csv_file_has_the_columns_of_all_parts(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    put_part(parts, "r1", "csv", [(FIRST, {"a": "1", "b": "x,\r\ny"})])
    put_part(parts, "r2", "csv", [(OTHER, {"c": "2", "a": "3"})])
    join(order(parts, "csv"))
    assert read(tmp_path / "out-1.csv") == [
        {"a": "1", "b": "x,\r\ny", "c": ""},
        {"a": "3", "b": "", "c": "2"},
    ]


def test_a_csv_files_own_form_is_kept(tmp_path: Path) -> None:
    parts, form = tmp_path / "parts", {"delimiter": ";", "quoting": csv.QUOTE_ALL}
    put_part(parts, "r1", "csv", [(FIRST, {"a": 1})], **form)
    put_part(parts, "r2", "csv", [(OTHER, {"b": "é;"})], **form)
    join(order(parts, "csv"))
    assert (tmp_path / "out-1.csv").read_text("utf-8") == '"a";"b"\n"1";""\n"";"é;"\n'


def test_a_csv_without_header_stays_one(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    put_part(parts, "r1", "csv", [(FIRST, {"a": 1})], include_headers_line=False)
    put_part(parts, "r2", "csv", [(OTHER, {"a": 2})], include_headers_line=False)
    join(order(parts, "csv"))
    assert (tmp_path / "out-1.csv").read_bytes() == b"1\r\n2\r\n"


def test_parquet_takes_values_of_any_kind(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    big: Any = 10**30
    odd = [1, "text", None, 2.5, big, {"a": [1]}, {}, [], b"\xff", {1, 2}, object]
    put_part(parts, "r1", "parquet", [(FIRST, {"v": value, "only": 1}) for value in odd])
    put_part(parts, "r2", "parquet", [(OTHER, {"v": 7, "list": [1, 2], "s": {"x": 1}})])
    put_part(parts, "r3", "parquet", [(OTHER, {"v": None, "list": None, "s": {"y": "z"}})])
    joined = join(order(parts, "parquet"))
    assert joined is not None
    rows = read(tmp_path / "out-1.parquet")
    assert len(rows) == len(odd) + 2
    assert rows[1]["v"] == "text"
    assert rows[-2]["list"] == [1, 2]


def test_a_compressed_feed_is_compressed_when_its_rows_are_together(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    options = {"postprocessing": ["scrapy.extensions.postprocessing.GzipPlugin"]}
    processed = partial(post_process, options)
    for run in "rq":
        put_part(parts, f"{run}1", "jsonl", [(FIRST, {"t": run})])
        file = order(parts, "jsonl").file
        join(Order(parts, run, file, append=True, over=True, processed=processed))
    text = gzip.decompress((tmp_path / "out-1.jsonl").read_bytes()).decode()
    assert [json.loads(line)["t"] for line in text.splitlines()] == ["r", "q"]


def test_an_empty_feed_is_an_empty_file_once(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    out = tmp_path / "out-1.jsonl"
    join(order(parts, "jsonl", over=True))
    assert out.read_bytes() == b""
    out.write_text("written by another worker", "utf-8")
    assert join(order(parts, "jsonl", over=True)) is None
    assert out.read_bytes()


def test_a_feed_without_items_is_what_its_format_says(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    join(order(parts, "json", empty=lambda: b"[\n]"))
    assert read(tmp_path / "out-1.json") == []
    put_part(parts, "r1", "json", [(FIRST, {"t": "a"})])
    join(order(parts, "json", empty=lambda: b"[\n]"))
    assert read(tmp_path / "out-1.json") == [{"t": "a"}]


def test_a_run_that_is_not_over_replaces_a_file_by_items_alone(tmp_path: Path) -> None:
    """A worker that found no Redis emptied the file of the crawl before."""
    parts = tmp_path / "parts"
    parts.mkdir()
    out = tmp_path / "out-1.jsonl"
    out.write_text('{"t": "yesterday"}\n', "utf-8")
    join(order(parts, "jsonl"))
    put_part(parts, "r1", "jsonl", [], [(FIRST, "done")])  # a page without an item
    join(order(parts, "jsonl"))
    assert read(out) == [{"t": "yesterday"}]
    put_part(parts, "r2", "jsonl", [(OTHER, {"t": "a"})])
    join(order(parts, "jsonl"))
    assert read(out) == [{"t": "a"}]


def test_a_run_without_items_leaves_a_file_that_is_appended_to(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    out = tmp_path / "out-1.json"
    out.write_text('[{"t": "a"}]', "utf-8")
    join(order(parts, "json", append=True, over=True))
    assert read(out) == [{"t": "a"}]


def test_no_empty_file_is_stored_where_the_feed_says_so(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    assert join(order(parts, "jsonl", over=True, store_empty=False)) is None
    assert not (tmp_path / "out-1.jsonl").exists()


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["missing.jl"], "there is no folder"),
        (["s3://me:secret@bucket/x.jl"], "copy the folder of parts here first"),
        ([], "one FILE is needed"),
        (["empty.jl"], "has no parts"),
        (["empty.jl.parts", "--run", "none"], "has no parts of run none"),
        (["two.jl"], "parts of several runs; name one: a, b"),
        (["two.jl", "--run", "a"], "is no sidecar of a part"),
        (["two.jl", "--run", "a", "--output", "/dev/null"], "/dev/null is no file; name one by"),
    ],
)
def test_join_feeds_says_in_a_line_what_it_lacks(
    tmp_path: Path, args: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.jl.parts").mkdir()
    (tmp_path / "two.jl.parts").mkdir()
    for run in "ab":
        (tmp_path / "two.jl.parts" / f"{run}-1234567890123-w-000000.jl.rows").write_text("{}")
    command, parser = Command(), ArgumentParser()
    command.settings = Settings()
    command.add_options(parser)
    given = [
        str(tmp_path / arg) if arg.endswith(("jl", "parts")) and "://" not in arg else arg
        for arg in args
    ]
    opts, rest = parser.parse_known_args(given)
    command.run(rest, opts)
    assert command.exitcode == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    assert "secret" not in line


class AtTheEnd(BaseItemExporter):
    """Writes nothing before its end, as exporters of spreadsheets do."""

    def __init__(self, file: BytesIO) -> None:
        super().__init__()
        self.file = file

    def export_item(self, item: Any) -> None:
        """Take an item."""

    def finish_exporting(self) -> None:
        """Write all of them."""
        self.file.write(b"all of it")


def test_a_format_whose_rows_nobody_can_tell_apart_is_refused_and_its_parts_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EXPORTERS, "xlsx", AtTheEnd)
    parts = tmp_path / "parts"
    put_part(parts, "r1", "xlsx", [(FIRST, {"t": "a"})])
    with pytest.raises(SeineError, match="cannot be joined"):
        join(order(parts, "xlsx", over=True))
    assert (parts / "r1.xlsx").read_bytes() == b"all of it"
    assert not (tmp_path / "out-1.xlsx").exists()


class Packing:
    """Compresses by itself, and writes nothing before its end."""

    opened: Any = staticmethod(gzip.open)

    def __init__(self, file: BytesIO, **options: Any) -> None:
        self.packed = self.opened(file, "wb")
        super().__init__(self.packed, **options)  # type: ignore[call-arg]

    def finish_exporting(self) -> None:
        """End the compressed stream."""
        super().finish_exporting()  # type: ignore[misc]
        self.packed.close()


class PackedLines(Packing, exporters.JsonLinesItemExporter):
    """JSON lines."""


class PackedTable(Packing, exporters.CsvItemExporter):
    """CSV with a header, in xz."""

    opened = staticmethod(lzma.open)

    def finish_exporting(self) -> None:
        """Write the header of the text first."""
        self.stream.flush()
        super().finish_exporting()


class PackedTree(Packing, exporters.JsonItemExporter):
    """JSON, whose rows are no lines by themselves."""


@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize(
    ("exporter", "module"), [(PackedLines, gzip), (PackedTable, lzma)], ids=["gz", "xz"]
)
def test_an_exporter_that_compresses_by_itself_is_joined_where_its_rows_are_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exporter: Any, module: Any, append: bool
) -> None:
    monkeypatch.setitem(EXPORTERS, "own", exporter)
    parts, out = tmp_path / "parts", tmp_path / "out-1.own"
    put_part(
        parts, "r1", "own", [(FIRST, {"t": "cut off"}), (OTHER, {"t": "b"})], [(OTHER, "done")]
    )
    put_part(parts, "r2", "own", [(AGAIN, {"t": "a"}), (AGAIN, {"t": "c"})], [(AGAIN, "done")])
    head = [b"t"] if exporter is PackedTable else []
    before = b"".join(line + b"\n" for line in [*head, b"before"])
    if append:
        out.write_bytes(module.compress(before))
    joined = join(order(parts, "own", append=append, over=True))
    assert joined is not None
    assert (joined.items, joined.doubled) == (3, 1)
    lines = module.decompress(out.read_bytes()).splitlines()
    texts_ = [b"b", b"a", b"c"]
    rows = texts_ if head else [b'{"t": "%b"}' % text for text in texts_]
    assert lines == [*(before.splitlines() if append else []), *head, *rows]
    assert not list(parts.glob("r*.own"))


def test_compressed_rows_that_are_no_lines_are_refused_and_their_parts_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EXPORTERS, "own", PackedTree)
    parts = tmp_path / "parts"
    put_part(parts, "r1", "own", [(FIRST, {"t": "a"}), (FIRST, {"t": "b"})])
    with pytest.raises(SeineError, match="are no lines"):
        join(order(parts, "own", over=True))
    assert (parts / "r1.own").exists()


def test_a_compressed_part_that_is_damaged_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EXPORTERS, "own", PackedLines)
    parts = tmp_path / "parts"
    put_part(parts, "r1", "own", [(FIRST, {"t": "a"})])
    part = parts / "r1.own"
    part.write_bytes(part.read_bytes()[:-3] + b"???")
    with pytest.raises(SeineError, match="cannot be decompressed"):
        join(order(parts, "own", over=True))


@pytest.mark.parametrize("junk", [b"", b"{", b"[]", b'{"seine_part": 9}', b'{"seine_part":1}'])
def test_a_sidecar_that_is_none_is_named(tmp_path: Path, junk: bytes) -> None:
    parts = tmp_path / "parts"
    put_part(parts, "r1", "jsonl", [(FIRST, {"t": "a"})])
    (parts / "r2.jsonl.rows").write_bytes(junk)
    with pytest.raises(SeineError, match=r"r2\.jsonl"):
        join(order(parts, "jsonl", over=True))


def test_an_item_that_cannot_be_exported_leaves_the_part_as_it_was() -> None:
    for format_ in ("json", "xml", "jsonl", "csv"):
        buffer = BytesIO()
        part = Part(EXPORTERS[format_](buffer), buffer)
        part.add({"a": 1}, FIRST)
        before = buffer.getvalue()
        with pytest.raises(ZeroDivisionError):
            part.add({"a": Refuses()}, FIRST)
        assert buffer.getvalue() == before
        part.add({"a": 2}, FIRST)
        assert part.rows == 2


class Refuses:
    """A value that cannot be written."""

    def __str__(self) -> str:
        raise ZeroDivisionError

    @property
    def __class__(self) -> Any:
        raise ZeroDivisionError

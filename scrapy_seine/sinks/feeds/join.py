"""Makes one file of a feed's parts, so that repeating it gives the same file.

The file is written aside, made durable and renamed. A file that is appended to (`-o`) is first
linked into the folder of the parts as the run's base: each join begins from there, and not from an
earlier join's result. If the run is over, a mark with the parts' names is written and they are
removed. So a worker that is killed meanwhile leaves parts that the next one knows to be joined.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import orjson

from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import SeineError
from scrapy_seine.sinks.feeds import joined_formats
from scrapy_seine.sinks.feeds.chosen_rows import Piece
from scrapy_seine.sinks.feeds.last_readings import Rows, done_readings, last_readings, rows_of
from scrapy_seine.sinks.feeds.part import SIDECAR, VERSION
from scrapy_seine.sinks.feeds.part_storage import sync_folder, write_durably

logger = logging.getLogger(__name__)
#: Name of the mark that a run's parts are in the file.
JOINED = ".joined"
#: How a line of a joined run's mark begins that names a page and its token; no part's name does.
PAGE = "page "
#: Name of the content of an appended file before the run.
BASE = ".base"
#: A stopped worker joins at most so many bytes, because its supervisor waits for it.
_EARLY_BYTES = 256 << 20


@attrs.frozen(eq=False, repr=False)
class Joined(Value):
    """Result of a join."""

    files: Sequence[tuple[Path, int]]
    """Each with its number of items."""
    parts: int
    cut_off: int
    """Pages that no part shows to be complete."""
    doubled: int
    """Rows of pages that were parsed again."""

    @property
    def items(self) -> int:
        """Items in all files."""
        return sum(items for _, items in self.files)


@attrs.frozen(eq=False, repr=False)
class Order(Value):
    """What to join, and where to."""

    folder: Path
    run: str
    """Common prefix of its parts' names; '' for all runs."""
    file: Callable[[int], Path]
    """Path of a batch, by its number from 1 on."""
    batch: int = 0
    """Items of a file; 0: there is one file."""
    append: bool = False
    before: int = 0
    """Number of the run's parts that an earlier join has taken for good."""
    over: bool = False
    """Whether the run is over, so that its parts may be removed."""
    store_empty: bool = True
    empty: Callable[[], bytes] = lambda: b""
    """Returns the content of a file without items."""
    processed: Callable[[Path], None] | None = None
    """Post-processes a file, for instance compresses it."""


@attrs.frozen(eq=False, repr=False)
class Written(Value):
    """A part that exists."""

    path: Path
    """The file that holds it, perhaps with other parts."""
    rows: Rows
    sidecar: dict[str, Any]


def join(order: Order) -> Joined | None:
    """Join a run's parts; None if nothing is left to do.

    Raises:
        SeineError: a part is damaged, or the format cannot be joined.
        OSError: a file cannot be read or written.
    """
    with _locked(order.folder):
        mark = order.folder / f"{order.run}{JOINED}"
        parts = written_parts(order.folder, order.run)
        if mark.exists():
            return _join_late(order, parts, mark)
        if not parts and not order.store_empty:
            return None
        result = _write(order, parts)
        if order.over:
            _remove(order, mark, _marks(parts))
        return result


def _join_late(order: Order, parts: Sequence[Written], mark: Path) -> Joined | None:
    """Append the rows that came after the run's end; None if there are none.

    Each page had a complete reading by then, so an incomplete one that comes later is left out, and
    so is any of a page that was done: its worker stood still, and another one read the page.
    """
    joined = set(mark.read_text("utf-8").split("\n"))
    pages = [line.removeprefix(PAGE) for line in joined if line.startswith(PAGE)]
    done = dict(line.rsplit(" ", 1) for line in pages)
    late_parts = [part for part in parts if part.rows.name not in joined]
    last_tokens, _ = last_readings([part.rows for part in late_parts], complete_only=True)
    late_tokens = {p: token for p, token in last_tokens.items() if done.get(p, token) == token}
    pieces, _ = _pieces(late_parts, late_tokens)
    if not pieces:
        if order.over:
            _remove(order, mark)
        return None
    path = order.file(1)
    # Another base than that of the run, which a killed worker may have left.
    _write_file(attrs.evolve(order, append=True, before=len(joined)), path, pieces)
    _remove(order, mark, joined | _marks(late_parts, done))
    items = sum(len(piece.rows) for piece in pieces)
    return Joined([(path, items)], len({piece.path for piece in pieces}), 0, 0)


def was_joined(folder: Path, run: str) -> bool:
    """Whether a run that was over has been joined, and its parts removed.

    Raises:
        OSError: the folder does not exist.
    """
    with _locked(folder):
        return (folder / f"{run}{JOINED}").exists()


def _write(order: Order, parts: Sequence[Written]) -> Joined:
    last_tokens, cut_off = last_readings([part.rows for part in parts])
    pieces, doubled = _pieces(parts, last_tokens)
    files = []
    for number, batch in enumerate(_batches(pieces, order.batch), 1):
        path = order.file(number)
        items = sum(len(piece.rows) for piece in batch)
        # A start that failed, say without Redis, must not replace yesterday's items by none.
        if items or (order.store_empty and (order.over or not path.exists())):
            _write_file(order, path, batch)
            files.append((path, items))
    return Joined(files, len({part.path for part in parts}), cut_off, doubled)


def _pieces(parts: Sequence[Written], last_tokens: dict[str, str]) -> tuple[list[Piece], int]:
    """Return the rows to take of each part, and the number of the others."""
    pieces, doubled = [], 0
    for part in parts:
        row_numbers = rows_of(part.rows, last_tokens)
        doubled += part.rows.rows - len(row_numbers)
        if row_numbers:
            pieces.append(Piece(part.path, row_numbers, part.sidecar))
    return pieces, doubled


def _write_file(order: Order, path: Path, pieces: Sequence[Piece]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    base = _base(order, path) if order.append else None
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        before = None if order.processed else base
        if pieces or before:
            with _damage_named(order.folder):
                joined_formats.write(pieces, aside, before)
        else:
            aside.write_bytes(b"" if base else order.empty())
        if order.processed:  # compressed files are concatenated
            order.processed(aside)
            _prepend(base, aside)
        with aside.open("rb+") as file:
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    sync_folder(path.parent)


@contextmanager
def _damage_named(folder: Path) -> Iterator[None]:
    """Report what a format's library says of a damaged part as one.

    Raises:
        SeineError: a part cannot be read.
        OSError: an error of the system.
    """
    try:
        yield
    except (ValueError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise SeineError(f"a part in {folder} is damaged: {error}") from None


def _base(order: Order, path: Path) -> Path | None:
    """Return the file's content before the run; None if it was empty or missing."""
    number = f"{order.before}." if order.before else ""
    base = order.folder / f"{order.run}.{number}{path.name}{BASE}"
    if not base.exists():
        if path.exists():
            _link(path, base)
        else:
            base.touch()
    return base if base.stat().st_size else None


def _prepend(base: Path | None, path: Path) -> None:
    if base is None:
        return
    joined_path = path.with_name(f"{path.name}.both")
    with joined_path.open("wb") as output:
        for source in (base, path):
            with source.open("rb") as file:
                shutil.copyfileobj(file, output)
    joined_path.replace(path)


def _link(path: Path, base: Path) -> None:
    try:
        base.hardlink_to(path)
    except OSError:  # a file system without links
        shutil.copy2(path, aside := base.with_name(f".{base.name}"))
        aside.replace(base)


def _batches(pieces: Sequence[Piece], limit: int) -> Iterator[list[Piece]]:
    """Cut the rows into files of *limit* each; at least one file."""
    batch: list[Piece] = []
    room = limit
    for piece in pieces:
        rows = piece.rows
        while limit and len(rows) >= room:
            yield [*batch, attrs.evolve(piece, rows=rows[:room])]
            rows, batch, room = rows[room:], [], limit
        if rows:
            batch.append(attrs.evolve(piece, rows=rows))
            room -= len(rows)
    if batch or not pieces:
        yield batch


def may_join_early(folder: Path, run: str) -> bool:
    """Whether a stopped worker may join a run's parts: only if they are few bytes."""
    parts = (path.with_suffix("") for path in parts_of(folder, run))
    return sum(part.stat().st_size for part in parts if part.exists()) <= _EARLY_BYTES


def parts_of(folder: Path, run: str = "") -> list[Path]:
    """Return the sidecars of a run's parts, in the order of writing."""
    return sorted(path for path in folder.glob(f"{run}*{SIDECAR}") if not path.name.startswith("."))


def written_parts(folder: Path, run: str = "") -> list[Written]:
    """Return a run's parts, in the order of writing, each once.

    Raises:
        SeineError: a part is damaged.
        OSError: a file cannot be read.
    """
    # A part that was written twice, because it was unclear whether it was durable, has one name.
    by_name = {part.rows.name: part for path in parts_of(folder, run) for part in _parts(path)}
    return [by_name[name] for name in sorted(by_name)]


def _parts(path: Path) -> Iterator[Written]:
    """Yield the parts of one file, by its sidecar: a line for each."""
    file = path.with_name(path.name.removesuffix(SIDECAR))
    lines = path.read_bytes().split(b"\n")
    size = _size(file)
    for number, line in enumerate(lines):
        try:
            sidecar = orjson.loads(line)
            rows = _rows(file.name, sidecar)
        except (ValueError, KeyError, TypeError) as error:
            if 0 < number == len(lines) - 1:
                return  # its worker died as it wrote this line
            raise SeineError(f"{path} is no sidecar of a part: {error}") from None
        # Rows are durable before their sidecar is written, so that they were there once.
        if rows.rows and size < (end := sidecar.get("at", 0) + sidecar.get("size", 0)):
            raise SeineError(
                f"{file} lacks {end - size:,} bytes, with items of pages that are done: "
                f"copy it here again, or leave its items out by removing {path}"
            )
        yield Written(file, rows, sidecar)


def _size(file: Path) -> int:
    """Return the size of a file, 0 if there is none; opened, because NFS then asks its server."""
    try:
        with file.open("rb") as opened:
            return opened.seek(0, os.SEEK_END)
    except FileNotFoundError:
        return 0


def _rows(file: str, sidecar: dict[str, Any]) -> Rows:
    if sidecar["seine_part"] != VERSION:
        raise ValueError(f"version {sidecar['seine_part']}")
    readings = [
        (str(p), str(t), int(at_ms), int(first_row), int(n))
        for p, t, at_ms, first_row, n in sidecar["readings"]
    ]
    endings = [
        (str(p), str(t), int(at_ms), str(outcome)) for p, t, at_ms, outcome in sidecar["ended"]
    ]
    name = str(sidecar.get("name", file))
    return Rows(name, int(sidecar["rows"]), readings, endings)


def _marks(parts: Sequence[Written], done: Collection[str] = ()) -> set[str]:
    """Return what the mark of a joined run names: its parts, and how each page was done.

    Pages of *done* are named in it before.
    """
    readings = done_readings([part.rows for part in parts]).items()
    pages = {f"{PAGE}{page} {token}" for page, token in readings if page not in done}
    return pages | {part.rows.name for part in parts}


def _remove(order: Order, mark: Path, names: Collection[str] = ()) -> None:
    """Write what was joined to the mark, then remove the run's files."""
    if names or not mark.exists():
        write_durably(mark, "\n".join(names).encode())
    sync_folder(order.folder)
    # This includes incomplete files of workers that were killed while writing.
    for pattern in (f"{order.run}*", f".{order.run}*"):
        for path in order.folder.glob(pattern):
            if path != mark:
                path.unlink(missing_ok=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Prevent two workers that end at the same time from joining the same parts."""
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

"""Makes one file of a feed's parts, so that doing it twice is as good as once.

The file is written aside, made durable and renamed. A file that is appended to (`-o`) is first
linked into the folder of the parts as the run's base: whoever joins begins from there, and not from
what somebody joined before. Where the run is over, a mark says so and the parts are removed.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import orjson

from scrapy_seine.errors import SeineError
from scrapy_seine.records import Value
from scrapy_seine.sinks.feeds import joined_formats
from scrapy_seine.sinks.feeds.chosen_rows import Piece
from scrapy_seine.sinks.feeds.last_readings import Rows, last_readings, rows_of
from scrapy_seine.sinks.feeds.part import SIDECAR, VERSION
from scrapy_seine.sinks.feeds.part_storage import sync_folder

logger = logging.getLogger(__name__)
#: Name of what says that a run's parts are in the file.
JOINED = ".joined"
#: Name of what an appended file held before the run.
BASE = ".base"
#: A stopped worker joins what is there so far up to so many bytes: its supervisor waits for it.
_EARLY_BYTES = 256 << 20


@attrs.frozen(eq=False, repr=False)
class Joined(Value):
    """What was written."""

    files: Sequence[tuple[Path, int]]
    """Each with its number of items."""
    parts: int
    cut_off: int
    """Pages of which no part says that it has all items."""
    doubled: int
    """Rows of pages that were read again."""

    @property
    def items(self) -> int:
        """Items in all files."""
        return sum(items for _, items in self.files)


@attrs.frozen(eq=False, repr=False)
class Order(Value):
    """What is to be joined, and where to."""

    folder: Path
    run: str
    """Beginning of the names of its parts; empty for all runs."""
    file: Callable[[int], Path]
    """Path of a batch, by its number from 1 on."""
    batch: int = 0
    """Items of a file; 0: there is one file."""
    append: bool = False
    over: bool = False
    """The run is over: its parts may go."""
    store_empty: bool = True
    empty: Callable[[], bytes] = lambda: b""
    """What a file without items holds."""
    processed: Callable[[Path], None] | None = None
    """What is done with the rows of a file, compression for instance."""


@attrs.frozen(eq=False, repr=False)
class Written(Value):
    """A part that is there."""

    path: Path
    """The file that holds it, perhaps with others."""
    rows: Rows
    sidecar: dict[str, Any]


def join(order: Order) -> Joined | None:
    """Join a run's parts; None where nothing is left to do.

    Raises:
        SeineError: a sidecar cannot be read, or the format cannot be joined.
        OSError: a file cannot be read or written.
    """
    with _locked(order.folder):
        mark = order.folder / f"{order.run}{JOINED}"
        found = written(order.folder, order.run)
        if not found and (mark.exists() or not order.store_empty):
            return None
        joined = _write(order, found)
        if order.over:
            _remove(order, mark)
        return joined


def was_joined(folder: Path, run: str) -> bool:
    """Whether somebody joined a run that was over, and removed its parts.

    Raises:
        OSError: the folder is not there.
    """
    with _locked(folder):
        return (folder / f"{run}{JOINED}").exists()


def _write(order: Order, found: Sequence[Written]) -> Joined:
    last, cut_off = last_readings([part.rows for part in found])
    pieces, doubled = [], 0
    for part in found:
        chosen = rows_of(part.rows, last)
        doubled += part.rows.rows - len(chosen)
        if chosen:
            pieces.append(Piece(part.path, chosen, part.sidecar))
    files = []
    for number, batch in enumerate(_batches(pieces, order.batch), 1):
        path = order.file(number)
        items = sum(len(piece.rows) for piece in batch)
        if items or order.store_empty:
            _write_file(order, path, batch)
            files.append((path, items))
    return Joined(files, len({part.path for part in found}), cut_off, doubled)


def _write_file(order: Order, path: Path, pieces: Sequence[Piece]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    base = _base(order, path) if order.append else None
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        before = None if order.processed else base
        if pieces or before:
            joined_formats.write(pieces, aside, before)
        else:
            aside.write_bytes(b"" if base else order.empty())
        if order.processed:  # what was compressed before is followed by what is compressed now
            order.processed(aside)
            _prepend(base, aside)
        with aside.open("rb+") as file:
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    sync_folder(path.parent)


def _base(order: Order, path: Path) -> Path | None:
    """What the file held before the run; None where there was none."""
    base = order.folder / f"{order.run}.{path.name}{BASE}"
    if not base.exists():
        if path.exists():
            _link(path, base)
        else:
            base.touch()
    return base if base.stat().st_size else None


def _prepend(base: Path | None, path: Path) -> None:
    if base is None:
        return
    both = path.with_name(f"{path.name}.both")
    with both.open("wb") as out:
        for source in (base, path):
            with source.open("rb") as file:
                shutil.copyfileobj(file, out)
    both.replace(path)


def _link(path: Path, base: Path) -> None:
    try:
        base.hardlink_to(path)
    except OSError:  # a file system without links
        shutil.copy2(path, aside := base.with_name(f".{base.name}"))
        aside.replace(base)


def _batches(pieces: Sequence[Piece], most: int) -> Iterator[list[Piece]]:
    """Cut the rows into files of *most* each; one file at least."""
    batch: list[Piece] = []
    room = most
    for piece in pieces:
        rows = piece.rows
        while most and len(rows) >= room:
            yield [*batch, attrs.evolve(piece, rows=rows[:room])]
            rows, batch, room = rows[room:], [], most
        if rows:
            batch.append(attrs.evolve(piece, rows=rows))
            room -= len(rows)
    if batch or not pieces:
        yield batch


def may_join_early(folder: Path, run: str) -> bool:
    """Whether a stopped worker may join a run's parts: few bytes, as its supervisor waits."""
    parts = (path.with_suffix("") for path in parts_of(folder, run))
    return sum(part.stat().st_size for part in parts if part.exists()) <= _EARLY_BYTES


def parts_of(folder: Path, run: str = "") -> list[Path]:
    """Return the sidecars of a run's parts, in the order of their writing."""
    return sorted(path for path in folder.glob(f"{run}*{SIDECAR}") if not path.name.startswith("."))


def written(folder: Path, run: str = "") -> list[Written]:
    """Return a run's parts, in the order of their writing, each once.

    Raises:
        SeineError: a sidecar cannot be read.
        OSError: a file cannot be read.
    """
    # A part that was written again, because nobody knew whether it was durable, has one name.
    found = {part.rows.name: part for path in parts_of(folder, run) for part in _parts(path)}
    return [found[name] for name in sorted(found)]


def _parts(path: Path) -> Iterator[Written]:
    """The parts of one file, by its sidecar: a line for each."""
    file = path.with_name(path.name.removesuffix(SIDECAR))
    lines = path.read_bytes().split(b"\n")
    there = file.stat().st_size if file.exists() else -1
    for number, line in enumerate(lines):
        try:
            sidecar = orjson.loads(line)
            rows = _rows(file.name, sidecar)
        except (ValueError, KeyError, TypeError) as error:
            if 0 < number == len(lines) - 1:
                return  # its worker died as it wrote this line
            raise SeineError(f"{path} is no sidecar of a part: {error}") from None
        if not rows.rows or there >= sidecar.get("at", 0) + sidecar.get("size", 0):
            yield Written(file, rows, sidecar)
        # Else its worker was killed between the two: the leases of its pages did not end.


def _rows(file: str, sidecar: dict[str, Any]) -> Rows:
    if sidecar["seine_part"] != VERSION:
        raise ValueError(f"version {sidecar['seine_part']}")
    readings = [
        (str(p), str(t), int(at), int(first), int(n)) for p, t, at, first, n in sidecar["readings"]
    ]
    ended = [(str(p), str(t), int(at), str(outcome)) for p, t, at, outcome in sidecar["ended"]]
    name = str(sidecar.get("name", file))
    return Rows(name, int(sidecar["rows"]), readings, ended)


def _remove(order: Order, mark: Path) -> None:
    mark.touch()
    sync_folder(order.folder)
    # What workers left that were killed as they wrote is among it.
    for pattern in (f"{order.run}*", f".{order.run}*"):
        for path in order.folder.glob(pattern):
            if path != mark:
                path.unlink(missing_ok=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep two workers that end at the same time from joining the same parts."""
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

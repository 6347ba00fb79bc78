"""Stores a feed's parts, and reports when a part is durable."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from scrapy import Spider
from scrapy.utils.defer import ensure_awaitable

from scrapy_seine.errors import ConfigError, StoreUnreachable
from scrapy_seine.printable import redact
from scrapy_seine.sinks.feeds.part import SIDECAR, Sealed
from scrapy_seine.sinks.feeds.part_names import PARTS

#: Size at which a new file is begun, bytes.
FILE_BYTES = 8 << 20


def other_feeds(finals: Collection[Path], run: str) -> list[Path]:
    """Return the feeds beside *finals* that have unjoined parts of a run.

    A crawl that goes on with another `-O` leaves such parts.
    """
    folders = {folder for final in finals for folder in final.parent.glob(f"*{PARTS}")}
    others = {folder.with_name(folder.name.removesuffix(PARTS)): folder for folder in folders}
    return sorted(
        final
        for final, folder in others.items()
        if final not in finals and any(folder.glob(f"{run}*{SIDECAR}"))
    )


class Place(Protocol):
    """Takes the parts of one feed."""

    name: str
    """For logs, without credentials."""

    def prepare(self) -> None:
        """Check that parts can be written.

        Raises:
            OSError: they cannot.
        """

    async def write(self, name: str, part: Sealed) -> None:
        """Write a part under a name of its own, and return when it is durable. May be repeated.

        Raises:
            OSError: it could not be written.
            StoreUnreachable: the store refused it, or did not answer.
        """


class Folder:
    """A folder of this machine, beside the file that the feed names."""

    def __init__(self, final: Path) -> None:
        self.final = final
        self.path = final.with_name(final.name + PARTS)
        self.name = str(final)
        # One thread, so that a slow disk does not take all threads of the process.
        self._thread = ThreadPoolExecutor(1, "seine-feed")
        self._file: _File | None = None
        """The file that the next plain part is appended to."""
        self._sizes: dict[str, tuple[int, int]] = {}
        """Bytes and rows of each file that this worker wrote, by name."""
        self._inode = 0

    def prepare(self) -> None:
        """Make the folder."""
        self.path.mkdir(parents=True, exist_ok=True)
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise PermissionError(f"{self.path} is not writable")
        sync_folder(self.path.parent)
        self._inode = self.path.stat().st_ino

    async def write(self, name: str, part: Sealed) -> None:
        """Write the part, then its sidecar, so that a part exists if its sidecar does.

        Plain parts follow each other in one file, because a new file costs as much as a page if
        each page waits for its own part.
        """
        await asyncio.get_running_loop().run_in_executor(self._thread, self._write, name, part)

    def close(self) -> None:
        """Close the current file once it is written; the next part begins another one."""
        self._thread.submit(self._close)

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def lost_rows(self) -> int | None:
        """Count the durable rows of this worker that were removed or cut off.

        None: no loss is known. The folder of parts has other workers' rows as well.
        """
        lost = [
            rows
            for name, (size, rows) in self._sizes.items()
            if _size(self.path / name) < size or not (self.path / f"{name}{SIDECAR}").exists()
        ]
        is_another = not self.path.is_dir() or self.path.stat().st_ino != self._inode
        return sum(lost) if lost or is_another else None

    def _note(self, name: str, part: Sealed) -> None:
        size, rows = self._sizes.get(name, (0, 0))
        self._sizes[name] = size + len(part.data), rows + part.rows

    def _write(self, name: str, part: Sealed) -> None:
        try:
            self._write_once(name, part)
        except FileNotFoundError:  # somebody removed the folder
            self.path.mkdir(parents=True, exist_ok=True)
            self._write_once(name, part)

    def _write_once(self, name: str, part: Sealed) -> None:
        if not part.is_plain:
            if part.rows:
                write_durably(self.path / name, part.data)
            write_durably(self.path / f"{name}{SIDECAR}", part.sidecar())
            sync_folder(self.path)
            if part.rows:
                self._note(name, part)
            return
        if self._file is not None and self._file.size >= FILE_BYTES:
            self._close()
        try:
            if self._file is None:
                self._file = _File(self.path, name, part)
            else:
                self._file.append(name, part)
            self._note(self._file.name, part)
        except BaseException:  # its content is unknown now: append nothing more
            self._close()
            raise


class _File:
    """A file of plain parts, and its sidecar with a line for each."""

    def __init__(self, folder: Path, name: str, part: Sealed) -> None:
        sidecar = folder / f"{name}{SIDECAR}"
        write_durably(folder / name, part.data)
        write_durably(sidecar, part.sidecar(name))
        sync_folder(folder)
        self.name = name
        self.size = len(part.data)
        self._rows, self._sidecar = (
            os.open(path, os.O_WRONLY | os.O_APPEND) for path in (folder / name, sidecar)
        )

    def append(self, name: str, part: Sealed) -> None:
        """Write one more part, and return when it is durable.

        Raises:
            FileNotFoundError: somebody removed the file.
        """
        if part.rows:
            _write_all(self._rows, part.data)
            os.fdatasync(self._rows)
        _write_all(self._sidecar, b"\n" + part.sidecar(name, self.size))
        os.fdatasync(self._sidecar)
        self.size += len(part.data)
        if not (os.fstat(self._rows).st_nlink and os.fstat(self._sidecar).st_nlink):
            raise FileNotFoundError(f"{name}: its file was removed")

    def close(self) -> None:
        """Close the file and its sidecar."""
        os.close(self._rows)
        os.close(self._sidecar)


class Store:
    """A store that Scrapy has a feed storage for: S3, GCS, FTP, or a project's own."""

    def __init__(self, storage_of: Callable[[str], Any], uri: str, spider: Spider) -> None:
        self._storage_of, self._uri, self._spider = storage_of, uri, spider
        self.name = redact(uri)

    def prepare(self) -> None:
        """Prepare nothing: an object needs no folder."""

    async def write(self, name: str, part: Sealed) -> None:
        """Upload the part, then its sidecar.

        Raises:
            ConfigError: the store's library is not installed.
            StoreUnreachable: the store did not take one of them.
        """
        if part.rows:
            await self._upload(name, part.data)
        await self._upload(f"{name}{SIDECAR}", part.sidecar())

    async def _upload(self, name: str, data: bytes) -> None:
        try:
            storage, file = await asyncio.to_thread(self._open, name, data)
            await ensure_awaitable(storage.store(file))
        except ImportError as error:
            raise ConfigError(f"its store needs a package: {error}") from None
        except Exception as error:  # each store raises errors of its own library
            reason = redact(f"{type(error).__name__}: {error}")
            raise StoreUnreachable(f"{self.name} did not take a part: {reason}") from None

    def _open(self, name: str, data: bytes) -> tuple[Any, Any]:
        # In a thread, because creating an S3 client takes a tenth of a second.
        storage = self._storage_of(f"{self._uri}{PARTS}/{name}")
        file = storage.open(self._spider)
        file.write(data)
        return storage, file


def _size(path: Path) -> int:
    """Return the size of a file, bytes; -1 if it does not exist."""
    try:
        return path.stat().st_size
    except OSError:
        return -1


def write_durably(path: Path, data: bytes) -> None:
    """Write a file aside, and rename it when it is durable."""
    folder, name = os.path.split(path)
    aside = os.path.join(folder, f".{name}.{os.getpid()}")  # noqa: PTH118  # a quarter of the cost
    # By system calls, because Python's file objects make twice as many for each small part.
    number = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        _write_all(number, data)
        os.fsync(number)
    finally:
        os.close(number)
    os.replace(aside, path)  # noqa: PTH105


def _write_all(number: int, data: bytes) -> None:
    unwritten = memoryview(data)
    while unwritten:
        unwritten = unwritten[os.write(number, unwritten) :]


def sync_folder(path: Path) -> None:
    """Make a folder's new names durable."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)

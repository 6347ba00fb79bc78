"""Stores of whole objects: a folder, or S3-compatible storage.

Credentials and the endpoint of S3 come from the environment alone (AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL, AWS_REGION …), never from a setting.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Protocol
from urllib.parse import urlsplit

from scrapy_seine.config import SettingsLike
from scrapy_seine.errors import ConfigError, StoreUnreachable
from scrapy_seine.sinks.feeds.part_storage import sync_folder

#: Errors of a disk that may have room later.
_FULL = (errno.ENOSPC, errno.EDQUOT)


class ObjectMissing(ValueError):
    """The store answers and has no such object."""


class ObjectStore(Protocol):
    """Stores bytes under keys, whose parts are separated by slashes."""

    def put(self, key: str, data: bytes) -> None:
        """Store *data* durably.

        Raises:
            StoreUnreachable: the object could not be stored; the caller may retry.
            ValueError: the data is larger than an object may be.
        """

    def get(self, key: str, start: int, length: int | None = None) -> bytes:
        """Read *length* bytes of an object from *start* on; None: to its end.

        Raises:
            ObjectMissing: the store answers and has no such object.
            StoreUnreachable: the object cannot be read.
        """

    def names(self) -> Iterator[str]:
        """List the keys of all objects.

        Raises:
            StoreUnreachable: the objects cannot be listed.
        """


class Folder:
    """A store in a folder: each object is a file."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, key: str, data: bytes) -> None:
        """Write a file; it gets its name once it is complete, and both are on the disk."""
        path = self.root / key
        changed_folders = [path.parent, *(p.parent for p in path.parents if not p.exists())]
        part = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
            for folder in changed_folders:
                sync_folder(folder)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink()
            if error.errno == errno.EFBIG:  # a retry fails again; fewer pages succeed
                raise ValueError(f"archive {self.root}: {error.strerror}") from None
            raise StoreUnreachable(f"archive {self.root}: {error.strerror}") from None

    def get(self, key: str, start: int, length: int | None = None) -> bytes:
        """Read a piece of a file."""
        if not (self.root / key).resolve().is_relative_to(self.root.resolve()):
            raise StoreUnreachable(f"archive {self.root}: {key[:200]!r} lies outside")
        try:
            with (self.root / key).open("rb") as file:
                file.seek(start)
                return file.read(-1 if length is None else length)
        except OSError as error:
            reason = f"archive {self.root / key}: {error.strerror}"
            if isinstance(error, FileNotFoundError) and not self._is_away():
                raise ObjectMissing(reason) from None
            raise StoreUnreachable(reason) from None

    def _is_away(self) -> bool:
        """Whether nothing is there: the folder of a disk that is not mounted is empty."""
        try:
            return next(self.root.iterdir(), None) is None
        except OSError:
            return True

    def names(self) -> Iterator[str]:
        """List the keys of all files without the unfinished ones."""
        for path in sorted(self.root.rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                yield path.relative_to(self.root).as_posix()


def _trim_credentials() -> None:
    """Strip line breaks of a Secret's file from the credentials, because boto3 sends them."""
    for name, value in os.environ.items():
        if name.startswith("AWS_") and value != value.strip():
            os.environ[name] = value.strip()


class S3:
    """A store in an S3 bucket."""

    def __init__(self, bucket: str, prefix: str) -> None:
        try:
            import boto3
            from botocore.config import Config
            from botocore.exceptions import BotoCoreError, ClientError
        except ImportError:
            raise ConfigError(
                "an archive on S3 needs boto3: pip install 'scrapy-seine[s3]'"
            ) from None
        self.bucket, self.prefix = bucket, prefix.strip("/")
        self._errors = (BotoCoreError, ClientError)
        # The writer tries again, too, and says so: a server that is silent is named in a minute.
        options = Config(connect_timeout=10, read_timeout=30, retries={"total_max_attempts": 2})
        _trim_credentials()
        try:
            self._client: Any = boto3.client("s3", config=options)
        except (*self._errors, ValueError) as error:  # of an endpoint that is no URL
            raise ConfigError(f"s3://{bucket}: {error}") from None

    def _name(self, key: str) -> str:
        return f"{self.prefix}/{key}" if self.prefix else key

    def put(self, key: str, data: bytes) -> None:
        """Upload an object; it is durable once this returns."""
        try:
            self._client.put_object(Bucket=self.bucket, Key=self._name(key), Body=data)
        except self._errors as error:
            # Without the name, which each try changes: one reason is one line of the log.
            reason = str(error).replace(self._name(key), "…")
            raise StoreUnreachable(f"s3://{self.bucket}: {reason}") from None

    def remove(self, key: str) -> None:
        """Delete an object if the credentials allow it; those of a worker often do not."""
        with contextlib.suppress(*self._errors):
            self._client.delete_object(Bucket=self.bucket, Key=self._name(key))

    def get(self, key: str, start: int, length: int | None = None) -> bytes:
        """Download a piece of an object."""
        byte_range = f"bytes={start}-" + ("" if length is None else str(start + length - 1))
        try:
            reply = self._client.get_object(
                Bucket=self.bucket, Key=self._name(key), Range=byte_range
            )
            data: bytes = reply["Body"].read()
        except self._errors as error:
            if self._code(error) == "NoSuchKey":
                raise ObjectMissing(f"s3://{self.bucket}/{key}: no such object") from None
            raise StoreUnreachable(f"s3://{self.bucket}/{key}: {error}") from None
        return data

    @staticmethod
    def _code(error: Any) -> str:
        return str(getattr(error, "response", {}).get("Error", {}).get("Code", ""))

    def names(self) -> Iterator[str]:
        """List the keys of all objects below the prefix without those of an access test."""
        pages = self._client.get_paginator("list_objects_v2")
        try:
            for page in pages.paginate(Bucket=self.bucket, Prefix=self._name("")):
                for entry in page.get("Contents", ()):
                    name = entry["Key"].removeprefix(self._name(""))
                    if not name.rpartition("/")[2].startswith("."):
                        yield name
        except self._errors as error:
            raise StoreUnreachable(f"s3://{self.bucket}: {error}") from None


#: A bucket's name and a prefix; no credentials, which belong in the environment.
_S3 = re.compile(r"s3://[A-Za-z0-9][\w.-]*(/[^\s?#]*)?")


def is_place(place: str) -> bool:
    """Whether *place* is `s3://bucket/prefix` or may be a folder."""
    if "://" in place or place.startswith("s3:"):
        return _S3.fullmatch(place) is not None
    return bool(place.strip()) and place.isprintable()


def open_store(place: str) -> ObjectStore:
    """Open `s3://bucket/prefix` or a folder.

    Raises:
        ConfigError: it is neither, holds credentials, or S3 is not usable here.
    """
    parts = urlsplit(place)
    if "@" in parts.netloc:
        raise ConfigError("credentials of the archive belong in the environment, not in its URL")
    if not is_place(place):
        raise ConfigError(f"archive {parts.scheme}://… is neither s3://bucket/prefix nor a folder")
    if "://" not in place:
        return Folder(Path(place).expanduser().absolute())
    return S3(parts.netloc, parts.path)


def check_filled(place: str) -> None:
    """List a place from which pages are to be read.

    Raises:
        SeineError: the object storage cannot be listed.
        OSError: the folder cannot be listed.
        ValueError: the place is empty.
    """
    store = open_store(place)
    if isinstance(store, Folder):
        with os.scandir(store.root) as entries:
            is_filled = any(entries)
    else:
        is_filled = any(store.names())
    if not is_filled:
        raise ValueError("nothing is kept there")


def check_archive(settings: SettingsLike) -> None:
    """Write into the folder of the archive: each page would wait for one that takes nothing.

    A full disk, or an object storage, may answer later, and is waited for.

    Raises:
        ConfigError: SEINE_ARCHIVE names no archive, or a folder that cannot be written.
    """
    place = str(settings.get("SEINE_ARCHIVE") or "")
    store = open_store(place) if place else None
    if not isinstance(store, Folder):
        return
    try:
        store.root.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=store.root):
            pass
    except OSError as error:
        if error.errno not in _FULL:
            text = f"SEINE_ARCHIVE={place} cannot be written: {error.strerror}"
            raise ConfigError(text) from None


def check_replay(settings: SettingsLike) -> None:
    """Look into the archive that is to be replayed: of a missing one each page would be waited for.

    Raises:
        ConfigError: SEINE_REPLAY names no archive, or one without pages.
        StoreUnreachable: the object storage does not answer.
    """
    place = str(settings.get("SEINE_REPLAY") or "")
    if not place:
        return
    try:
        check_filled(place)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"SEINE_REPLAY={place} cannot be read: {reason}") from None

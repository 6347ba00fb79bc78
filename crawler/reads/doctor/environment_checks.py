"""Checks of `scrapy doctor` that use folders, files, lanes and combined settings.

Only a write shows whether a folder can be written, so a check writes a probe and removes it.
"""

from __future__ import annotations

import errno
import re
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from socket import AF_INET, AF_INET6
from typing import Any

import attrs

from crawler.access.ladder import Policy
from crawler.access.proxies.pool import PoolConfig
from crawler.catalogue.jobs.webhooks import WebhookConfig
from crawler.reads.catalogue_settings import TABLE
from crawler.reads.doctor.checks import is_on
from crawler.reads.doctor.finding import Finding
from crawler.stores.archive.object_storage import S3, Folder, check_filled, open_store
from scrapy_seine.attrs_bases import Value
from scrapy_seine.config import FrontierConfig, SettingsLike, StoreConfig
from scrapy_seine.embedded.data_folder import data_folder
from scrapy_seine.engine.settings_check import PORT, Kind, wrong_values
from scrapy_seine.errors import ConfigError, SeineError
from scrapy_seine.printable import redact
from scrapy_seine.reads.formatting import size

#: Name of the probe object; readers of an archive skip names that begin with a dot.
PROBE = ".seine-doctor"
#: Smallest free space of a disk without a finding, bytes.
_MIN_FREE_BYTES = 256 << 20
#: Timeout of a worker's reply, seconds, and the largest part of its metrics to read, bytes.
_REPLY_TIMEOUT_S, _MAX_METRICS_BYTES = 2.0, 1 << 20


def environment_findings(
    settings: SettingsLike, spider: str, table: Mapping[str, Kind] = TABLE
) -> list[Finding]:
    """Check the folders, lanes, port and combined settings on this machine."""
    return [
        *_places(settings, table),
        *_lanes(settings),
        *_port(settings),
        *_combined(settings, spider, table),
    ]


def _places(settings: SettingsLike, table: Mapping[str, Kind]) -> Iterator[Finding]:
    """Try to read or write the place that each setting names, as its kind requires."""
    if is_on(settings, "SEINE_EMBEDDED"):
        yield from _disk_space("SEINE_DATA_DIR", str(data_folder(settings)))
    for name, kind in sorted(table.items()):
        value = str(settings.get(name) or "").strip() if kind.place else ""
        if not (value and kind.allows(value)) or _is_scrapy_store(value):
            continue
        try:
            _TRY_BY_ACCESS[kind.place](value)
        except (SeineError, OSError, ValueError) as error:
            text = redact(f"{name}={value} cannot be {kind.place}: {_reason(error)}")
            yield Finding("fail", "places", text, f"correct {name}, or the rights of that place")
        else:
            yield from _disk_space(name, value)


def _port(settings: SettingsLike) -> Iterator[Finding]:
    """Bind the metrics' port for a moment; without the port a worker serves no metrics."""
    host, port = str(settings.get("SEINE_METRICS_HOST") or ""), settings.get("SEINE_METRICS_PORT")
    if port in ("", None) or not PORT.allows(port):
        return
    try:
        socket.create_server((host, int(port)), family=AF_INET6 if ":" in host else AF_INET).close()
    except OSError as error:
        text = f"SEINE_METRICS_HOST={host}, SEINE_METRICS_PORT={port}: {error.strerror or error}"
        if error.errno == errno.EADDRINUSE:
            if _is_worker(host, int(port)):
                text = f"a worker serves them on port {port}; one more here needs another, or 0"
                yield Finding("ok", "metrics", text)
                return
            text = f"SEINE_METRICS_PORT={port} is in use, by a worker or by another program"
        yield Finding("warn", "metrics", text, "a worker here would serve no metrics and no probe")


def _is_worker(host: str, port: int) -> bool:
    """Whether the port belongs to a worker, for instance in a worker's own pod."""
    connection = HTTPConnection(host or "127.0.0.1", port, timeout=_REPLY_TIMEOUT_S)
    try:
        connection.request("GET", "/metrics")
        return b"seine_worker_info" in connection.getresponse().read(_MAX_METRICS_BYTES)
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _is_scrapy_store(value: str) -> bool:
    """Whether only Scrapy's file stores can use a location: gs://, ftp://."""
    return "://" in value and not value.startswith("s3://")


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).removeprefix("archive ").split())


def _disk_space(name: str, value: str) -> Iterator[Finding]:
    """Report a nearly full disk, also if the folder does not exist yet."""
    place = Path(value).expanduser().absolute()
    existing = next((folder for folder in (place, *place.parents) if folder.exists()), None)
    free_bytes = shutil.disk_usage(existing).free if existing else _MIN_FREE_BYTES
    if "://" not in value and free_bytes < _MIN_FREE_BYTES:
        text = f"{name}={value} lies on a disk with {size(free_bytes)} of room left"
        yield Finding("warn", "places", text, "make room, or name another disk")


def _try_writing(value: str) -> None:
    """Write a probe and remove it, with the folders that were created for it.

    Raises:
        SeineError: the probe cannot be written.
    """
    store = open_store(value)
    if isinstance(store, Folder):
        created_folders = [p for p in (store.root, *store.root.parents) if not p.exists()]
        try:
            store.put(PROBE, b"1")
        finally:
            with suppress(OSError):
                (store.root / PROBE).unlink(missing_ok=True)
                for folder in created_folders:
                    folder.rmdir()
    elif isinstance(store, S3):
        store.put(PROBE, b"1")
        store.remove(PROBE)


#: Function that tries a location, by the `place` of a setting's kind.
_TRY_BY_ACCESS: Mapping[str, Callable[[str], None]] = {
    "written": _try_writing,
    "read": check_filled,
}


def _lanes(settings: SettingsLike) -> Iterator[Finding]:
    """Check that each lane's handler can be imported."""
    value = settings.get("SEINE_LANES")
    for lane, path in (value if isinstance(value, Mapping) else {}).items():
        if problem := _no_handler(str(path)):
            text = f"SEINE_LANES: the lane {lane!r} has no handler {path!r}: {problem}"
            yield Finding("fail", "lanes", text, "correct the path, or remove the lane")


def _no_handler(path: str) -> str:
    """Return why a path names no handler, or ""; a failing import may be a missing extra."""
    module, _, name = path.rpartition(".")
    try:
        if not module or find_spec(module) is None:
            return f"there is no module {module or path!r}"
    except (ImportError, ValueError) as error:
        return str(error)
    with suppress(ImportError, ConfigError):
        if not hasattr(import_module(module), name):
            return f"{module} has no {name!r}"
    return ""


@attrs.frozen(eq=False, repr=False)
class _ValidSettings(Value):
    """Settings without invalid values, which the settings' table has reported already."""

    settings: SettingsLike
    table: Mapping[str, Kind]

    def get(self, name: Any, default: Any = None, /) -> Any:
        """Return the setting, or the default where its value is invalid."""
        value, kind = self.settings.get(name, default), self.table.get(name)
        return value if kind is None or kind.allows(value) else default


def _combined(settings: SettingsLike, spider: str, table: Mapping[str, Kind]) -> Iterator[Finding]:
    """Build a worker's config objects, because settings valid alone may be invalid together."""
    faulty_names = {fault.partition("=")[0] for fault in wrong_values(settings, table)}
    valid_settings = _ValidSettings(settings, table)
    makers: tuple[Callable[[], object], ...] = (
        lambda: FrontierConfig.from_settings(valid_settings, spider),
        lambda: StoreConfig.from_settings(valid_settings),
        lambda: PoolConfig.from_settings(valid_settings),
        lambda: Policy.from_settings(valid_settings),
        lambda: WebhookConfig.from_settings(valid_settings),
    )
    for make in makers:
        try:
            make()
        except ConfigError as error:
            if faulty_names & set(re.findall(r"[A-Z_]+", str(error))):
                continue  # reported already
            yield Finding("fail", "settings", str(error), "correct it: no worker starts with it")

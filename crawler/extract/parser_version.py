"""The parser's version: a hash of the parsers' code, so that every change makes a new version."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

#: The packages that turn a response into a stored product.
_PACKAGES = ("crawler.extract", "crawler.cleaning", "pipelines")


def parser_version(site: object) -> str:
    """Return the parser's version for one site: twelve letters and digits.

    Another version may read other values from the same page.
    """
    kind: Any = type(site)
    return _version_of_class(kind)


@cache
def _version_of_class(kind: type[Any]) -> str:
    modules = (base.__module__ for base in kind.__mro__)
    site_modules = {
        name for name in modules if name != "builtins" and not name.startswith(_PACKAGES)
    }
    return _version_with(tuple(sorted(site_modules)))


@cache
def _version_with(modules: tuple[str, ...]) -> str:
    digest = hashlib.blake2b(_hash_of_packages(), digest_size=6)
    for module in modules:
        digest.update(_code(module))
    return digest.hexdigest()


@cache
def _hash_of_packages() -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for package in _PACKAGES:
        try:
            top = resources.files(package)
        except ModuleNotFoundError:
            continue
        for name, entry in sorted(_files(top, "")):
            digest.update(name.encode() + b"\0" + entry.read_bytes())
    return digest.digest()


def _files(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    """Yield the paths and files in and below a folder that can change a page's result."""
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _files(entry, f"{path}{entry.name}/")
        elif entry.name.endswith((".py", ".pyc", ".json", ".txt", ".toml")):
            yield path + entry.name, entry


def _code(module: str) -> bytes:
    """Return a module's source, or its compiled code, because an egg may contain only that."""
    spec = getattr(sys.modules.get(module), "__spec__", None)
    loader: Any = getattr(spec, "loader", None)
    path = getattr(spec, "origin", None)
    try:
        return bytes(loader.get_data(path))
    except (AttributeError, OSError, TypeError):
        return module.encode()

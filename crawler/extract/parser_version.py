"""The version of what reads a page: made from the parsers' own code, so that nobody forgets it."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

#: What turns an answer into a stored product.
_PACKAGES = ("crawler.extract", "crawler.cleaning", "pipelines")


def parser_version(site: object) -> str:
    """Version of the parser as it is for one site: twelve letters and figures.

    Another version may see another thing on the same page.
    """
    kind: Any = type(site)
    return _of_kind(kind)


@cache
def _of_kind(kind: type[Any]) -> str:
    modules = (base.__module__ for base in kind.__mro__)
    own = {name for name in modules if name != "builtins" and not name.startswith(_PACKAGES)}
    return _version(tuple(sorted(own)))


@cache
def _version(modules: tuple[str, ...]) -> str:
    found = hashlib.blake2b(_common(), digest_size=6)
    for module in modules:
        found.update(_code(module))
    return found.hexdigest()


@cache
def _common() -> bytes:
    found = hashlib.blake2b(digest_size=16)
    for package in _PACKAGES:
        try:
            top = resources.files(package)
        except ModuleNotFoundError:
            continue
        for name, entry in sorted(_files(top, "")):
            found.update(name.encode() + b"\0" + entry.read_bytes())
    return found.digest()


def _files(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    """The files of a folder and of those in it that have a part in what a page yields."""
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _files(entry, f"{path}{entry.name}/")
        elif entry.name.endswith((".py", ".pyc", ".json", ".txt", ".toml")):
            yield path + entry.name, entry


def _code(module: str) -> bytes:
    """A module's source, else its compiled code: an egg may hold only that."""
    spec = getattr(sys.modules.get(module), "__spec__", None)
    loader: Any = getattr(spec, "loader", None)
    path = getattr(spec, "origin", None)
    try:
        return bytes(loader.get_data(path))
    except (AttributeError, OSError, TypeError):
        return module.encode()

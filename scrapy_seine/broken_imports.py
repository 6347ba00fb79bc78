"""Imports files that users write: one that cannot be used is noted, and costs no other file.

Scrapy's own loader imports every module under SPIDER_MODULES and lets the first error end the
command. Here each broken file is left out, and said in one line: file, line and reason.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import logging
import os
import pkgutil
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import attrs

from scrapy_seine.records import Value

logger = logging.getLogger(__name__)


@attrs.frozen(eq=False, repr=False)
class BrokenFile(Value):
    """A file, or a class in it, that is left out."""

    path: str
    """Relative to the working directory where the file is below it."""
    line: int
    """Counted from 1; 0 where no line is known."""
    reason: str

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {self.reason}"


_broken: dict[str, BrokenFile] = {}


def broken_files() -> list[BrokenFile]:
    """Return what this process has left out so far."""
    return list(_broken.values())


def note(path: str, line: int, reason: str) -> None:
    """Remember that something is left out, and log it once."""
    broken = BrokenFile(_short(path), line, " ".join(reason.split()))
    if str(broken) not in _broken:
        _broken[str(broken)] = broken
        logger.error("%s; it is left out", broken)


_failed: set[str] = set()


def attempt(name: str) -> ModuleType | None:
    """Import a module; None, and a note, where that fails. A failed import is not repeated."""
    if name in _failed:
        return None
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever the file does, the others go on
        _failed.add(name)
        path, line = _where(name, error)
        note(path, line, f"{type(error).__name__}: {_text(error)}")
        return None


def walk(name: str) -> Iterator[ModuleType]:
    """Import a module and everything below it; what cannot be imported is left out."""
    module = attempt(name)
    if module is None:
        return
    yield module
    for info in pkgutil.iter_modules(vars(module).get("__path__", ())):  # it may answer any name
        yield from walk(f"{name}.{info.name}")


def line_of(path: str, owner: str, attribute: str = "") -> int:
    """Return the line of a class, or of an attribute in it; 0 where the source says neither."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return 0
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == owner:
            lines = [part.lineno for part in node.body if attribute in _targets(part)]
            return lines[-1] if lines else node.lineno
    return 0


def _targets(node: ast.stmt) -> set[str]:
    given: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        given = node.targets
    elif isinstance(node, ast.AnnAssign):
        given = [node.target]
    return {target.id for target in given if isinstance(target, ast.Name)}


def _where(name: str, error: BaseException) -> tuple[str, int]:
    """Return the place to look at: the wrong syntax, else the last line run of the module."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno or 0
    try:
        spec = importlib.util.find_spec(name)
    except Exception:  # the package above it is broken, too
        spec = None
    path = spec.origin if spec is not None and spec.origin else name
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno or 0 for frame in frames if frame.filename == path]
    return path, lines[-1] if lines else 0


def _text(error: BaseException) -> str:
    return (error.msg if isinstance(error, SyntaxError) else str(error)) or "no message"


def _short(path: str) -> str:
    here = os.path.relpath(path) if Path(path).is_absolute() else path
    return path if here.startswith("..") else here

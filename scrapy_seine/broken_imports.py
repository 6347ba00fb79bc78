"""Imports users' files: a broken one is reported, and does not affect other files.

Scrapy's own loader imports every module under SPIDER_MODULES and stops at the first error. Here
each broken file is left out, and reported in one line: file, line and reason.
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

from scrapy_seine.attrs_bases import Value

logger = logging.getLogger(__name__)


@attrs.frozen(eq=False, repr=False)
class BrokenFile(Value):
    """A file, or a class in it, that is left out."""

    path: str
    """Relative to the working directory if the file is below it."""
    line: int
    """Counted from 1; 0 if unknown."""
    reason: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.reason}"


_broken: dict[str, BrokenFile] = {}


def broken_files() -> list[BrokenFile]:
    """Return the files that this process has left out so far."""
    return list(_broken.values())


def note(path: str, line: int, reason: str) -> None:
    """Record that a file is left out, and log it once."""
    broken = BrokenFile(_relative_path(path), line, " ".join(reason.split()))
    if str(broken) not in _broken:
        _broken[str(broken)] = broken
        logger.error("%s; it is left out", broken)


_failed_names: set[str] = set()


def attempt(name: str) -> ModuleType | None:
    """Import a module; None if that fails, with a log line. A failed import is not repeated."""
    if name in _failed_names:
        return None
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever the file raises, go on with others
        _failed_names.add(name)
        broken = broken_file(name, error)
        note(broken.path, broken.line, broken.reason)
        return None


def broken_file(name: str, error: BaseException) -> BrokenFile:
    """Say where the import of a module failed, and why."""
    path, line = _place_of(name, error)
    return BrokenFile(_relative_path(path), line, f"{type(error).__name__}: {_text(error)}")


def walk(name: str) -> Iterator[ModuleType]:
    """Import a module and all modules below it; broken ones are left out."""
    module = attempt(name)
    if module is None:
        return
    yield module
    for info in pkgutil.iter_modules(vars(module).get("__path__", ())):  # it may answer any name
        yield from walk(f"{name}.{info.name}")


def line_of(path: str, owner: str, attribute: str = "") -> int:
    """Return the line of a class, or of an attribute in it; 0 if the source has neither."""
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
    nodes: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        nodes = node.targets
    elif isinstance(node, ast.AnnAssign):
        nodes = [node.target]
    return {target.id for target in nodes if isinstance(target, ast.Name)}


def _place_of(name: str, error: BaseException) -> tuple[str, int]:
    """Return the place of the error: the wrong syntax, else the last line run of the module."""
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


def _relative_path(path: str) -> str:
    relative = os.path.relpath(path) if Path(path).is_absolute() else path
    return path if relative.startswith("..") else relative

"""Reads the source of a class, and which variables of its module a function means."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.engine.stored.gathered_parts import stored_names


@attrs.frozen(eq=False, repr=False)
class Source(Value):
    """A class' definition, and what else its module defines."""

    tree: ast.ClassDef
    functions: list[ast.FunctionDef | ast.AsyncFunctionDef]
    variables: frozenset[str]


def source_of(kind: type) -> Source | None:
    """Parse a class' module; `inspect.getsource` of a class parses twice, and slowly."""
    try:
        module = sys.modules[kind.__module__]
        lines = linecache.getlines(inspect.getfile(kind), vars(module))
        tree = ast.parse("".join(lines))
    # A class that was made at run time has no source.
    except (KeyError, OSError, TypeError, SyntaxError, ValueError, RecursionError):
        return None
    nodes = [x for x in ast.walk(tree) if isinstance(x, ast.ClassDef) and x.name == kind.__name__]
    assigned = [x for x in tree.body if isinstance(x, ast.Assign | ast.AnnAssign)]
    functions = [x for x in tree.body if isinstance(x, ast.FunctionDef | ast.AsyncFunctionDef)]
    variables = frozenset(name for node in assigned for name in _own_names(node))
    return Source(nodes[-1], functions, variables) if nodes else None


def _own_names(node: ast.AST) -> set[str]:
    """Return the variables that code assigns, and the arguments of its functions."""
    return stored_names(node) | {x.arg for x in ast.walk(node) if isinstance(x, ast.arg)}


def globals_of(function: ast.AST, variables: frozenset[str]) -> frozenset[str]:
    """Return the variables of the module that a function means by these names."""
    declared = {x for n in ast.walk(function) if isinstance(n, ast.Global) for x in n.names}
    return (variables - _own_names(function)) | declared

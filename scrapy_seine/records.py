"""Bases of attrs' classes, by which all of them are compared and shown with the same code.

attrs writes `__eq__`, `__hash__` and `__repr__` anew for each class and compiles them, which took
a worker's start 0.3 ms a class, and it has some two hundred; hardly any of them is ever compared.
So a class says `eq=False, repr=False` to attrs and has one of these bases.
"""

from __future__ import annotations

from reprlib import recursive_repr
from typing import Any

import attrs


class Record:  # noqa: PLW1641  # what may change has no hash
    """Equal to another one of its class with equal fields; it may change, so it has no hash.

    >>> @attrs.define(eq=False, repr=False)
    ... class Point(Record):
    ...     x: int
    ...     y: int = attrs.field(default=0, repr=False)
    >>> Point(1), Point(1) == Point(1), Point(1) == Point(1, 2)
    (Point(x=1), True, False)
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(getattr(self, f.name) == getattr(other, f.name) for f in _fields(self) if f.eq)

    @recursive_repr()
    def __repr__(self) -> str:
        shown = (f"{f.name}={getattr(self, f.name)!r}" for f in _fields(self) if f.repr)
        return f"{type(self).__qualname__.rpartition('>.')[2]}({', '.join(shown)})"


class Value(Record):
    """The same with a hash, for what nobody changes."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, f.name) for f in _fields(self) if f.eq))


def _fields(record: Record) -> tuple[attrs.Attribute[Any], ...]:
    found: tuple[attrs.Attribute[Any], ...] = record.__attrs_attrs__  # type: ignore[attr-defined]
    return found

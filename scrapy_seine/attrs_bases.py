"""Bases of attrs classes, which compare and show all of them by the same code.

attrs generates `__eq__`, `__hash__` and `__repr__` for each class and compiles them, which took 0.3
ms per class of a worker's start, with some two hundred classes; hardly any is ever compared. So a
class passes `eq=False, repr=False` to attrs and has one of these bases.
"""

from __future__ import annotations

from reprlib import recursive_repr
from typing import Any

import attrs


class Record:  # noqa: PLW1641  # what may change has no hash
    """Equal to another one of its class with equal fields; it is mutable, so it has no hash.

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
        fields = (f"{f.name}={getattr(self, f.name)!r}" for f in _fields(self) if f.repr)
        return f"{type(self).__qualname__.rpartition('>.')[2]}({', '.join(fields)})"


class Value(Record):
    """The same with a hash, for immutable values."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, f.name) for f in _fields(self) if f.eq))


def _fields(record: Record) -> tuple[attrs.Attribute[Any], ...]:
    fields: tuple[attrs.Attribute[Any], ...] = record.__attrs_attrs__  # type: ignore[attr-defined]
    return fields

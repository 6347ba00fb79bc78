"""How deep msgpack is nested, found without decoding it: one pass, no recursion.

After the specification of msgpack (github.com/msgpack/msgpack/blob/master/spec.md). Tuples and
sets travel as extensions that hold msgpack themselves; their content is looked at too.
"""

from __future__ import annotations

#: Containers inside each other, at most.
MOST_DEPTH = 64
#: Values, at most, where they are looked at: each takes about half a microsecond.
MOST_VALUES = 200_000

_TUPLE, _SET = 1, 2
#: First byte -> bytes of the value's content.
_FIXED = {0xCA: 4, 0xCB: 8, 0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8, 0xD0: 1, 0xD1: 2, 0xD2: 4, 0xD3: 8}
_FIXED |= dict.fromkeys([*range(0x80), *range(0xC0, 0xC4), *range(0xE0, 0x100)], 0)
_FIXED |= {0xA0 + n: n for n in range(32)}
#: First byte -> width of the length that follows, of bytes and texts.
_LENGTHS = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
#: The same of extensions, and the content of those of a fixed length.
_EXTENSIONS = {0xC7: 1, 0xC8: 2, 0xC9: 4}
_FIXED_EXTENSIONS = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}
#: First byte -> values of short maps and arrays.
_SHORT = {0x80 + n: 2 * n for n in range(16)} | {0x90 + n: n for n in range(16)}
#: First byte -> width of the number that follows, and values for each.
_LONG = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}


def check_depth(data: bytes) -> None:
    """Let pass msgpack that is not nested deeper than MOST_DEPTH; what is cut off passes, too.

    An empty container counts as a plain value, because nothing is nested in it.

    Raises:
        ValueError: it is nested deeper, or has too many values to tell.
    """
    at, size, values = 0, len(data), 0
    left = [1]  # values still to come, of each container that is open
    while at < size and left:
        values += 1
        if values > MOST_VALUES:
            raise ValueError(f"more than {MOST_VALUES} values")
        left[-1] -= 1
        at, inside = _step(data, at)
        if inside:
            left.append(inside)
            if len(left) > MOST_DEPTH + 1:
                raise ValueError(f"nested deeper than {MOST_DEPTH}")
        while left and not left[-1]:
            left.pop()


def _step(data: bytes, at: int) -> tuple[int, int]:
    """Read the head of the value at *at*; returns where to go on, and how many values it holds."""
    first = data[at]
    at += 1
    if first in _FIXED:
        return at + _FIXED[first], 0
    if first in _SHORT:
        return at, _SHORT[first]
    if first in _LENGTHS:
        width = _LENGTHS[first]
        return at + width + _number(data, at, width), 0
    if first in _LONG:
        width, each = _LONG[first]
        return at + width, each * _number(data, at, width)
    width = _EXTENSIONS.get(first, 0)
    length = _number(data, at, width) if width else _FIXED_EXTENSIONS[first]
    at += width
    holds = at < len(data) and data[at] in (_TUPLE, _SET)
    return (at + 1, 1) if holds else (at + 1 + length, 0)


def _number(data: bytes, at: int, width: int) -> int:
    return int.from_bytes(data[at : at + width], "big")

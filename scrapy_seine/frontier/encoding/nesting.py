"""Measures the nesting of msgpack without decoding it: one pass, no recursion.

After the specification of msgpack (github.com/msgpack/msgpack/blob/master/spec.md). Tuples and sets
are extensions that contain msgpack; their content is checked too.
"""

from __future__ import annotations

#: Containers inside each other, at most.
MOST_DEPTH = 64
#: Values walked, at most; each takes about half a microsecond.
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
    """Accept msgpack that is not nested deeper than MOST_DEPTH; truncated data is accepted, too.

    An empty container counts as a plain value, because it nests nothing.

    Raises:
        ValueError: it is nested deeper, or has more than MOST_VALUES values.
    """
    offset, size, values = 0, len(data), 0
    remaining = [1]  # values still to come, of each open container
    while offset < size and remaining:
        values += 1
        if values > MOST_VALUES:
            raise ValueError(f"more than {MOST_VALUES} values")
        remaining[-1] -= 1
        offset, entries = _step(data, offset)
        if entries:
            remaining.append(entries)
            if len(remaining) > MOST_DEPTH + 1:
                raise ValueError(f"nested deeper than {MOST_DEPTH}")
        while remaining and not remaining[-1]:
            remaining.pop()


def _step(data: bytes, offset: int) -> tuple[int, int]:
    """Read the head of the value at *offset*; returns the next offset, and its number of values."""
    code = data[offset]
    offset += 1
    if code in _FIXED:
        return offset + _FIXED[code], 0
    if code in _SHORT:
        return offset, _SHORT[code]
    if code in _LENGTHS:
        width = _LENGTHS[code]
        return offset + width + _number(data, offset, width), 0
    if code in _LONG:
        width, per_entry = _LONG[code]
        return offset + width, per_entry * _number(data, offset, width)
    width = _EXTENSIONS.get(code, 0)
    length = _number(data, offset, width) if width else _FIXED_EXTENSIONS[code]
    offset += width
    holds = offset < len(data) and data[offset] in (_TUPLE, _SET)
    return (offset + 1, 1) if holds else (offset + 1 + length, 0)


def _number(data: bytes, offset: int, width: int) -> int:
    return int.from_bytes(data[offset : offset + width], "big")

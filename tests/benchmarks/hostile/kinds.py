"""What a hostile input is, and the values that generators put where they do not belong."""

from __future__ import annotations

import gzip
import math
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import attrs

#: Close the connection there; with a reset, where it is the second.
CLOSE, RESET = "close", "reset"
Step = bytes | float | str
"""Bytes to send, seconds to wait, or an end of the connection."""


@attrs.frozen
class Canaries:
    """What nothing hostile may reach or show."""

    file: Path
    """A file whose content must never leave it."""
    touched: Path
    """A file that exists only where stored code ran."""
    secret: str
    """A password in URLs."""
    inside: Sequence[str]
    """Base URLs of private services that no seed names, with no slash at their end."""


@attrs.frozen
class Item:
    """One seed, or one stored request."""

    name: str
    data: bytes


@attrs.frozen
class Answer:
    """One path of a hostile site."""

    name: str
    steps: Sequence[Step]


@attrs.frozen
class Shop:
    """One hostile site: what its paths answer, and which of them are seeds."""

    name: str
    answers: dict[str, Answer]
    entry: str = "/"


@attrs.frozen
class Source:
    """Inputs of one class: those that are written down, and more of them without end."""

    fixed: Sequence[Any]
    more: Iterator[Any]

    def take(self, count: int) -> list[Any]:
        """So many, half of them generated; the others are from all over those written down."""
        some = spread(count // 2, self.fixed)
        return [*some, *islice(self.more, count - len(some))]


STRINGS = (
    "",
    " ",
    "x",
    "0",
    "-1",
    "soon",
    "NaN",
    "1e999",
    "\0",
    "a\r\nX-Injected: 1",
    "\x1b]0;owned\x07\x1b[31m",
    "\u202egnp.exe\u200e",
    "\ud800",
    "<script>alert(1)</script>",
    '=HYPERLINK("http://x.invalid")',
    "../../../etc/passwd",
    "%s%n%00",
    "${jndi:ldap://x.invalid}",
    "'; DROP TABLE products; --",
    "\x9b31m",
    "é" * 300,
    "a" * 70_000,
)
NUMBERS = (
    0,
    -1,
    1,
    2**31,
    2**63 - 1,
    -(2**63),
    10**30,
    1e308,
    -1e308,
    5e-324,
    math.nan,
    math.inf,
    -math.inf,
    0.1,
)


def nested(depth: int, opening: Any = None) -> Any:
    """A list in a list in a list …"""
    value: Any = opening
    for _ in range(depth):
        value = [value]
    return value


def junk(dice: random.Random, depth: int = 3) -> Any:
    """A value of any type and size."""
    kind = dice.randrange(9 if depth else 6)
    if kind < 2:
        return dice.choice(STRINGS)
    if kind < 4:
        return dice.choice(NUMBERS)
    if kind == 4:
        return dice.choice((None, True, False))
    if kind == 5:
        return "".join(chr(dice.randrange(1, 0x2FFF)) for _ in range(dice.randrange(40)))
    if kind == 6:
        return nested(dice.choice((2, 30, 150)), junk(dice, 0))
    if kind == 7:
        return [junk(dice, depth - 1) for _ in range(dice.randrange(4))]
    return {str(junk(dice, 0)): junk(dice, depth - 1) for _ in range(dice.randrange(4))}


def damaged(dice: random.Random, data: bytes) -> bytes:
    """The same bytes with some flipped, cut out, doubled or put in."""
    made = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 8))):
        at = dice.randrange(len(made) + 1)
        way = dice.randrange(5)
        if way == 0 and made:
            made[at % len(made)] ^= 1 << dice.randrange(8)
        elif way == 1:
            del made[at:]
        elif way == 2:
            del made[at : at + dice.randrange(1, 16)]
        elif way == 3:
            made[at:at] = dice.randbytes(dice.randrange(1, 16))
        else:
            made[at:at] = made[at : at + dice.randrange(1, 64)]
    return bytes(made)


def gzipped(data: bytes) -> bytes:
    """Pack bytes, the same way at any time."""
    return gzip.compress(data, 6, mtime=0)


def spread(count: int, kinds: Sequence[Any]) -> list[Any]:
    """At most *count* of them, from all over the list."""
    if count >= len(kinds):
        return list(kinds)
    return [kinds[n * len(kinds) // count] for n in range(count)]

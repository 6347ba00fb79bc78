"""Maps a domain, and a stored request, to its partition."""

from __future__ import annotations

import zlib


def part_of_domain(domain: str, of: int) -> int:
    """Return which of *of* partitions holds a domain; the same in every process and version.

    >>> part_of_domain("shop.example", 1), part_of_domain("shop.example", 4)
    (0, 3)
    """
    return zlib.crc32(domain.encode()) % of


def part_of_id(id_: str) -> int:
    """Return which partition holds a request, by its id.

    >>> part_of_id("17"), part_of_id("17.3")
    (0, 3)
    """
    index = id_.partition(".")[2]
    return int(index) if index.isdecimal() else 0

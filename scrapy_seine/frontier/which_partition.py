"""Which partition of a crawl has a domain, and which has a stored request."""

from __future__ import annotations

import zlib


def part_of_domain(domain: str, of: int) -> int:
    """Say which of *of* partitions has a domain; the same in every process and version.

    >>> part_of_domain("shop.example", 1), part_of_domain("shop.example", 4)
    (0, 3)
    """
    return zlib.crc32(domain.encode()) % of


def part_of_id(id_: str) -> int:
    """Say which partition has a request, by its id.

    >>> part_of_id("17"), part_of_id("17.3")
    (0, 3)
    """
    index = id_.partition(".")[2]
    return int(index) if index.isdecimal() else 0

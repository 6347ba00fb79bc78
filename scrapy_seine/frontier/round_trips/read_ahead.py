"""How many requests a worker leases ahead of the downloader. Pure."""

from __future__ import annotations


def lease_count(have: int, read_ahead: int) -> int:
    """Return how many to lease, where *have* are leased and not yet sent.

    None while more than half of the buffer is full, so that a round trip leases several.

    >>> lease_count(0, 32), lease_count(16, 32), lease_count(17, 32)
    (32, 16, 0)
    """
    return 0 if have > read_ahead // 2 else read_ahead - have

"""How long a retry waits: exponential backoff with full jitter.

Full jitter, a wait drawn evenly from zero to the exponential bound, keeps many workers that fail
together from returning together (Brooker, "Exponential Backoff And Jitter", AWS, 2015).
"""

from __future__ import annotations

import random


def wait_s(tries: int, base_s: float, cap_s: float, draw: float | None = None) -> float:
    """Seconds to wait after *tries* retries; *draw* replaces the random number.

    *base_s* bounds the first wait, and the bound doubles with each retry up to *cap_s*.

    >>> wait_s(0, 2, 120, draw=1.0), wait_s(3, 2, 120, draw=0.5), wait_s(9, 2, 120, draw=1.0)
    (2.0, 8.0, 120.0)
    """
    bound = min(cap_s, base_s * 2.0**tries)
    return bound * (random.random() if draw is None else draw)

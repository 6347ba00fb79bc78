"""A worker waits out a store that fails at any message of its life (I4, I12)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.starts import Fault, scene

#: The manners in which workers ended, once.
MANNERS: tuple[Fault, ...] = (
    ("redis", "reset", 0.6),
    ("redis", "redis LOADING Redis is loading the dataset in memory", 0.6),
    ("postgres", "postgres 57P01 terminating connection due to administrator command", 0.6),
)
#: Moments of a worker's life that are tried of each, evenly spread.
MOMENTS = 4


@pytest.mark.acceptance
async def test_a_store_that_fails_at_any_moment_ends_no_worker(tmp_path: Path) -> None:
    async with scene(tmp_path) as found:
        for fault in MANNERS:
            messages = await found.messages(fault[0])
            for number in range(MOMENTS):
                at = round((number + 0.5) * messages / MOMENTS)
                assert not (problem := await found.problem(fault, at)), problem

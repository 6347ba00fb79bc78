"""Fleets of clients without a downloader do their work, and keep each site's pause."""

from __future__ import annotations

from typing import Any

import pytest
import uvloop

from tests.benchmarks.fleet import binding, parsed, steady
from tests.benchmarks.server import redis_server


async def measured(url: str) -> tuple[dict[str, Any], dict[str, Any]]:
    site = await binding(url, 8, 200)
    args = parsed(["--requests", "500", "--domains", "100", "--sizes", "60"])
    row, fleet = await steady(url, 60, args)
    await fleet.end()
    return site, row


@pytest.mark.timeout(120)
def test_a_fleet_that_grows_keeps_all_pauses() -> None:
    with redis_server() as url:
        site, row = uvloop.run(measured(url))

    assert (row["short_pauses"], row["done"], site["done"]) == (0, 500, 200)
    assert min(row["commands"], row["redis_us"]) > 0

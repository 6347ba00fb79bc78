"""Many sites at once: each one's pause is kept, and used (the benchmark's first crawl, smaller)."""

from __future__ import annotations

import pytest

from tests.benchmarks.politeness import crawl


@pytest.mark.alone
@pytest.mark.acceptance
@pytest.mark.timeout(180)
async def test_the_pace_of_two_hundred_sites_is_kept_and_used(redis_url, capsys):
    pace = await crawl(redis_url, 200, delay_ms=4000, pages=4, workers=2)
    with capsys.disabled():
        print(f"\n{pace}")
    assert (pace.domains, pace.pages) == (200, 800)
    assert pace.short == 0
    # Where workers wait for a CPU half of the time, it is the machine that sets the pace.
    assert pace.share >= 0.95 or pace.wanted > 0.5

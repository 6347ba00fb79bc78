"""`make demo HOSTILE=1` gets every product of a shop that defends itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from crawler.demo.hostile import BAD_MODES, RENDERED, SECTIONS, run_hostile
from crawler.stores.store_endpoints import Endpoints

pytestmark = [
    pytest.mark.acceptance,
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed"),
]


async def test_every_section_is_got_whole_by_the_cheapest_means(
    redis_url: str, database: str, tmp_path: Path
) -> None:
    said: list[str] = []
    where = Endpoints(redis_url, database)
    outcome = await run_hostile(where, products=15, folder=tmp_path, report=said.append)
    assert [s.name for s in outcome.sections if not s.verdict.passed] == []
    paths = {s.name: s.path for s in outcome.sections}
    assert paths["open"] == paths["limits the rate"] == paths["asks for consent"] == ("plain",)
    assert paths["wants a browser's headers"] == paths["shows a CAPTCHA"] == ("plain", "tls")
    assert paths["CAPTCHA after N pages"] == ("plain", "tls", "pool")
    assert paths["refuses data centres"] == ("plain", "tls", "pool")
    assert paths[RENDERED][-1] == "browser"
    assert 0 < outcome.browser <= outcome.needed * 1.1 + 1
    # Their ports decide their turn, so that a small crawl may be done before it comes to them all;
    # each kind of dead proxy is tested by itself in test_proxies.py.
    assert {proxy.mode for proxy in outcome.dead if proxy.harmless} == set(BAD_MODES)
    # Two sites use the pool besides the one that it does not help; each finds a dead one out once.
    assert all(proxy.bans <= 3 for proxy in outcome.dead)
    assert outcome.passed
    assert len(said) >= len(SECTIONS)

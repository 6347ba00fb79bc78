"""A site keeps its residential proxy for a while, and a worker keeps no endless list of sites."""

import pytest

from crawler.access import proxies
from crawler.access.proxies.sticky import StickyProxies

WAY = ("shop.example", "residential", "DE")


def test_a_session_ends_after_its_requests_and_after_its_seconds() -> None:
    by_uses = StickyProxies({"SEINE_PROXY_STICKY_REQUESTS": 2})
    by_time = StickyProxies({"SEINE_PROXY_STICKY_SECONDS": 0})
    kept = []
    for _ in range(3):
        kept.append(by_uses.proxy_of(WAY))
        by_uses.note(WAY, "p1", "residential")
    by_time.note(WAY, "p1", "residential")

    assert kept == ["", "p1", ""]
    assert by_time.proxy_of(WAY) == ""


def test_a_data_centres_proxies_take_turns() -> None:
    sticky = StickyProxies({})
    sticky.note(WAY, "p1", "datacenter")

    assert sticky.proxy_of(WAY) == ""


def test_a_worker_with_many_sites_forgets_the_first_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each site of a crawl stayed for good: a worker of a week grew with each shop."""
    monkeypatch.setattr(proxies.sticky, "_MOST", 3)
    sticky = StickyProxies({})
    for n in range(5):
        sticky.note((f"{n}.example", "", ""), "p1", "gateway")

    assert [bool(sticky.proxy_of((f"{n}.example", "", ""))) for n in range(5)] == [False] * 2 + [
        True
    ] * 3

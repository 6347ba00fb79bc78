"""A limit that each proxy keeps by itself: it is kept at the server, and N proxies add up."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from crawler.demo.catalogue import catalogue
from crawler.demo.forward_proxies import Forward, forwarders
from crawler.demo.guards import UNGUARDED_PATHS
from crawler.demo.judge import judge
from crawler.demo.shop_process import served
from tests.acceptance.conftest import Crawl

pytestmark = [pytest.mark.acceptance, pytest.mark.alone]
DELAY_S = 0.2


def pages_by_egress(
    crawl: Crawl, ways: list[Forward], log: Path, products: int
) -> dict[str, list[float]]:
    """Crawl a shop that refuses its neighbours through the proxies; when each got a page."""
    shop = served(products=products, guard=["network"], log=log)
    with forwarders(*ways), shop as site:
        crawl.workers.settings = {
            **crawl.workers.settings,
            "SEINE_PROXIES": ",".join(way.url for way in ways),
            "SEINE_FLEET": crawl.name,
            "SEINE_DOMAIN_DELAY_MS": int(DELAY_S * 1000),
            "SEINE_LIMIT_PER": "egress",
        }
        crawl.start_idle()
        crawl.start_idle()
        crawl.seed(site.url)
        crawl.wait_for_end(60)
        visits = site.visits()
    times: dict[str, list[float]] = {}
    for visit in visits:
        if visit["path"] not in UNGUARDED_PATHS and visit["status"] != 403:
            times.setdefault(visit["client"], []).append(visit["time"])
    verdict = judge(catalogue(products), crawl.rows())
    assert verdict.passed, verdict
    assert crawl.redis.zcard(crawl.keys.leases) == crawl.redis.zcard(crawl.keys.dead) == 0
    return times


def report(times: dict[str, list[float]]) -> float:
    """Print what came of it; returns requests a second over the middle of the crawl."""
    every = sorted(itertools.chain(*times.values()))
    middle = every[len(every) // 5 : -len(every) // 5]
    rate = (len(middle) - 1) / (middle[-1] - middle[0])
    gaps = [b - a for found in times.values() for a, b in itertools.pairwise(found)]
    print(f"{len(times)} egresses, {rate:.1f} pages/s, least gap {min(gaps) * 1000:.0f} ms")
    return rate


def test_four_proxies_keep_the_pause_each_and_are_four_times_as_fast_as_one(
    crawl: Crawl, tmp_path: Path
) -> None:
    ways = [Forward("http", f"127.0.0.{n}") for n in range(81, 85)]
    times = pages_by_egress(crawl, ways, tmp_path / "shop.log", products=60)
    rate = report(times)
    assert set(times) == {way.exit for way in ways}
    gaps = sorted(b - a for found in times.values() for a, b in itertools.pairwise(found))
    assert gaps[0] >= 0.95 * DELAY_S, gaps[:5]
    assert 3.2 / DELAY_S <= rate <= 4.2 / DELAY_S


def test_refused_proxies_leave_the_pace_to_those_that_are_left(
    crawl: Crawl, tmp_path: Path
) -> None:
    ways = [Forward("http", f"127.0.0.{n}") for n in (11, 12, 13, 85)]
    times = pages_by_egress(crawl, ways, tmp_path / "shop.log", products=20)
    assert set(times) == {"127.0.0.85"}
    assert report(times) <= 1.1 / DELAY_S
    gaps = sorted(b - a for a, b in itertools.pairwise(times["127.0.0.85"]))
    # One request may still go by the site's own pause while the proxies take it over.
    assert gaps[1] >= 0.95 * DELAY_S, gaps[:5]

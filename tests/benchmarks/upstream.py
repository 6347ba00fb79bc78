"""What costs most in the projects that we build on, each shown by as little as shows it.

usage: python -m tests.benchmarks.upstream
"""

from __future__ import annotations

import argparse
import json
import time
import uuid
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any
from urllib.parse import urljoin

from lxml import html
from redis import Redis
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

from crawler.demo.pages import Site
from tests.benchmarks.measure import Command, run
from tests.benchmarks.stage import SIDES, Stage, stage
from tests.benchmarks.target import Target, target

BASE = "http://shop.invalid"


def concurrent_items(stores: Stage, site: Target, rounds: int = 3) -> dict[str, float]:
    """Scrapy makes CONCURRENT_ITEMS tasks for each response, however few items it brings."""
    code = (
        "import sys; from tests.benchmarks.sides.tutorial import TutorialSpider;"
        "from tests.benchmarks.sides.process import crawl;"
        "crawl(TutorialSpider, sys.argv[1], {'CONCURRENT_ITEMS': int(sys.argv[2])})"
    )
    costs: dict[int, list[float]] = {100: [], 1: []}
    for _ in range(rounds):
        for number, found in costs.items():
            site.stats()
            command = Command(arguments=["-c", code, site.url, str(number)])
            cost = run([command], stores.folder, lambda: site.stats(reset=False)["answers"] > 0)
            found.append(1000 * cost.running.total / site.stats()["pages"])
    return {f"cpu_ms_with_{number}": round(min(found), 2) for number, found in costs.items()}


def link_extractor(page_kb: float = 100, rounds: int = 30) -> dict[str, float]:
    """LinkExtractor walks all elements in Python to find those few that have a link."""
    page = Site(100, page_kb=page_kb).page("/p/1/" + Site(1).products[0].slug)
    extractor = LinkExtractor()

    def walk() -> set[str]:
        response = HtmlResponse(f"{BASE}/", body=page.body, encoding="utf-8")
        return {link.url for link in extractor.extract_links(response)}

    def ask() -> set[str]:
        tree = html.document_fromstring(page.body.decode())
        return {urljoin(f"{BASE}/", href) for href in tree.xpath("//a/@href")}

    assert walk() == ask()
    return {
        "page_kb": page_kb,
        "link_extractor_ms": _ms(walk, rounds),
        "xpath_ms": _ms(ask, rounds),
    }


def _ms(job: Callable[[], Any], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        began = time.process_time()
        job()
        times.append(1000 * (time.process_time() - began))
    return round(median(times), 2)


def commands(stores: Stage, site: Target) -> dict[str, float]:
    """scrapy-redis sends every command by itself, and the reactor waits for its answer."""
    found = {}
    for side in ("scrapy_redis", "seine"):
        stores.clear()
        site.stats()
        with Redis.from_url(stores.direct_redis_url) as redis:
            before = redis.info("stats")["total_reads_processed"]
            command = SIDES[side](stores, site.url, f"up-{uuid.uuid4().hex[:8]}", {})
            run([command], stores.folder)
            reads = redis.info("stats")["total_reads_processed"] - before
        found[f"{side}_round_trips_a_page"] = round(reads / site.stats()["pages"], 2)
    return found


def shown(stores: Stage) -> dict[str, dict[str, float]]:
    """Run all of them."""
    with target(products=300) as site:
        return {
            "concurrent_items": concurrent_items(stores, site),
            "link_extractor": link_extractor(),
            "commands": commands(stores, site),
        }


def main(argv: Sequence[str] | None = None) -> None:
    """Print what was found as one JSON object."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.upstream", description=__doc__
    )
    parser.parse_args(argv)
    with stage() as stores:
        print(json.dumps(shown(stores)))


if __name__ == "__main__":
    main()

"""All that is measured of a whole crawl, in one go: `make bench`.

usage: python -m tests.benchmarks.suite [--json build/bench.json] [--docs docs] [--plan full]

Writes the figures as JSON, and with --docs the tables and plots of docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import attrs

from tests.benchmarks import benchmarks_page, crawl, upstream
from tests.benchmarks.machine import machine
from tests.benchmarks.more_workers import steady
from tests.benchmarks.stage import SIDES, Result, Stage, alternate, present, stage, start_up
from tests.benchmarks.target import most_pages_per_s, target
from tests.benchmarks.verify import verify

SCRAPYS = ("seine", "plain", "plain_own_parser", "scrapy_redis")
OTHERS = ("celery", "crawlee")
#: Requests under way in the runs with distant stores, to the one domain of theirs.
WIDE = {"CONCURRENT_REQUESTS": 64, "SEINE_DOMAIN_CONCURRENCY": 64}
#: Few enough that eight workers leave the CPU idle: what is looked for is how they share.
NARROW = {"CONCURRENT_REQUESTS": 4}


@attrs.frozen(kw_only=True)
class Plan:
    """How much of everything."""

    rounds: int = 3
    products: int = 3000
    other_rounds: int = 2
    other_products: int = 500
    part_rounds: int = 2
    part_products: int = 400
    latencies: Sequence[float] = (20, 200)
    sizes: Sequence[tuple[float, int]] = ((5, 600), (100, 400), (300, 150))
    """Kilobytes, and products."""
    distances: Sequence[float] = (0, 1, 5)
    workers: Sequence[int] = (1, 2, 4, 8)
    domains: Sequence[int] = (10, 1000)
    window_s: float = 8


QUICK = Plan(
    rounds=1,
    products=150,
    other_rounds=1,
    other_products=100,
    part_rounds=1,
    part_products=100,
    latencies=(20,),
    sizes=((5, 100), (100, 60)),
    distances=(0, 5),
    workers=(1, 2),
    domains=(10,),
    window_s=4,
)
SHORT = Plan(
    rounds=2,
    products=800,
    other_rounds=1,
    other_products=300,
    part_rounds=1,
    part_products=250,
    sizes=((5, 250), (100, 200), (300, 100)),
    window_s=6,
)
PLANS = {"full": Plan(), "short": SHORT, "quick": QUICK}


def summary(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    """Median, lowest and highest of each figure of the runs."""
    rows = [result.row() for result in results]
    return {
        name: {
            "median": round(median(row[name] for row in rows), 3),
            "low": min(row[name] for row in rows),
            "high": max(row[name] for row in rows),
        }
        for name in rows[0]
    }


def _points(results: Mapping[str, Sequence[Result]], **place: float) -> Iterator[dict[str, Any]]:
    for side, runs in results.items():
        start = {"start_s": round(runs[0].start_s, 2)}
        yield {"side": side, "rounds": len(runs), **start, **place, "figures": summary(runs)}


def whole_job(plan: Plan, stores: Stage) -> dict[str, Any]:
    """Every side on pages of 20 kB with nothing in the way."""
    with target(products=plan.products) as site:
        most = most_pages_per_s(site)
        results = alternate(SCRAPYS, plan.rounds, stores, site)
    found: dict[str, Any] = {
        "target_most_pages_per_s": round(most),
        "points": list(_points(results, products=plan.products)),
        "figures": crawl.report(results),
    }
    others = [name for name in OTHERS if name in stores.starts]
    if others:
        with target(products=plan.other_products) as site:
            more = alternate(["seine", *others], plan.other_rounds, stores, site)
        ratios = crawl.ratios(more)
        found["points"] += list(
            _points({name: more[name] for name in others}, products=plan.other_products)
        )
        found["figures"].update({name: round(value, 3) for name, value in ratios.items()})
    return found


def latency(plan: Plan, stores: Stage) -> list[dict[str, Any]]:
    """A site that takes its time, one domain, default limits."""
    points = []
    for ms in plan.latencies:
        with target(products=plan.part_products, latency_ms=ms) as site:
            results = alternate(("seine", "plain", "scrapy_redis"), plan.part_rounds, stores, site)
        points += _points(results, latency_ms=ms)
    return points


def sizes(plan: Plan, stores: Stage) -> list[dict[str, Any]]:
    """Pages of other sizes."""
    points = []
    for page_kb, products in plan.sizes:
        with target(products=products, page_kb=page_kb) as site:
            sides = ("seine", "plain", "plain_own_parser")
            results = alternate(sides, plan.part_rounds, stores, site)
        points += _points(results, page_kb=page_kb, products=products)
    return points


def distance(plan: Plan, stores: Stage) -> list[dict[str, Any]]:
    """Redis and PostgreSQL further and further away; 20 ms to the site, 64 requests under way.

    Ours crawls the large shop: with the small one it is done within two seconds, and its rate
    would be that of the way from the front page to the first products.
    """
    sizes = {"seine": plan.products, "scrapy_redis": plan.part_products}
    results: dict[float, dict[str, list[Result]]] = {}
    with ExitStack() as stack:
        sites = {n: stack.enter_context(target(products=n, latency_ms=20)) for n in sizes.values()}
        for _, ms in product(range(plan.part_rounds), plan.distances):
            with stores.away(ms) as away:
                for side, n in sizes.items():
                    runs = alternate([side], 1, away, sites[n], WIDE)[side]
                    results.setdefault(ms, {}).setdefault(side, []).extend(runs)
    return [point for ms, runs in results.items() for point in _points(runs, distance_ms=ms)]


def workers(plan: Plan, stores: Stage) -> list[dict[str, Any]]:
    """Fleets of one to eight at a site of 200 ms, on few domains and on many."""
    points = []
    for domains in plan.domains:
        products = max(4, 8000 // domains)
        with target(products=products, latency_ms=200, hosts=domains) as site:
            for count in plan.workers:
                point = steady(count, stores, site, NARROW, plan.window_s)
                print(json.dumps(point), file=sys.stderr, flush=True)
                points.append(point)
    for point in points:
        one = next(p for p in points if p["domains"] == point["domains"])
        each = point["pages_per_s"] / point["workers"]
        point["efficiency"] = round(each / (one["pages_per_s"] / one["workers"]), 3)
    return points


def minute(plan: Plan, stores: Stage) -> dict[str, Any]:
    """Two workers with default settings, ten domains, 200 ms: pages and products a minute."""
    with target(products=1500, latency_ms=200, hosts=10) as site:
        point = steady(2, stores, site, {}, plan.window_s)
    point["pages_per_minute"] = round(60 * point["pages_per_s"])
    point["products_per_minute"] = round(60 * point["rows_per_s"])
    return point


PARTS: dict[str, Callable[[Plan, Stage], Any]] = {
    "whole_job": whole_job,
    "latency": latency,
    "sizes": sizes,
    "distance": distance,
    "workers": workers,
    "minute": minute,
    "upstream": lambda _, stores: upstream.shown(stores),
}


def _works(side: str, stores: Stage) -> bool:
    """Measure a side's start-up; another crawler that cannot run here is left out, and told."""
    try:
        with target(products=1) as site:
            stores.starts[side] = start_up(side, stores, site)
    except RuntimeError as error:
        if side not in OTHERS:
            raise
        print(f"{side} is left out: {error}", file=sys.stderr)
        return False
    return True


def measure_all(
    chosen: str, names: Sequence[str], save: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Measure the named parts; returns all that is written, and saves it after each of them."""
    began, plan = time.monotonic(), PLANS[chosen]
    module = f"python -m tests.benchmarks.suite --plan {chosen}"
    command = "make bench" if chosen == "full" else module
    with stage() as stores:
        found: dict[str, Any] = {"command": command, "machine": machine(stores)}
        found["plan"] = attrs.asdict(plan)
        sides = [side for side in present(list(SIDES)) if _works(side, stores)]
        found["verified"] = verify(sides, stores)
        for name in names:
            print(f"— {name}", file=sys.stderr, flush=True)
            since = time.monotonic()
            found[name] = PARTS[name](plan, stores)
            print(f"  {time.monotonic() - since:.0f} s", file=sys.stderr, flush=True)
            save(found)
    found["minutes"] = round((time.monotonic() - began) / 60, 1)
    found["shows"] = benchmarks_page.shows(found)
    save(found)
    return found


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, write, and print the figures that matter as the last line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.suite", description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"))
    parser.add_argument("--docs", type=Path, help="write benchmarks.md and its plots there")
    parser.add_argument(
        "--plan",
        choices=PLANS,
        default="full",
        help="how much: 12, 5 or 2 minutes of a quiet machine",
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=tuple(PARTS))
    args = parser.parse_args(argv)
    args.json.parent.mkdir(parents=True, exist_ok=True)

    def save(found: dict[str, Any]) -> None:
        args.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")

    found = measure_all(args.plan, args.parts, save)
    if args.docs:
        benchmarks_page.write(found, args.docs)
    print(json.dumps(found["shows"]))


if __name__ == "__main__":
    main()

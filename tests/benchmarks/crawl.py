"""The whole job, queue to row: Seine beside plain Scrapy and scrapy-redis on the same site.

Each round runs all sides one after the other, so that they share the machine's moods; medians of
the rounds are compared. CPU is the whole process', start-up included, as the kernel counts it.

usage: python -m tests.benchmarks.crawl [--products 3000] [--rounds 3] [--page-kb 20]
       [--latency-ms 0] [--https] [--per-connection 5] [--proxy] [--json]

The site is reached directly, or as the options say: by TLS; over a new connection after so many
pages; through a forward proxy, which is asked for the page itself, or with `--https` for a
connection (CONNECT). Such rows set Seine beside plain Scrapy alone unless `--sides` says otherwise.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from statistics import median
from typing import Any

from tests.benchmarks.site_connection import through_proxy
from tests.benchmarks.stage import SIDES, Result, alternate, stage
from tests.benchmarks.target import target

COMPARED = ("seine", "plain", "plain_own_parser", "scrapy_redis")


def middle(results: Sequence[Result], figure: str) -> float:
    """The median of one of the runs' figures."""
    return float(median(result.row()[figure] for result in results))


def ratios(results: Mapping[str, Sequence[Result]]) -> dict[str, float]:
    """Our CPU a page by that of each other side."""
    ours = middle(results["seine"], "cpu_ms")
    others = {name: runs for name, runs in results.items() if name != "seine"}
    return {f"cpu_ratio_{name}": ours / middle(runs, "cpu_ms") for name, runs in others.items()}


def report(results: Mapping[str, Sequence[Result]]) -> dict[str, Any]:
    """The figures of the last line."""
    ours = results["seine"]
    trips = sum(result.cost.stat("seine/redis_round_trips") for result in ours)
    figures = {
        **ratios(results),
        "cpu_ms_per_page": middle(ours, "cpu_ms"),
        **{
            f"cpu_ms_per_page_{name}": middle(runs, "cpu_ms")
            for name, runs in results.items()
            if name != "seine"
        },
        "pages_per_s": middle(ours, "pages_per_s_with_start"),
        "pages_per_s_served": middle(ours, "pages_per_s"),
        "redis_round_trips_per_page": trips / sum(result.pages for result in ours),
        "rss_mb": max(result.cost.rss_mb for result in ours),
        "pages": ours[-1].pages,
        "items": ours[-1].cost.stat("item_scraped_count"),
        **{
            f"items_{name}": runs[-1].cost.stat("item_scraped_count")
            for name, runs in results.items()
            if name.startswith("plain") or name == "scrapy_redis"
        },
    }
    return {name: round(value, 3) for name, value in figures.items()}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print a line a run to standard error, and the figures as the last line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.crawl", description=__doc__)
    parser.add_argument("--products", type=int, default=3000)
    parser.add_argument("--page-kb", type=float, default=20)
    parser.add_argument("--latency-ms", type=float, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sides", nargs="+", choices=SIDES)
    parser.add_argument("--https", action="store_true", help="by TLS, with keep-alive")
    parser.add_argument(
        "--per-connection", type=int, default=0, help="pages; 0: as many as the side likes"
    )
    parser.add_argument("--proxy", action="store_true", help="through a forward proxy")
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    args = parser.parse_args(argv)
    names = ("products", "page_kb", "latency_ms", "https", "per_connection")
    options = {name: getattr(args, name) for name in names}
    direct = not (args.https or args.per_connection or args.proxy)
    sides = args.sides or (COMPARED if direct else ("seine", "plain"))
    proxy = through_proxy() if args.proxy else nullcontext()
    with stage() as stores, target(**options) as site, proxy as asked:
        figures = report(alternate(sides, args.rounds, stores, site))
        if asked is not None:
            figures["proxy_connections"] = asked.connections
    print(json.dumps(figures))
    sys.stdout.flush()


if __name__ == "__main__":
    main()

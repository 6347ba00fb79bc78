"""Is a project's DOWNLOAD_DELAY the fleet's? Many workers, one site.

usage: python -m tests.benchmarks.pace [--workers 8] [--delay 1] [--seconds 300] [--json]

A project with the add-on's one line is run twice, at the same time at a site each: without
RANDOMIZE_DOWNLOAD_DELAY (no gap shorter than the delay, at least 0.9 requests a delay) and with
it (a mean of 0.9 to 1.02 requests a delay, no gap shorter than half of it). Requests arrive when
the kernel says so; `short` counts gaps that are shorter by more than a tick of its clock. The exit
status is 1 where a bound is broken.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.benchmarks.politeness import TICK_S, sites
from tests.benchmarks.server import redis_server
from tests.benchmarks.sides.sites import hosts

ROOT = Path(__file__).parents[2]
SPIDER = """
import scrapy


class PaceSpider(scrapy.Spider):
    name = "pace"

    async def start(self):
        for n in range(int(self.pages)):
            yield scrapy.Request(f"{self.site}/page/{n}")

    def parse(self, response):
        yield {"url": response.url}
"""


def start(
    folder: Path, redis_url: str, workers: int, *, site: str, pages: int, **settings: str
) -> list[subprocess.Popen[bytes]]:
    """Start the workers of one crawl."""
    given = {
        "ADDONS": '{"scrapy_seine.Addon": 500}',
        "REDIS_URL": redis_url,
        "SEINE_CRAWL": uuid.uuid4().hex,
        "LOG_LEVEL": "WARNING",
        **settings,
    }
    command = [sys.executable, "-m", "scrapy", "runspider", "pace.py"]
    command += ["-a", f"site={site}", "-a", f"pages={pages}"]
    command += [part for pair in given.items() for part in ("-s", "=".join(pair))]
    return [subprocess.Popen(command, cwd=folder) for _ in range(workers)]


def judge(times: Sequence[float], delay_s: float, least_s: float) -> dict[str, Any]:
    """Work out gaps and rate of one site's arrivals (s); *least_s* is the shortest gap allowed.

    >>> judge([0.0, 1.0, 2.0, 3.5], 1.0, 1.0)
    {'requests': 4, 'per_delay': 0.857, 'shortest_ms': 1000.0, 'short': 0}
    """
    gaps = [later - earlier for earlier, later in pairwise(sorted(times))]
    return {
        "requests": len(times),
        "per_delay": round(delay_s * len(gaps) / sum(gaps), 3),
        "shortest_ms": round(1000 * min(gaps), 1),
        "short": sum(gap < least_s - TICK_S for gap in gaps),
    }


def measure(workers: int, delay_s: float, seconds: float) -> dict[str, Any]:
    """Run both crawls; returns the figures of each by its name."""
    pages = max(3, round(seconds / delay_s))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="seine-pace-")))
        (folder / "pace.py").write_text(SPIDER, "utf-8")
        redis_url = stack.enter_context(redis_server())
        port = stack.enter_context(sites(folder / "log", 2))
        running: list[subprocess.Popen[bytes]] = []
        stack.callback(_end, running)
        for host, randomized in zip(hosts(2), ("0", "1"), strict=True):
            running += start(
                *(folder, redis_url, workers),
                site=f"http://{host}:{port}",
                pages=pages,
                DOWNLOAD_DELAY=str(delay_s),
                RANDOMIZE_DOWNLOAD_DELAY=randomized,
            )
        failed = sum(worker.wait(seconds * 2 + 240) != 0 for worker in running)
        visits = [line.split() for line in (folder / "log").read_text("utf-8").splitlines()]
    at = {host: [float(time_) for time_, where in visits if where == host] for host in hosts(2)}
    fixed, randomized_ = (at[host] for host in hosts(2))
    return {
        "fixed": judge(fixed, delay_s, delay_s),
        "randomized": judge(randomized_, delay_s, delay_s / 2),
        "failed_workers": failed,
    }


def _end(running: Sequence[subprocess.Popen[bytes]]) -> None:
    for worker in running:
        worker.kill()
        worker.wait()


def keeps(found: dict[str, Any]) -> bool:
    """Whether both crawls kept their bounds."""
    fixed, randomized = found["fixed"], found["randomized"]
    short = fixed["short"] or randomized["short"] or found["failed_workers"]
    return not short and fixed["per_delay"] >= 0.9 and 0.9 <= randomized["per_delay"] <= 1.02


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.pace")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--delay", type=float, default=1.0, help="DOWNLOAD_DELAY, s (default: 1)")
    parser.add_argument("--seconds", type=float, default=300.0, help="for how long (default: 300)")
    parser.add_argument("--json", action="store_true", help="print the last line alone")
    args = parser.parse_args()
    began = time.monotonic()
    found = measure(args.workers, args.delay, args.seconds)
    if not args.json:
        for name, figures in found.items():
            print(f"{name:16} {json.dumps(figures)}")
    kept = keeps(found)
    print(json.dumps({**found, "kept": kept, "seconds": round(time.monotonic() - began)}))
    return int(not kept)


if __name__ == "__main__":
    sys.exit(main())

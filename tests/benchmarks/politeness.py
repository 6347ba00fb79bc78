"""Is the pace of a thousand sites kept and used? Real workers; arrivals as the kernel saw them.

Three crawls of the same sites, each by the same number of workers: with a pause that leaves the
machine idle (what the pauses permit; the first round counts, in which all sites are due at once),
with none (what the CPU permits), and with one that would allow more than the CPU does.

usage: python -m tests.benchmarks.politeness [--domains 1000] [--workers 2] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
from redis.asyncio import Redis

from scrapy_seine.frontier.frontier import Frontier
from tests.benchmarks.server import redis_server
from tests.benchmarks.sides.sites import hosts
from tests.helpers import wait_until_async
from tests.integration.politeness.crawl import Crawl, stat

ROOT = Path(__file__).parents[2]
#: A pause that is shorter by more than this is none, s: ticks in which the kernel counts.
TICK_S = 0.01


@attrs.frozen(kw_only=True)
class Pace:
    """One crawl's pace, and what came of it."""

    domains: int
    delay_ms: int
    pages: int
    share: float
    """Of the rate that the pauses permit, by each domain's first and last page; 0 without pause."""
    pages_per_s: float
    """In the middle four fifths of the crawl."""
    short: int
    """Pauses more than 5 % too short."""
    shortest_ms: float
    wanted: float
    """CPU that a worker wanted, got or not, as a share of the time: at 1 it could do no more."""
    late: float
    """Requests that missed their time, as a share."""


@contextmanager
def sites(log: Path, n: int) -> Iterator[int]:
    """Serve *n* sites on one port; gives the port."""
    command = [sys.executable, "-m", "tests.benchmarks.sides.sites", str(log), str(n)]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        with suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, server.pid, -5)
        yield int(server.stdout.readline() if server.stdout else 0)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
        if server.stdout:
            server.stdout.close()


async def crawl(redis_url: str, domains: int, *, delay_ms: int, pages: int, workers: int) -> Pace:
    """Crawl *pages* pages of each site."""
    name = f"pace-{uuid.uuid4().hex[:8]}"
    settings = {"SEINE_DOMAIN_DELAY_MS": delay_ms, "SEINE_LEASE_SECONDS": 30, "LOG_LEVEL": "INFO"}
    with tempfile.TemporaryDirectory() as folder, sites(Path(folder) / "log", domains) as port:
        urls = [f"http://{host}:{port}/p/{i}" for i in range(pages) for host in hosts(domains)]
        async with Redis.from_url(redis_url) as redis, Crawl(redis_url, name, settings) as fleet:
            frontier = Frontier(redis, name)
            await fleet.start(workers)
            await frontier.pause()
            await fleet.seed(urls)

            async def entered() -> bool:
                counters = await redis.hgetall(frontier.keys.counters)
                return int(counters.get(b"pushed", 0)) >= len(urls)

            await wait_until_async(entered, 120, "all pages are in the frontier")
            before = [_demand_s(worker.pid) for worker in fleet.workers]
            began = time.monotonic()
            await frontier.resume()
            limit_s = 120 + pages * delay_ms / 1000 * 2
            ending = asyncio.ensure_future(fleet.finish(limit_s))
            demand = await _watch(fleet, before, began, ending)
            logs = await ending
        return _judge((Path(folder) / "log").read_text(), domains, delay_ms, demand, logs)


async def _watch(
    fleet: Crawl, before: Sequence[float], began: float, ending: asyncio.Future[Any]
) -> float:
    """Share of the time for which workers wanted to run, over the crawl's first half or so."""
    shares = [0.0]
    while not ending.done():
        await asyncio.sleep(0.5)
        with suppress(OSError, ValueError, IndexError):
            used = [_demand_s(worker.pid) for worker in fleet.workers]
            passed = time.monotonic() - began
            shares.append(
                sum(b - a for a, b in zip(before, used, strict=True)) / len(used) / passed
            )
    return max(shares[len(shares) // 3 :] or [0.0])


def _demand_s(pid: int) -> float:
    """Seconds for which a process ran, or waited for a CPU (Linux)."""
    ran, waited, _ = Path(f"/proc/{pid}/schedstat").read_text().split()
    return (int(ran) + int(waited)) / 1e9


def _judge(log: str, domains: int, delay_ms: int, demand: float, logs: list[str]) -> Pace:
    visits: dict[str, list[float]] = defaultdict(list)
    for line in log.splitlines():
        at, host = line.split(" ")
        visits[host].append(float(at))
    asked = [sorted(times) for times in visits.values()]
    times = sorted(at for each in asked for at in each)
    gaps = sorted(b - a for each in asked for a, b in pairwise(each))
    span = sum(each[-1] - each[0] for each in asked)
    least = delay_ms / 1000
    middle = times[len(times) // 10 : len(times) - len(times) // 10]
    return Pace(
        domains=len(asked),
        delay_ms=delay_ms,
        pages=len(times),
        share=round(least * (len(times) - len(asked)) / span, 3) if least and span else 0.0,
        pages_per_s=round((len(middle) - 1) / (middle[-1] - middle[0]), 1),
        short=sum(gap < 0.95 * least - TICK_S for gap in gaps),
        shortest_ms=round(1000 * gaps[0], 1),
        wanted=round(demand, 2),
        late=round(stat(logs, "seine/slots_missed") / len(times), 3),
    )


async def measure(domains: int, workers: int) -> dict[str, Any]:
    """Make the three crawls; returns the figures of the last line."""
    with redis_server() as url:
        found = {}
        for name, delay_ms, pages in (("paced", 10_000, 6), ("free", 0, 6), ("pressed", 500, 6)):
            found[name] = await crawl(url, domains, delay_ms=delay_ms, pages=pages, workers=workers)
            print(name, json.dumps(attrs.asdict(found[name])), file=sys.stderr, flush=True)
    permitted = domains * 1000 / found["pressed"].delay_ms
    return {
        "domains": domains,
        "workers": workers,
        "share_of_what_delays_permit": found["paced"].share,
        "share_of_what_cpu_permits": round(
            found["pressed"].pages_per_s / min(permitted, found["free"].pages_per_s), 3
        ),
        "pages_per_s_paced": found["paced"].pages_per_s,
        "pages_per_s_free": found["free"].pages_per_s,
        "pages_per_s_pressed": found["pressed"].pages_per_s,
        "violations": found["paced"].short + found["pressed"].short,
        "late_share": max(found["paced"].late, found["pressed"].late),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print a line a crawl, and the figures as the last line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.politeness")
    parser.add_argument("--domains", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    args = parser.parse_args(argv)
    figures = asyncio.run(measure(args.domains, args.workers))
    print(
        json.dumps(figures)
        if args.json
        else "\n".join(f"{name:28} {value}" for name, value in figures.items())
    )


if __name__ == "__main__":
    main()

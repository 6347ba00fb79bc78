"""Run the faults, and print each finding and then the figures.

usage: python -m tests.benchmarks.edges [--only SCENE …] [--short] [--json] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import attrs

from crawler.stores import embedded
from crawler.stores.migrations import migrate
from tests.benchmarks.edges.clocks import clocks
from tests.benchmarks.edges.jobs import jobs
from tests.benchmarks.edges.judge import Finding, totals
from tests.benchmarks.edges.lost_state import flushed, flushed_job, rolled_back
from tests.benchmarks.edges.pages import pages, seeds
from tests.benchmarks.edges.redis_faults import frozen_long, full_disk, redis_faults
from tests.benchmarks.edges.scene import Scene, running
from tests.benchmarks.edges.servers import private_redis
from tests.benchmarks.edges.site import site
from tests.benchmarks.edges.stores import stores
from tests.benchmarks.edges.ways import proxies, starts
from tests.helpers import create_database, server_folder

SCENES: Mapping[str, Callable[[Scene], None]] = {
    "seeds": seeds,
    "pages": pages,
    "stores": stores,
    "redis": redis_faults,
    "full_disk": full_disk,
    "rolled_back": rolled_back,
    "flushed": flushed,
    "flushed_job": flushed_job,
    "proxies": proxies,
    "starts": starts,
    "clocks": clocks,
    "jobs": jobs,
    "frozen": frozen_long,
}
#: Findings of a kind that are printed.
EXAMPLES = 2
#: What the suite runs each time.
SHORT = ("seeds", "pages")


def play(name: str, server_url: str, folder: Path) -> Scene:
    """Run one scene on a fresh Redis, database and site."""
    database = create_database(server_url)
    migrate(database)
    with private_redis() as redis, site() as made:
        crawl = f"edges-{name}-{uuid.uuid4().hex[:6]}"
        with running(Scene(crawl, made, redis, database, folder / name)) as scene:
            try:
                SCENES[name](scene)
            except Exception as error:  # the other scenes are played all the same
                scene.wrong("stuck", name, f"the scene broke: {type(error).__name__}: {error}")
                traceback.print_exc()
    return scene


def play_all(names: Sequence[str], folder: Path) -> tuple[int, list[Finding]]:
    """Run scenes one after the other; returns the kinds of fault and what went wrong."""
    findings: list[Finding] = []
    faults = 0
    with server_folder() as data:
        servers = embedded.start(data, durable=False)
        for name in names:
            began = time.monotonic()
            scene = play(name, servers.database_url, folder)
            faults += len(set(scene.faults))
            findings += scene.findings
            took = time.monotonic() - began
            print(
                f"{name}: {len(scene.faults)} faults, {took:.0f} s, {len(scene.findings)} findings",
                *(f"  {one.figure:16} {one.fault}: {one.text}" for one in _examples(scene)),
                sep="\n",
                file=sys.stderr,
                flush=True,
            )
    return faults, findings


def _examples(scene: Scene) -> list[Finding]:
    """Return three findings of each fault and figure."""
    shown: Counter[tuple[str, str]] = Counter()
    found = []
    for one in scene.findings:
        shown[one.fault, one.figure] += 1
        if shown[one.fault, one.figure] <= EXAMPLES:
            found.append(attrs.evolve(one, text=" ".join(one.text.split())[:300]))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run; exit status 1 where anything was lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.edges", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=SCENES, help="run these scenes")
    parser.add_argument("--short", action="store_true", help="what `make test` runs")
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    parser.add_argument("--keep", type=Path, help="keep the workers' logs in this folder")
    args = parser.parse_args(argv)
    folder = args.keep or Path(tempfile.mkdtemp(prefix="seine-edges-"))
    faults, findings = play_all(args.only or (SHORT if args.short else tuple(SCENES)), folder)
    if args.keep is None and not findings:
        shutil.rmtree(folder)
    elif findings:
        print(f"logs: {folder}", file=sys.stderr)
    figures = {"faults": faults, **totals(findings)}
    lines = "\n".join(f"{name:16} {count}" for name, count in figures.items())
    print(json.dumps(figures, separators=(",", ":")) if args.json else lines)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

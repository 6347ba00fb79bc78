"""Run projects of many styles plain and with the add-on's one line, and compare their items.

usage: python -m tests.benchmarks.projects [--only STYLES] [--workers 1,3] [--jobs 4] [--json]

Each is in the style of a chapter of Scrapy's documentation or of a known plug-in. Its items with
one and with three workers must equal those of a single plain run, field for field. Some projects
are run at a time; stderr shows each as it ends. One whose plug-in or browser this machine lacks is
skipped, and the last line names it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from scrapy_seine import embedded
from tests.benchmarks.projects.run import Scene, compare, lacking, styles
from tests.benchmarks.projects.site import Site
from tests.helpers import server_folder, serving


def main() -> int:
    """Run them; the last line is their figures, and the exit status 1 where one differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.projects")
    parser.add_argument("--only", default="", help=f"some styles: {','.join(styles())}")
    parser.add_argument("--workers", default="1,3", help="numbers of workers (default: 1,3)")
    parser.add_argument("--jobs", type=int, default=4, help="projects at a time (default: 4)")
    parser.add_argument("--json", action="store_true", help="print the last line alone")
    args = parser.parse_args()
    workers = [int(number) for number in args.workers.split(",")]
    chosen = args.only.split(",") if args.only else styles()
    skipped = {style: names for style in chosen if (names := lacking(style))}
    for style, names in skipped.items():
        _say(f"{style}: skipped, this machine lacks {', '.join(names)}")
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="seine-projects-") as folder,
        server_folder() as servers,
        serving(Site) as site,
    ):
        redis_url = embedded.start(servers, durable=False).urls["redis"]
        scene = Scene(site, redis_url, Path(folder))
        found = run([x for x in chosen if x not in skipped], scene, workers, jobs=args.jobs)
    for style, figures in [] if args.json else sorted(found.items()):
        print(style, json.dumps(figures))
    totals = {**totals_of(found), "skipped": sorted(skipped)}
    print(json.dumps({**totals, "seconds": round(time.monotonic() - began)}, separators=(",", ":")))
    return int(totals["different"] > 0)


def run(
    chosen: Sequence[str], scene: Scene, workers: Sequence[int], *, jobs: int
) -> dict[str, dict[str, Any]]:
    """Compare projects, *jobs* at a time; returns the figures of each."""
    found: dict[str, dict[str, Any]] = {}
    with ThreadPoolExecutor(jobs) as pool:
        running = {
            pool.submit(compare, scene, style, f"p{uuid.uuid4().hex[:8]}", _say, workers): style
            for style in chosen
        }
        for done in as_completed(running):
            style = running[done]
            found[style] = figures = done.result()
            word = "DIFFERS" if _differs(figures) else "equal"
            _say(f"{len(found)} of {len(chosen)}: {style}: {word}, {figures['items']} items")
    return found


def totals_of(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Sum the figures up."""
    return {
        "projects": len(found),
        "different": sum(_differs(figures) for figures in found.values()),
        "missing_items": sum(figures["missing"] for figures in found.values()),
        "added_items": sum(figures["added"] for figures in found.values()),
        "items": sum(figures["items"] for figures in found.values()),
    }


def _differs(figures: dict[str, Any]) -> bool:
    return bool(figures["missing"] or figures["added"] or figures["failed"] or not figures["items"])


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

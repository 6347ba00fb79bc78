"""Run projects of many styles plain and with the add-on's one line, and compare their items.

usage: python -m tests.benchmarks.projects [--only STYLES] [--workers 1,3] [--json]

Each is in the style of a chapter of Scrapy's documentation or of a known plug-in. Its items with
one and with three workers must equal those of a single plain run, field for field.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import uuid
from pathlib import Path

from scrapy_seine import embedded
from tests.benchmarks.projects.run import Scene, compare, styles
from tests.benchmarks.projects.site import Site
from tests.helpers import server_folder, serving


def main() -> int:
    """Run them; the last line is their figures, and the exit status 1 where one differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.projects")
    parser.add_argument("--only", default="", help=f"some styles: {','.join(styles())}")
    parser.add_argument("--workers", default="1,3", help="numbers of workers (default: 1,3)")
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    args = parser.parse_args()
    workers = [int(number) for number in args.workers.split(",")]
    chosen = args.only.split(",") if args.only else styles()
    say = _say
    totals = {"projects": 0, "different": 0, "missing_items": 0, "added_items": 0, "items": 0}
    with (
        tempfile.TemporaryDirectory(prefix="seine-projects-") as folder,
        server_folder() as servers,
        serving(Site) as site,
    ):
        redis_url = embedded.start(servers, durable=False).urls["redis"]
        scene = Scene(site, redis_url, Path(folder))
        for style in chosen:
            found = compare(scene, style, f"p{uuid.uuid4().hex[:8]}", say, workers)
            if not args.json:
                print(style, json.dumps(found), flush=True)
            totals["projects"] += 1
            differs = bool(found["missing"] or found["added"] or found["failed"])
            totals["different"] += differs
            totals["missing_items"] += found["missing"]
            totals["added_items"] += found["added"]
            totals["items"] += found["items"]
    print(json.dumps(totals, separators=(",", ":")))
    return int(totals["different"] > 0)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

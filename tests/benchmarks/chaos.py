"""The storm of `make chaos` over plain scrapy-redis, or over ours, with the same judge.

usage: python -m tests.benchmarks.chaos [--peer scrapy-redis] [--runs 1] [--short] [--json]
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crawler.stores import embedded
from crawler.stores.embedded import Servers
from tests.chaos.run import FULL, SHORT, Chaos, Plan
from tests.chaos.sides import ScrapyRedis, Seine, Side
from tests.helpers import server_folder

SIDES: dict[str, type[Seine] | type[ScrapyRedis]] = {
    "seine": Seine,
    "scrapy-redis": ScrapyRedis,
}
#: Figures that are added up over the runs.
SUMS = (
    "kills",
    "pages",
    "lost_pages",
    "lost_items",
    "wrong_items",
    "duplicate_fetches",
    "politeness_violations",
    "stuck",
    "failed_workers",
)


#: What nobody wants to see; a run with any of it keeps its logs.
BAD = (
    "lost_pages",
    "lost_items",
    "wrong_items",
    "politeness_violations",
    "stuck",
    "failed_workers",
)


def storm(side: str, plan: Plan) -> dict[str, Any]:
    """Run one storm on fresh servers; where something went wrong its logs are kept."""
    folder = Path(tempfile.mkdtemp(prefix="seine-chaos-"))
    with server_folder() as data:
        servers: Servers = embedded.start(data)
        made: Side = SIDES[side](servers, f"chaos-{uuid.uuid4().hex[:8]}", plan.delay_ms)
        figures = Chaos(plan, made, servers, folder).run()
    if any(figures[name] for name in BAD):
        return {**figures, "logs": str(folder)}
    shutil.rmtree(folder)
    return figures


def main(argv: Sequence[str] | None = None) -> None:
    """Run the storms, and print each one's figures and then their sum."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.chaos", description=__doc__)
    parser.add_argument("--peer", choices=SIDES, default="seine", help="who is put to the test")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--short", action="store_true", help="a storm of half a minute")
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    args = parser.parse_args(argv)
    results = []
    for number in range(args.runs):
        results.append(storm(args.peer, SHORT if args.short else FULL))
        print(f"run {number + 1}: {json.dumps(results[-1])}", file=sys.stderr, flush=True)
    total = {name: sum(result[name] for result in results) for name in SUMS}
    text = {"side": args.peer, "runs": args.runs, **total}
    print(json.dumps(text) if args.json else "\n".join(f"{k:24} {v}" for k, v in text.items()))


if __name__ == "__main__":
    main()

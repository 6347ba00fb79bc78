"""A store fails at each message of a worker's life, in each manner: how many workers end by it.

usage: python -m tests.benchmarks.starts [--every 1] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests import started
from tests.chaos.starts import FAULTS, scene


async def measure(every: int) -> dict[str, Any]:
    """Run them; what went wrong is told on standard error."""
    runs, failed = 0, 0
    folder = Path(tempfile.mkdtemp(prefix="seine-starts-"))
    async with scene(folder) as found:
        messages = {store: await found.messages(store) for store in ("redis", "postgres")}
        for number, fault in enumerate(FAULTS):
            for at in range(1 + number % every, messages[fault[0]] + 1, every):
                runs += 1
                if problem := await found.problem(fault, at):
                    failed += 1
                    print(problem, file=sys.stderr, flush=True)
        return {"faults": len(FAULTS), "workers": runs, "failed_workers": failed}


def main(argv: Sequence[str] | None = None) -> None:
    """Run them, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.starts", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="only each so many messages")
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    args = parser.parse_args(argv)
    try:
        figures = asyncio.run(measure(args.every))
    finally:
        started.end()
    print(
        json.dumps(figures) if args.json else "\n".join(f"{k:16} {v}" for k, v in figures.items())
    )


if __name__ == "__main__":
    main()

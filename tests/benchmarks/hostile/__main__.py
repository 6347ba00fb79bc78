"""Attack a live fleet with every class of hostile input, and judge from outside.

usage: python -m tests.benchmarks.hostile [--short] [--only CLASSES] [--seed N] [--json] [--keep]
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import attrs

from tests.benchmarks.hostile.plan import FULL, SHORT, Plan
from tests.benchmarks.hostile.run import attack

#: Classes of inputs, as a plan names them.
CLASSES = ("seeds", "stored", "answers", "pages", "robots", "sitemaps", "asks")
#: The seed of the figures in docs/benchmarks.md.
SEED = 16


def main() -> None:
    """Run one attack; the last line is its figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.hostile", description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED, help="other inputs of the generators")
    parser.add_argument("--short", action="store_true", help="a part of it, in under a minute")
    parser.add_argument("--only", default="", help=f"some classes: {','.join(CLASSES)}")
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    parser.add_argument("--keep", action="store_true", help="keep the logs, and say where")
    args = parser.parse_args()
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:6.1f} s  {text}", file=sys.stderr, flush=True)

    # Whoever stops it must find nothing left running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = Path(tempfile.mkdtemp(prefix="seine-hostile-"))
    try:
        figures = attack(_some(SHORT if args.short else FULL, args.only), args.seed, say, folder)
    finally:
        if args.keep:
            say(f"logs are in {folder}")
        else:
            shutil.rmtree(folder)
    for name, lines in figures.pop("examples").items():
        for line in lines:
            print(f"{name}: {line[:400]}", file=sys.stderr)
    print(
        json.dumps(figures) if args.json else "\n".join(f"{k:24} {v}" for k, v in figures.items())
    )


def _some(plan: Plan, only: str) -> Plan:
    """Leave out the classes that nobody asked for."""
    wanted = set(filter(None, only.split(","))) or set(CLASSES)
    return attrs.evolve(plan, **{name: 0 for name in CLASSES if name not in wanted})


if __name__ == "__main__":
    main()

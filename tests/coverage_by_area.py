"""Shows the branch coverage of each area, and fails where one is below what it was.

usage: python -m tests.coverage_by_area build/coverage/found.json [--write]
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

#: What each area had when it was last written down, per cent.
FLOORS = Path(__file__).parent / "coverage.json"
#: An area may have so much less: threads and processes do not take the same branches each time.
SPREAD = 0.5


def area_of(path: str) -> str:
    """Name of the area that a file belongs to: its package, and the folder within.

    >>> area_of("scrapy_seine/engine/fastpath/signals.py"), area_of("pipelines/clean.py")
    ('scrapy_seine/engine', 'pipelines')
    """
    folders = Path(path).parts[:-1]
    return "/".join(folders[:2])


def shares(found: dict[str, Any]) -> dict[str, float]:
    """Per cent of lines and branches that were taken, by area."""
    taken: dict[str, int] = defaultdict(int)
    there: dict[str, int] = defaultdict(int)
    for path, file in found["files"].items():
        summary, area = file["summary"], area_of(path)
        taken[area] += summary["covered_lines"] + summary["covered_branches"]
        there[area] += summary["num_statements"] + summary["num_branches"]
    return {area: 100 * taken[area] / n for area, n in there.items() if n}


def main() -> None:
    """Print a line for each area; exit 1 where one is below what is written down."""
    source, *options = sys.argv[1:]
    found = shares(json.loads(Path(source).read_text("utf-8")))
    floors = json.loads(FLOORS.read_text("utf-8")) if FLOORS.exists() else {}
    low = {area for area, share in found.items() if share < floors.get(area, 0) - SPREAD}
    for area, share in sorted(found.items()):
        told = f"was {floors[area]:.1f}" if area in floors else "not written down yet"
        print(f"{share:6.1f} %  {area}  ({told})")
    if "--write" in options:
        rounded = {area: round(share, 1) for area, share in sorted(found.items())}
        FLOORS.write_text(json.dumps(rounded, indent=1) + "\n", "utf-8")
    elif low:
        sys.exit(f"below what it was: {', '.join(sorted(low))}")


if __name__ == "__main__":
    main()

"""Write the file of all languages: `python -m crawler.extract.words.write_tables [--check]`.

With --check nothing is written, and the exit status is 1 where the file is old.
"""

from __future__ import annotations

import sys
from pathlib import Path

from crawler.extract.words import tables

FILE = Path(__file__).with_name(tables.TABLES)
_OLD = f"{FILE.name} is older than a language's file; run: python -m crawler.extract.words.write_tables"


def main(arguments: list[str]) -> int:
    """Write the file, or tell whether it is old."""
    made = tables.current()
    if arguments == ["--check"]:
        old = not FILE.exists() or FILE.read_bytes() != made
        if old:
            print(_OLD, file=sys.stderr)
        return int(old)
    FILE.write_bytes(made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

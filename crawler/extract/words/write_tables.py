"""Write the file of all languages: `python -m crawler.extract.words.write_tables [--check]`.

With --check it writes nothing and exits with status 1 if the file is stale.
"""

from __future__ import annotations

import sys
from pathlib import Path

from crawler.extract.words import tables

FILE = Path(__file__).with_name(tables.TABLES)
_STALE = f"{FILE.name} is older than a language's file; run: python -m crawler.extract.words.write_tables"


def main(arguments: list[str]) -> int:
    """Write the file, or return 1 with --check if the file is stale."""
    content = tables.current()
    if arguments == ["--check"]:
        is_stale = not FILE.exists() or FILE.read_bytes() != content
        if is_stale:
            print(_STALE, file=sys.stderr)
        return int(is_stale)
    FILE.write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

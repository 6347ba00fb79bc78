"""Write the files of all languages: `python -m crawler.extract.words.write_tables [--check]`.

With --check it writes nothing and exits with status 1 if a file is stale.
"""

from __future__ import annotations

import sys
from pathlib import Path

from crawler.extract.words import tables

FOLDER = Path(__file__).parent
_STALE = "{} is older than a language's file; run: python -m crawler.extract.words.write_tables"


def main(arguments: list[str]) -> int:
    """Write the files, or return 1 with --check if one is stale."""
    files = {FOLDER / name: content for name, content in tables.current().items()}
    if arguments == ["--check"]:
        stale = [f for f, content in files.items() if not f.exists() or f.read_bytes() != content]
        for file in stale:
            print(_STALE.format(file.name), file=sys.stderr)
        return int(bool(stale))
    for file, content in files.items():
        file.write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

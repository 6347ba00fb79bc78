"""Write docs/scrapy-features.md from the tests that show it: `python docs/write_features.py`.

Each row of `tests/integration/features` says of a feature of Scrapy what it does with the add-on.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.integration.features import features  # noqa: E402  # the path comes first
from tests.integration.features.elsewhere import ROWS, Row  # noqa: E402

TARGET = ROOT / "docs" / "scrapy-features.md"
_HEAD = """\
# Scrapy's features, and what each does here

Written from `tests/integration/features` by `python docs/write_features.py`; change it there.

With the add-on's one line. The last column names what shows it. A class is a spider of
`tests/integration/features`: one test crawls all of them plain and with the line, the fleet's
features by two workers, and compares items, stats and what the site saw. A `test_…` is a file of
`tests/integration`. Another name is a project of `tests/benchmarks/projects/styles`, which is run
plain, with one worker and with three, and its items are compared field for field
(`python -m tests.benchmarks.projects --json`; one whose plug-in or browser is missing is skipped,
and named: `pip install scrapy-poet` for page_objects).
"""
_TAIL = """
## Scrapy's own tests

`python -m tests.benchmarks.scrapy_suite` runs the tests of the installed Scrapy's sdist twice: as
they are, and with the add-on's line in Scrapy's default settings. It prints each that fails with
the line alone. Those of middlewares, spiders, whole crawls, signals, CLOSESPIDER_… and feed
exports end alike, as do those of `check`, `shell`, `startproject` and `version`. Those of `crawl`,
`runspider`, `parse`, `fetch` and the command line do but for three:

| Test | Why it ends otherwise |
|---|---|
| test_asyncio_enabled_false | asks for another loop than asyncio's, which is refused in a line |
| test_no_reactor | asks for no reactor, which is refused in a line |
| test_runspider_default_reactor | an empty TWISTED_REACTOR is Twisted's loop, refused in a line |

Where the package is installed, three tests of a mistyped `scrapy` command end otherwise with and
without the line (TestUnknownCommand): one line says which command is meant, or that the folder
holds no project, and the status is 1 instead of 2.
"""
_FIRST = "Spiders and commands"


def rows() -> Iterator[Row]:
    """Yield the rows in their order within each section."""
    yield from ROWS
    for feature in features():
        yield Row(feature.section, feature.name, feature.says, feature.shown_by)


def render() -> str:
    """Lay the page out as Markdown."""
    found = list(rows())
    sections = dict.fromkeys((_FIRST, *(row.section for row in found if row not in ROWS)))
    parts = [_HEAD]
    for section in sections:
        lines = [
            f"| {row.name} | {row.says} | {row.shown_by or '–'} |"
            for row in found
            if row.section == section
        ]
        head = "| Feature or setting | What it does here | Shown by |\n|---|---|---|\n"
        parts.append(f"\n## {section}\n\n{head}" + "\n".join(lines) + "\n")
    return "".join([*parts, _TAIL])


def main() -> int:
    """Write the file."""
    TARGET.write_text(render(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

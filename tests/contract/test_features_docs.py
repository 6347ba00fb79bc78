"""The table of Scrapy's features is what the tests that show them say."""

from __future__ import annotations

import runpy
from pathlib import Path

from tests.benchmarks.projects.run import styles
from tests.integration.features.elsewhere import ROWS

ROOT = Path(__file__).parents[2]
WRITER = runpy.run_path(str(ROOT / "docs" / "write_features.py"))


def test_the_table_is_current() -> None:
    text = (ROOT / "docs" / "scrapy-features.md").read_text("utf-8")
    assert text == WRITER["render"](), "run: python docs/write_features.py"


def test_each_row_is_in_a_section_and_shown_by_what_exists() -> None:
    tests = {path.stem for path in (ROOT / "tests" / "integration").glob("test_*.py")}
    assert {row.shown_by for row in ROWS} - tests - set(styles()) == {""}
    assert all(f"| {row.name} |" in WRITER["render"]() for row in ROWS)

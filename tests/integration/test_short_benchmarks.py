"""A benchmark that docs/benchmarks.md names still fits the schema: run in a short form."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import patient

pytestmark = pytest.mark.postgres
ROOT = Path(__file__).parents[2]


def test_rows_are_written_by_all_ways_that_the_benchmark_compares() -> None:
    command = [sys.executable, "-m", "tests.benchmarks.upsert", "--rows", "20", "--json"]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=patient(90), check=False
    )
    assert "Traceback" not in run.stderr, run.stderr[-2000:]
    # So few rows miss the bar, which the exit status says: what is tested is that all ways write.
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["rows"] == 20
    assert found["same_keys"]["wrong_rows"] == 0
    assert min(found["per_row_ratio"], found["copy_ratio"]) > 0

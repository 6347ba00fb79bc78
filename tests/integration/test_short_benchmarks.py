"""Benchmarks that the documents name still fit the schema and the scripts: run in a short form."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import patient

pytestmark = pytest.mark.postgres
ROOT = Path(__file__).parents[2]


def short(benchmark: str, *options: str) -> dict[str, Any]:
    """Run a benchmark and return the object that it prints last."""
    command = [sys.executable, "-m", f"tests.benchmarks.{benchmark}", *options, "--json"]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=patient(90), check=False
    )
    assert "Traceback" not in run.stderr, run.stderr[-2000:]
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def test_rows_are_written_by_all_ways_that_the_benchmark_compares() -> None:
    # So few rows miss the bar, which the exit status says: what is tested is that all ways write.
    found = short("upsert", "--rows", "20")
    assert found["rows"] == 20
    assert found["same_keys"]["wrong_rows"] == 0
    assert min(found["per_row_ratio"], found["copy_ratio"]) > 0


def test_the_memory_of_seen_urls_is_measured_by_the_frontiers_own_scripts() -> None:
    found = short("seen", "--urls", "2000")
    assert min(found["exact_bytes_per_url"], found["bloom_bytes_per_url"]) > 0
    assert found["bloom_error"] < 0.05

"""The table of docs/sizing.md is what the command computes of the measured figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.money import PRICES, Measured, table

SIZING = Path(__file__).parents[3] / "docs" / "sizing.md"


def test_the_page_shows_what_the_command_computes() -> None:
    assert table(Measured()) in SIZING.read_text("utf-8")


def test_dollars_follow_cpu_memory_and_bytes() -> None:
    base, price = Measured(), PRICES[0]
    machines, traffic = base.dollars(price)
    assert Measured(worker_ms=2 * base.worker_ms).dollars(price)[0] > 1.8 * machines
    assert Measured(page_kb=2 * base.page_kb).dollars(price)[1] == pytest.approx(2 * traffic)
    assert Measured(worker_mb=8000).dollars(price)[0] == pytest.approx(2 * machines)

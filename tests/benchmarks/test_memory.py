"""A worker frees its pages: what it takes does not grow with how many it has read."""

from __future__ import annotations

import pytest

from tests.benchmarks.memory import measure, missed


@pytest.mark.timeout(300)
def test_large_pages_read_by_selectors_stay_within_the_bar() -> None:
    found = measure(["pages"], short=True)

    assert found["pages"]["pages"] >= 100
    assert missed(found) == []

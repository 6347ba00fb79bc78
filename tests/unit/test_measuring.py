"""What measures time is measured again on a busy machine only, and never passes by that alone."""

from __future__ import annotations

import pytest

from tests import measuring

pytest_plugins = ["pytester"]
CONFTEST = """
import pytest
from tests import measuring

def pytest_configure(config):
    config.addinivalue_line("markers", "alone: measures time")

def pytest_runtest_protocol(item, nextitem):
    measuring.run_alone(item, nextitem)
    return True
"""
TEST = """
import pytest
tries = []

@pytest.fixture
def number():
    tries.append(1)
    return len(tries)

@pytest.mark.alone
def test_it(number):
    assert number >= NEEDED
"""


@pytest.mark.parametrize(
    ("busy", "needed", "passed"),
    [(True, 1, 1), (True, 3, 1), (True, 9, 0), (False, 1, 1), (False, 2, 0)],
)
def test_a_failure_counts_unless_the_machine_is_to_blame(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    busy: bool,
    needed: int,
    passed: int,
) -> None:
    monkeypatch.setattr(measuring.Machine, "busy", busy)
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TEST.replace("NEEDED", str(needed)))
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:asyncio")
    result.assert_outcomes(passed=passed, failed=1 - passed)


def test_the_machine_tells_how_many_want_to_run() -> None:
    assert measuring.running() >= 0
    with measuring.Machine() as machine:
        pass
    assert isinstance(machine.busy, bool)

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


def test_a_bar_of_cpu_grows_with_the_machines_pace_and_holds_on_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What takes the square of its input fails on a slow machine too."""
    clock = iter([0.0, 2.0] * 2)
    monkeypatch.setattr("tests.measuring.time.thread_time", lambda: next(clock))
    monkeypatch.setattr(measuring, "slowness", lambda: 3.0)
    with measuring.within_cpu(1.0):
        pass
    with pytest.raises(AssertionError, match=r"2\.000 s of CPU, of 1\.500 s"):  # noqa: SIM117
        with measuring.within_cpu(0.5):
            pass


def test_the_usual_machine_is_no_slower_than_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "USUAL_S", 1000.0)
    assert measuring.slowness() == 1.0
    monkeypatch.setattr(measuring, "USUAL_S", 1e-9)
    assert measuring.slowness() > 1.0


def test_the_machine_tells_how_many_want_to_run() -> None:
    assert measuring.running() >= 0
    with measuring.Machine() as machine:
        pass
    assert isinstance(machine.busy, bool)

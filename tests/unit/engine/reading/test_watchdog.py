"""I11: a worker whose loop is held ends; one that only waits for a processor does not."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from time import monotonic
from types import SimpleNamespace
from typing import Any, cast

import pytest

from scrapy_seine.engine.reading import watchdog
from scrapy_seine.engine.reading.watchdog import Watchdog
from tests.helpers import patient, wait_until


def watched(
    monkeypatch: pytest.MonkeyPatch, starved_s: Callable[[], float]
) -> tuple[Watchdog, list[float], list[float]]:
    monkeypatch.setattr(watchdog, "_TICK_S", 0.01)
    exits: list[float] = []
    looks: list[float] = []
    presence: Any = SimpleNamespace(lease_s=1000)
    config: Any = None
    # Nothing is called back: something holds the loop.
    still: Any = SimpleNamespace(call_later=lambda delay_s, call: None)
    dog = Watchdog(presence, "redis://127.0.0.1:1", config, 0.05, still)

    def look() -> float:
        looks.append(starved_s())
        return looks[-1]

    monkeypatch.setattr(dog, "_starved_s", look)
    monkeypatch.setattr(dog, "_exit", exits.append)
    return dog, exits, looks


def watch(dog: Watchdog, is_over: Callable[[], object], within_s: float, until: str) -> None:
    """Let the watchdog look until something has happened, and end it."""
    dog.start()
    wait_until(is_over, within_s, until)
    dog.stop()
    dog._thread.join(patient(10))


def test_a_loop_that_is_held_ends_its_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    dog, exits, _ = watched(monkeypatch, lambda: 0.0)
    watch(dog, lambda: bool(exits), 10, "the worker ends")


def test_a_loop_that_waits_for_a_processor_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    dog, exits, looks = watched(monkeypatch, lambda: 100 * monotonic())
    watch(dog, lambda: len(looks) > 60, 30, "sixty looks")
    assert exits == []


def test_the_time_without_a_processor_is_known_here() -> None:
    dog, given = Watchdog.__new__(Watchdog), threading.get_native_id()
    dog._loops_thread = given
    assert dog._starved_s() >= 0.0
    dog._loops_thread = 2**31 - 1
    assert dog._starved_s() == 0.0


class Loop:
    """An event loop that runs what is due when it is told to."""

    def __init__(self) -> None:
        self.due: list[tuple[float, Callable[[], None]]] = []

    def call_later(self, delay_s: float, call: Callable[[], None]) -> None:
        self.due.append((delay_s, call))


def test_without_a_limit_nothing_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Any = None
    loop: Any = Loop()
    dog = Watchdog(nothing, "redis://127.0.0.1:1", nothing, 0.0, loop)
    dog.start()
    assert (dog._thread.is_alive(), loop.due) == (False, [])


def test_the_loop_shows_that_it_runs_until_the_watch_is_over() -> None:
    nothing: Any = None
    loop: Any = Loop()
    dog = Watchdog(nothing, "redis://127.0.0.1:1", nothing, 1.0, loop)
    dog._tick()
    for shown in (1, 2):
        assert (dog._ticks, len(loop.due)) == (shown, 1)
        delay_s, call = loop.due.pop()
        assert delay_s == watchdog._TICK_S
        call()
    dog.stop()
    loop.due.pop()[1]()
    assert loop.due == []


def test_a_loop_that_goes_on_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    dog, exits, looks = watched(monkeypatch, lambda: 0.0)

    def look() -> float:
        dog._ticks += 1  # the loop ran since
        looks.append(0.0)
        return 0.0

    monkeypatch.setattr(dog, "_starved_s", look)
    watch(dog, lambda: len(looks) > 60, 30, "sixty looks")
    assert exits == []


class Fleet:
    """A frontier that notes which leases were renewed, and fails as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        self.failures, self.calls = failures, list[tuple[Any, ...]]()

    async def renew(self, worker: str, leases: list[str], *, ttl_ms: int, info: Any) -> None:
        self.calls.append((worker, leases, ttl_ms, info))
        if len(self.calls) <= self.failures:
            raise RuntimeError("the loop changed the leases meanwhile")


def renewing(monkeypatch: pytest.MonkeyPatch, fleet: Fleet, lease_s: float) -> Watchdog:
    """A watch over a loop that stands still, whose worker holds two leases; it ends nobody."""
    dog, _, _ = watched(monkeypatch, lambda: 0.0)
    dog._patience_s = 1000.0
    dog._heartbeat = cast(
        "Any",
        SimpleNamespace(
            lease_s=lease_s, worker="w1", last_info={"pages": 7},
            inflight=SimpleNamespace(leases=["held"]),
            exchange=SimpleNamespace(buffered=["waiting"]),
        ),
    )  # fmt: skip

    async def opened(redis: Any, config: Any) -> Fleet:
        return fleet

    monkeypatch.setattr(watchdog, "open_frontier", opened)
    return dog


def test_what_a_worker_holds_is_renewed_while_its_loop_stands_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """I2: no other worker takes a page whose reading takes long, and stands still as well."""
    fleet, looks, renewed = Fleet(failures=1), list[float](), list[int]()
    dog = renewing(monkeypatch, fleet, lease_s=0.075)
    steps_of(monkeypatch, 0.01)

    def look() -> float:
        renewed.append(len(fleet.calls))
        looks.append(0.0)
        return 0.0

    monkeypatch.setattr(dog, "_starved_s", look)
    watch(dog, lambda: len(looks) > 12, 30, "twelve looks")
    assert fleet.calls[0] == ("w1", ["held", "waiting"], 75, {"pages": 7})
    # The first look is the one before the loop stands still. Then leases are renewed each third of
    # their time, which is 2.5 looks here, and one that fails is followed by another.
    assert renewed[2:12] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]


def steps_of(monkeypatch: pytest.MonkeyPatch, step_s: float) -> None:
    """A clock that goes on by so much whenever it is looked at."""
    now = itertools.count()
    monkeypatch.setattr(watchdog, "monotonic", lambda: next(now) * step_s)


@pytest.mark.parametrize(("step_s", "most_looks"), [(0.01, 19), (1000.0, 11)])
def test_a_process_that_was_frozen_counts_as_one_look(
    monkeypatch: pytest.MonkeyPatch, step_s: float, most_looks: int
) -> None:
    """A worker whose machine slept for an hour is not ended for it: two looks' time at most."""
    dog, exits, looks = watched(monkeypatch, lambda: 0.0)  # it waits for 0.15 s, and one look
    steps_of(monkeypatch, step_s)

    def end(still_s: float) -> None:
        exits.append(len(looks))
        dog.stop()

    monkeypatch.setattr(dog, "_exit", end)
    dog.start()
    dog._thread.join(60)
    assert exits == [most_looks]


def test_leases_that_last_are_not_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    fleet, looks = Fleet(), list[float]()
    dog = renewing(monkeypatch, fleet, lease_s=3000.0)

    def look() -> float:
        looks.append(0.0)
        return 0.0

    monkeypatch.setattr(dog, "_starved_s", look)
    watch(dog, lambda: len(looks) > 20, 30, "twenty looks")
    assert fleet.calls == []


@pytest.mark.parametrize("log_is_held", [False, True])
def test_a_worker_that_ends_says_why_even_where_the_log_is_held(
    monkeypatch: pytest.MonkeyPatch, log_is_held: bool
) -> None:
    """The process exits by a code of its own, and its last line is not lost to a lock."""
    free, said, codes = threading.Event(), list[str](), list[int]()

    def critical(words: str) -> None:
        if log_is_held:
            free.wait(60)
        said.append(words)

    monkeypatch.setattr(watchdog.logger, "critical", critical)
    monkeypatch.setattr(watchdog, "_LAST_WORDS_S", 0.05 if log_is_held else 60.0)
    monkeypatch.setattr(os, "write", lambda fd, words: said.append(f"{fd} {words.decode()}"))
    monkeypatch.setattr(os, "_exit", codes.append)
    Watchdog.__new__(Watchdog)._exit(31.4)
    assert codes == [watchdog.EXIT_CODE]
    (line,) = said
    assert "its event loop stood still for 31 s" in line
    assert line.startswith("2 ") is log_is_held
    free.set()

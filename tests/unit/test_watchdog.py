"""I11: a worker whose loop is held ends; one that only waits for a processor does not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest

from scrapy_seine.engine import watchdog
from scrapy_seine.engine.watchdog import Watchdog
from tests.helpers import wait_until


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


def test_a_loop_that_is_held_ends_its_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    dog, exits, _ = watched(monkeypatch, lambda: 0.0)
    dog.start()
    wait_until(lambda: bool(exits), 10, "the worker ends")
    dog.stop()
    dog._thread.join(10)


def test_a_loop_that_waits_for_a_processor_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    dog, exits, looks = watched(monkeypatch, lambda: 100 * monotonic())
    dog.start()
    wait_until(lambda: len(looks) > 60, 30, "sixty looks")
    dog.stop()
    dog._thread.join(10)
    assert exits == []


def test_the_time_without_a_processor_is_known_here() -> None:
    dog, given = Watchdog.__new__(Watchdog), threading.get_native_id()
    dog._loops_thread = given
    assert dog._starved_s() >= 0.0
    dog._loops_thread = 2**31 - 1
    assert dog._starved_s() == 0.0

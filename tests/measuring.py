"""Tests that measure time: what a busy machine spoils is measured again, or counts for less.

A promise about time is broken by the crawler, or by a machine that has more to run than it can. A
failure on a machine that had room counts at once; one on a busy machine is measured again, with
fixtures made anew. What fails each time has failed.

A test whose bar only tells a linear reader from one that takes the square is not `alone`: its bar
is CPU time, and grows with what the machine takes for known work at that moment (`within_cpu`).
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

TRIES = 4
#: Seconds between two looks at the machine.
LOOK_S = 0.02
#: Runnable processes beyond the processors, on average, from which on a machine is busy. A crawl of
#: two workers, its site and its servers are some of them at times, and sleep most of the time.
BEYOND = 1.0
#: CPU seconds of `_known_work` on the machine that the bars were set on.
USUAL_S = 0.0045


class Machine:
    """Looks how many processes want a processor, for as long as a block runs."""

    def __init__(self) -> None:
        self._looks: list[int] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Machine:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(LOOK_S):
            self._looks.append(running())

    @property
    def busy(self) -> bool:
        """Whether more wanted to run than could, most of the time."""
        looks = self._looks or [0]
        return sum(looks) / len(looks) > (os.cpu_count() or 1) + BEYOND


def running() -> int:
    """Count processes that run or want to; 0 where the system does not tell."""
    try:
        lines = Path("/proc/stat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("procs_running")), 0)


def slowness() -> float:
    """Return how many times as long as on the usual machine known work takes now; 1 at least."""
    return max(1.0, _known_work() / USUAL_S)


def _known_work() -> float:
    """Return the CPU seconds of loops, texts and patterns, as readers need them."""
    began = time.thread_time()
    found: list[str] = []
    for n in range(60):
        text = " ".join(f"{n}:{word}" for word in range(200))
        found += re.findall(r"\d+:(\d+)", text)
    assert sum(map(int, found)) == 60 * 19_900
    return time.thread_time() - began


@contextmanager
def within_cpu(seconds: float) -> Iterator[None]:
    """Fail where a block takes more CPU of this thread than *seconds* of the usual machine."""
    before = slowness()
    began = time.thread_time()
    yield
    took = time.thread_time() - began
    limit = seconds * max(before, slowness())
    assert took < limit, f"{took:.3f} s of CPU, of {limit:.3f} s at this machine's pace"


def run_alone(item: pytest.Item, nextitem: pytest.Item | None, tries: int = TRIES) -> None:
    """Run a test that is marked `alone`, again where the machine was to blame for its failure."""
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for number in range(1, tries + 1):
        with Machine() as machine:
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if number == tries or not machine.busy or not any(report.failed for report in reports):
            break
        print(f"\n{item.nodeid}: the machine was busy; try {number} of {tries} failed", flush=True)
        item._initrequest()  # type: ignore[attr-defined]  # else fixtures of the last try are kept
    for report in reports:
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

"""Runs several commands in turns of 50 ms: whatever else the machine does falls on all alike.

CPU time of the same work differs by half on a machine that others use too, from one second to the
next, because caches and the two threads of a core are shared. Runs one after the other are hit
unequally; runs in short turns are not, so that the ratio of their CPU can be relied on.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import attrs
import psutil

from tests.benchmarks.measure import LIMIT_S, Command, end, start
from tests.benchmarks.processes import cpu_of, tree

#: Long enough that filling the caches again costs little, short beside the seconds of a run.
TURN_S = 0.05


@attrs.define
class Player:
    """One of the commands."""

    process: subprocess.Popen[bytes]
    log: Path
    before_s: float = 0.0
    """CPU that the start took."""
    cpu_s: float | None = None
    """CPU from the start's end to the end; None as long as it runs."""

    def tell(self, number: signal.Signals) -> None:
        """Send a signal to the process and its children."""
        for process in tree(self.process.pid):
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def halt(self) -> None:
        """Stand still from here on; what was used until now was the start."""
        self.tell(signal.SIGSTOP)
        self.before_s = cpu_of(tree(self.process.pid)).total

    def look(self) -> None:
        """See whether it ended.

        Raises:
            RuntimeError: it failed; with the end of its log.
        """
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if not pid:
            return
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if self.process.returncode:
            text = self.log.read_text(errors="replace")
            raise RuntimeError(f"{self.process.args} failed:\n{text[-3000:]}")
        self.cpu_s = usage.ru_utime + usage.ru_stime - self.before_s


def run_in_turns(
    commands: Sequence[Command], begun: Sequence[Callable[[], bool]], folder: Path
) -> list[float]:
    """CPU seconds of each command, from when its *begun* says so to its end.

    Raises:
        RuntimeError: one failed, or took over `LIMIT_S`.
    """
    players: list[Player] = []
    until = time.monotonic() + LIMIT_S
    try:
        for number, command in enumerate(commands):
            log = folder / f"turn-{number}"
            players.append(Player(start(command, log), log))
        _start_up(players, begun, until)
        _play(players, until)
    finally:
        end([player.process for player in players if player.process.returncode is None])
        for player in players:
            player.process.wait()
    return [player.cpu_s for player in players if player.cpu_s is not None]


def _start_up(players: Sequence[Player], begun: Sequence[Callable[[], bool]], until: float) -> None:
    """Let all start, and stop each where its start ends, so that they play from there together."""
    waiting = list(zip(players, begun, strict=True))
    while waiting:
        for player, has_begun in list(waiting):
            player.look()
            if has_begun() or player.cpu_s is not None:
                player.halt()
                waiting.remove((player, has_begun))
        _pause(0.005, until)


def _play(players: Sequence[Player], until: float) -> None:
    while left := [player for player in players if player.cpu_s is None]:
        for player in left:
            player.tell(signal.SIGCONT)
            _pause(TURN_S, until)
            if len(left) > 1:
                player.tell(signal.SIGSTOP)
            player.look()


def _pause(seconds: float, until: float) -> None:
    if time.monotonic() > until:
        raise RuntimeError(f"no end after {LIMIT_S} s")
    time.sleep(seconds)

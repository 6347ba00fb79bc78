"""Stands for `subprocess` in tests: programs are forked from a process that has imported Scrapy.

Most of what a short program takes is the start of Python and of Scrapy, and the suite starts
hundreds. What is forked is a process of its own all the same: it has its own command line, folder,
environment, files and signals, reads the settings anew, and ends by itself. Tests of the start
itself, and those of an egg or a wheel, start Python as a user does.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from pkgutil import iter_modules
from subprocess import DEVNULL, PIPE, STDOUT, TimeoutExpired
from typing import Any

__all__ = ["DEVNULL", "PIPE", "STDOUT", "Popen", "TimeoutExpired", "run"]

#: Imported before a program is known, the modules within too. None of them reads the environment.
COMMON = ("scrapy.commands", "crawler.commands", "scrapy_seine.commands")
#: The same of a crawl's parts, which settings name.
PARTS = (
    "scrapy.downloadermiddlewares",
    "scrapy.spidermiddlewares",
    "scrapy_seine.engine.download.http",
    "scrapy_seine.engine.telemetry",
    "scrapy_seine.middlewares",
)
#: What a crawl needs beside its command and its parts.
CRAWL = (
    "crawler.access.page_sizes_shared",
    "crawler.access.proxies.limits_per",
    "crawler.cleaning.product",
    "crawler.extract.links.sitemap_format",
    "crawler.extract.listing.announced",
    "crawler.extract.listing.probing",
    "crawler.extract.site_check",
    "crawler.storage",
    "itemadapter",
    "protego",
    "rotating_proxies.middlewares",
    "scrapy.cmdline",
    "scrapy.core.downloader.handlers.datauri",
    "scrapy.core.downloader.handlers.file",
    "scrapy.core.downloader.handlers.ftp",
    "scrapy.core.downloader.handlers.s3",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.core.engine",
    "scrapy.extensions.closespider",
    "scrapy.extensions.corestats",
    "scrapy.extensions.feedexport",
    "scrapy.extensions.logcount",
    "scrapy.extensions.logstats",
    "scrapy.extensions.memdebug",
    "scrapy.extensions.memusage",
    "scrapy.extensions.remote_control",
    "scrapy.extensions.spiderstate",
    "scrapy.extensions.telnet",
    "scrapy.extensions.throttle",
    "scrapy.squeues",
    "scrapy.statscollectors",
    "scrapy.utils.engine",
    "scrapy_seine.addon",
    "scrapy_seine.engine.ending.fleet_limits",
    "scrapy_seine.engine.fastpath.downloader",
    "scrapy_seine.engine.headers",
    "scrapy_seine.engine.item_pipelines",
    "scrapy_seine.engine.scheduler",
    "scrapy_seine.engine.spider_loader",
    "scrapy_seine.sinks.feeds.exporter",
    "scrapy_seine.sinks.feeds.parquet",
    "tldextract",
    "uvloop",
)
#: What a program must read for itself: the settings, and what is chosen by them.
_OWN = ("settings", "spiders", "middlewares", "pipelines", "twisted.internet.reactor")


class Popen(subprocess.Popen[Any]):
    """`subprocess.Popen` for `[sys.executable, "-m", module, …]`."""

    _socket: socket.socket

    def _execute_child(self, args: Any, executable: Any, *rest: Any) -> None:  # type: ignore[override]
        (_, _, _, cwd, env, _, _, _, stdin, at_in, at_out, stdout, at_err, stderr) = rest[:14]
        python, option, *words = map(str, args)
        assert (python, option) == (sys.executable, "-m"), args
        asked = {
            "words": words,
            "cwd": os.fspath(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
            "session": rest[-2],
        }
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(_address())
        files = [
            own if own != -1 else usual for own, usual in ((stdin, 0), (stdout, 1), (stderr, 2))
        ]
        socket.send_fds(self._socket, [b"."], files)
        self._socket.sendall(json.dumps(asked).encode() + b"\n")
        self.pid = int(self._read())
        self._child_created = True
        own: Any = self
        own._close_pipe_fds(stdin, at_in, at_out, stdout, at_err, stderr)

    def _read(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            line += self._socket.recv(64)
        return line

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and select.select([self._socket], [], [], 0)[0]:
            self._ended()
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None:
            if not select.select([self._socket], [], [], timeout)[0]:
                raise TimeoutExpired(self.args, timeout or 0)
            self._ended()
        assert self.returncode is not None
        return self.returncode

    def _ended(self) -> None:
        self.returncode = int(self._read())
        self._socket.close()


def run(
    command: list[str],
    *,
    input: Any = None,  # noqa: A002  # as there
    timeout: float | None = None,
    check: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Do as `subprocess.run`."""
    if options.pop("capture_output", False):
        options |= {"stdout": PIPE, "stderr": PIPE}
    if input is not None:
        options["stdin"] = PIPE
    with Popen(command, **options) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(command, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


_ends: list[Callable[[], None]] = []


@cache
def _address() -> str:
    """Where the process listens that this one's programs are forked from."""
    folder = tempfile.TemporaryDirectory(prefix="seine-started-")
    path = f"{folder.name}/socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(64)
        source = subprocess.Popen(
            [sys.executable, "-m", "tests.started", str(listening.fileno())],
            pass_fds=[listening.fileno()],
            stdin=PIPE,
            cwd=Path(__file__).parents[1],
        )
    _ends.append(source.communicate)  # its standard input ends, and so does it
    _ends.append(folder.cleanup)
    return path


def end() -> None:
    """End the process that programs are forked from, if there is one."""
    while _ends:
        _ends.pop(0)()
    _address.cache_clear()


def _serve(listening: socket.socket) -> None:
    """Fork for each connection, until standard input ends; returns in the program's process."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait
    while True:
        ready, _, _ = select.select([listening, 0], [], [])
        if 0 in ready:
            sys.exit()  # in order, so that what it has imported is written down (coverage)
        asked, _ = listening.accept()
        if os.fork():
            asked.close()
            continue
        listening.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _, files, _, _ = socket.recv_fds(asked, 1, 3)
        with asked.makefile("rb") as lines:
            wish = json.loads(lines.readline())
        if not (pid := os.fork()):
            asked.close()
            return _become(wish, files)
        _await(pid, asked)


def _await(pid: int, asked: socket.socket) -> None:
    """Tell a program's id, and how it ended."""
    # A Ctrl-C is for the program.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in range(3):
        os.close(number)
    try:
        asked.sendall(b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        asked.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    finally:
        os._exit(0)


def _become(wish: dict[str, Any], files: list[int]) -> None:
    """Take on a program's folder, environment, files and command line."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    if wish["session"]:
        os.setsid()
    os.chdir(wish["cwd"])
    os.environ.clear()
    os.environ.update(wish["env"])
    time.tzset()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where the tests run under nohup
    further = [path for path in wish["env"].get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[0:1] = [wish["cwd"], *further]
    sys.argv = wish["words"]


def main() -> None:
    """Import what is common, and fork."""
    listening = socket.socket(fileno=int(sys.argv[1]))
    rooms = [importlib.import_module(name) for name in (*COMMON, *PARTS)]
    inside = [
        f"{room.__name__}.{found.name}" for room in rooms for found in iter_modules(room.__path__)
    ]
    for name in (*CRAWL, *inside):
        importlib.import_module(name)
    early = [name for name in sys.modules if name.split(".")[0] in _OWN or name in _OWN]
    assert not early, early
    # Else the first collection of a program writes to all memory that it shares with the others.
    gc.freeze()
    _serve(listening)
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()

"""Redis servers that can be frozen, filled up, rolled back and given another clock."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import attrs
from redis import Redis
from redis.exceptions import RedisError

from scrapy_seine.embedded.binaries import redis_servers
from tests.helpers import wait_until


@attrs.define(eq=False)
class PrivateRedis:
    """One server on a Unix socket."""

    folder: Path
    """Its data; a small file system may be mounted there."""
    environment: Mapping[str, str] = attrs.Factory(dict)
    socket: str = attrs.field(init=False)
    process: subprocess.Popen[bytes] | None = None

    def __attrs_post_init__(self) -> None:
        self.socket = str(self.folder.parent / f"{self.folder.name}.sock")

    @property
    def url(self) -> str:
        """Its address."""
        return f"unix://{self.socket}?db=0"

    def client(self) -> Redis:
        """Connect."""
        return Redis.from_url(self.url, socket_timeout=10)

    def start(self, *options: str) -> None:
        """Start, and return when it answers with its data loaded."""
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [str(redis_servers("auto")[0].server), "--port", "0", "--unixsocket", self.socket]
        command += ["--dir", str(self.folder), "--save", "", "--appendonly", "yes", *options]
        with (self.folder.parent / "redis.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, env={**os.environ, **self.environment}, stdout=log, stderr=log
            )
        wait_until(self._answers, 60, "the embedded Redis answers")

    def _answers(self) -> bool:
        try:
            with self.client() as client:
                return bool(client.ping())
        except (RedisError, OSError):
            return False

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End it; with SIGKILL as a machine that fails."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(60)

    def freeze(self) -> None:
        """Let it answer nobody."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def copy_to(self, place: Path) -> None:
        """Keep the state of this moment."""
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.folder, place)

    def fall_back_to(self, place: Path) -> None:
        """Be killed, and come back with an older state."""
        self.stop(signal.SIGKILL)
        shutil.rmtree(self.folder)
        shutil.copytree(place, self.folder)
        self.start()


@contextmanager
def private_redis(environment: Mapping[str, str] | None = None) -> Iterator[PrivateRedis]:
    """Run one as long as the block."""
    parent = Path(tempfile.mkdtemp(prefix="seine-edges-"))
    server = PrivateRedis(parent / "data", environment or {})
    server.start()
    try:
        yield server
    finally:
        server.thaw()
        server.stop(signal.SIGKILL)
        shutil.rmtree(parent, ignore_errors=True)


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[bool]:
    """Mount a small file system; gives False where this user may not."""
    folder.mkdir(parents=True, exist_ok=True)
    mounted = not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)],
        check=False,
        capture_output=True,
    ).returncode
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=False)


#: Moves the wall clock of a process by the seconds that a file says; read at each look.
_SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
static long offset(void) {
    static volatile long *place;
    if (!place) {
        int file = open(getenv("EDGES_OFFSET"), O_RDONLY);
        if (file < 0) return 0;
        place = mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
        if (place == MAP_FAILED) { place = 0; return 0; }
    }
    return *place;
}
int clock_gettime(clockid_t clock, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, at);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) at->tv_sec += offset();
    return result;
}
int gettimeofday(struct timeval *at, void *zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec; at->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
"""


@attrs.define(eq=False)
class MovedClock:
    """The wall clock of those processes that are started with `environment`."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What such a process needs."""
        return {"LD_PRELOAD": str(self.folder / "shim.so"), "EDGES_OFFSET": str(self._file)}

    @property
    def _file(self) -> Path:
        return self.folder / "offset"

    def make(self) -> bool:
        """Build it; returns False where there is no C compiler."""
        self.folder.mkdir(parents=True, exist_ok=True)
        source = self.folder / "shim.c"
        source.write_text(_SHIM)
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            return False
        out = str(self.folder / "shim.so")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", out, str(source), "-ldl"], check=True)
        self._file.write_bytes((0).to_bytes(8, "little", signed=True))
        return True

    def move(self, seconds: int) -> None:
        """Set the clock forward or back, at once and for running processes, too."""
        with self._file.open("r+b") as file:
            file.write(seconds.to_bytes(8, "little", signed=True))

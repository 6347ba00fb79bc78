"""What many tests need: waiting, and servers of their own."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

import psycopg2

from crawler.demo.shop_process import ServedShop
from crawler.stores import embedded
from scrapy_seine.embedded.data_folder import layout
from scrapy_seine.errors import EmbeddedError
from tests import started

PREFIX = "seine-tests-"
#: A file system in memory, and what must be free in it for the servers of some processes, bytes.
MEMORY, ENOUGH = Path("/dev/shm"), 4 * 2**30
#: A machine with so many times more to do than it can must not fail a test that only waits.
BUSY = 4


def patient(seconds: float) -> float:
    """Stretch a limit that only ends a wait: a busy machine needs some times what an idle one does.

    Who waits for what comes anyway loses nothing by a longer limit; only a failure comes later.
    What measures time has no use for it (`tests.measuring`).
    """
    return seconds * BUSY


def on_full_disk(words: Sequence[str], folder: Path, env: Mapping[str, str]) -> tuple[int, str]:
    """Run `scrapy` with its output on a full disk; returns the status and what it says."""
    with Path("/dev/full").open("w") as full:
        done = started.run(
            [sys.executable, "-m", "scrapy", *words],
            cwd=folder,
            env={**os.environ, **env},
            stdout=full,
            stderr=started.PIPE,
            text=True,
            timeout=patient(60),
            check=False,
        )
    return done.returncode, str(done.stderr)


def wait_until(predicate: Callable[[], object], timeout_s: float, description: str) -> None:
    """Return as soon as *predicate* is true; fail with *description* after `patient(timeout_s)`."""
    timeout_s = patient(timeout_s)
    until = time.monotonic() + timeout_s
    pause = 0.002
    while not predicate():
        if time.monotonic() > until:
            raise AssertionError(f"not within {timeout_s:g} s: {description}")
        time.sleep(pause)
        pause = min(0.05, pause * 1.5)


async def wait_until_async(
    predicate: Callable[[], Awaitable[object]], timeout_s: float, description: str
) -> None:
    """Do as `wait_until`, with a predicate that is awaited."""
    timeout_s = patient(timeout_s)
    until = time.monotonic() + timeout_s
    while not await predicate():
        if time.monotonic() > until:
            raise AssertionError(f"not within {timeout_s:g} s: {description}")
        await asyncio.sleep(0.01)


@contextmanager
def server_folder(*, in_memory: bool = False) -> Iterator[Path]:
    """Give a folder for embedded servers; what runs there is stopped, what is there removed.

    *in_memory* is for servers whose files nobody needs: a database is copied there in .03 s of CPU,
    and in up to .3 s on a busy disk. Where memory has too little room, the folder is on the disk.
    """
    roomy = in_memory and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ENOUGH
    place = MEMORY if roomy else None
    parent = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=place))
    # PostgreSQL's unprivileged user must pass through where the suite runs as root.
    parent.chmod(0o711)
    try:
        yield parent / "servers"
    finally:
        remove_servers(parent)


def remove_servers(parent: Path) -> None:
    """Stop the servers of `parent/servers` and remove all they left."""
    data = parent / "servers"
    if data.is_dir():
        found = layout(data)
        embedded.stop(data)
        shutil.rmtree(found.postgres_home, ignore_errors=True)
        if found.redis_sockets != data:
            shutil.rmtree(found.redis_sockets, ignore_errors=True)
    shutil.rmtree(parent, ignore_errors=True)


def sweep_servers() -> None:
    """Remove what earlier sessions left that were killed."""
    places = (Path(tempfile.gettempdir()), MEMORY)
    for parent in chain.from_iterable(place.glob(f"{PREFIX}*") for place in places):
        pid = parent.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and not _alive(int(pid)) and parent.stat().st_uid == os.geteuid():
            try:
                remove_servers(parent)
            except EmbeddedError as error:
                print(f"left over from an earlier session: {error}")


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def execute(database_url: str, statement: str) -> None:
    """Run one statement outside a transaction."""
    with closing(psycopg2.connect(database_url)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement)


def create_database(server_url: str, *, template: str = "template0") -> str:
    """Make a fresh database on the server of *server_url*; returns its URL."""
    name = f"t_{uuid.uuid4().hex[:12]}"
    execute(server_url, f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return urlsplit(server_url)._replace(path=f"/{name}").geturl()


def drop_database(server_url: str, url: str) -> None:
    """Remove a database, and cut off who still uses it."""
    execute(server_url, f'DROP DATABASE IF EXISTS "{urlsplit(url).path[1:]}" WITH (FORCE)')


@contextmanager
def held(shop: ServedShop) -> Iterator[None]:
    """Let a shop's visitors wait during the block, so that no crawl ends within it."""
    shop.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        shop.process.send_signal(signal.SIGCONT)


class Answering(BaseHTTPRequestHandler):
    """A site's or a proxy's answers, each in one call, without a line in the log."""

    def answer(self, status: int, body: bytes, location: str = "", charset: str = "") -> None:
        """Answer with an HTML page; with *location* it leads there."""
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Type", f"text/html{charset and f'; charset={charset}'}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve from a thread on a free port of 127.0.0.1; gives the base URL, no slash at its end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serving_noted(
    handler: type[BaseHTTPRequestHandler],
) -> Iterator[tuple[str, list[tuple[float, str]]]]:
    """As `serving`; also gives a list that gets the monotonic time and the path of each GET."""
    asked: list[tuple[float, str]] = []

    class Noted(handler):  # type: ignore[misc, valid-type]
        def do_GET(self) -> None:
            asked.append((time.monotonic(), self.path))
            super().do_GET()

    with serving(Noted) as url:
        yield url, asked


def scrapy_said(*command: str, folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Run a command of Scrapy; returns its status and what it wrote."""
    done = started.run(
        [sys.executable, "-m", "scrapy", *command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=patient(90),
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def run_scrapy(*command: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Run a command of Scrapy that must succeed; returns what it wrote."""
    status, wrote = scrapy_said(*command, folder=folder, environment=environment)
    assert status == 0, wrote[-3000:]
    return wrote

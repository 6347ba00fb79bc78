"""A Redis of the benchmark's own, and what it spent."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from scrapy_seine.embedded.binaries import redis_servers
from tests.helpers import wait_until


@contextmanager
def redis_server(*options: str) -> Iterator[str]:
    """Start a server without persistence on a free port of this machine; gives its URL."""
    program = shutil.which("redis-server") or str(redis_servers("auto")[0].server)
    with tempfile.TemporaryDirectory(prefix="seine-bench-") as folder:
        port = free_port()
        command = [program, "--port", str(port), "--bind", "127.0.0.1", "--dir", folder]
        server = subprocess.Popen(
            [*command, "--save", "", *options], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        try:
            url = f"redis://127.0.0.1:{port}"
            wait_until(lambda: _answers(url), 20, f"{program} answers")
            yield url
        finally:
            server.kill()
            server.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(url: str) -> bool:
    with Redis.from_url(url) as client:
        try:
            return bool(client.ping())
        except RedisError:
            return False


def info(url: str) -> dict[str, Any]:
    """The server's own figures."""
    with Redis.from_url(url) as client:
        return dict(client.info())


def cpu_s(url: str) -> float:
    """CPU seconds that the server has used."""
    figures = info(url)
    return float(figures["used_cpu_user"]) + float(figures["used_cpu_sys"])


def memory(url: str) -> int:
    """Bytes that the server's data take."""
    return int(info(url)["used_memory"])

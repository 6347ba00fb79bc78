"""The probes of the manifests, asked of processes that run with the manifests' arguments.

The liveness probe answers as long as the event loop turns, whatever Redis does: a restart would
lose what a worker holds. Who drains takes no work, and is not restarted for that.
"""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import pytest

from crawler.stores import embedded
from crawler.stores.embedded import Servers, valkey
from crawler.stores.migrations import migrate
from crawler.stores.store_endpoints import blocking_client
from scrapy_seine.embedded.data_folder import layout
from tests.helpers import patient, server_folder, serving, wait_until
from tests.unit.deploy.manifests import built, environment, pods

OVERLAY = "production"
#: Not of this machine: a kubelet asks a pod by the pod's address.
POD_ADDRESS = "10.9.8.7"
STARTUP, LIVENESS, READINESS = "startupProbe", "livenessProbe", "readinessProbe"
PRODUCTS = 60
DOCKERFILE = Path(__file__).parents[2] / "Dockerfile"


@pytest.fixture
def servers() -> Iterator[Servers]:
    with server_folder() as folder:
        found = embedded.start(folder)
        migrate(found.database_url)
        yield found


class Pod:
    """A container of a rendered workload, run here on a port of its own."""

    def __init__(self, workload: str, servers: Servers, folder: Path, **changed: str) -> None:
        objects = built(OVERLAY)
        (self.container,) = pods(objects)[workload]["spec"]["containers"]
        self.port = free_port()
        self.log = folder / f"{workload}.log"
        secrets = {
            "redis_url": servers.redis_url,
            "database_url": servers.database_url,
            "dashboard_token": "t" * 32,
        }
        for name, value in secrets.items():
            (folder / name).write_text(value)
        (port,) = {str(one["containerPort"]) for one in self.container["ports"]}
        image = dict(re.findall(r"\b(SEINE_METRICS_\w+)=(\S+)", DOCKERFILE.read_text()))
        given = {**image, **environment(objects, workload)}
        here = {
            name: value.replace("/run/secrets/seine", str(folder)).replace("0.0.0.0", "127.0.0.1")
            for name, value in given.items()
        }
        self.env = {
            name: str(self.port) if value == port else value for name, value in here.items()
        }
        arguments = [str(self.port) if word == port else word for word in self.container["args"]]
        self.arguments = [word.replace("0.0.0.0", "127.0.0.1") for word in arguments]
        assert str(self.port) in [*self.arguments, *self.env.values()], "no port is the probes'"
        self.env |= changed

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """Run it as the image would, outside of a project that SCRAPY_PROJECT names."""
        program, *arguments = self.arguments
        call = [sys.executable, "-m", program, *arguments]
        env = {k: v for k, v in os.environ.items() if not k.startswith(("SCRAPY_", "SEINE_"))}
        with (
            self.log.open("wb") as log,
            subprocess.Popen(call, env=env | self.env, stdout=log, stderr=log) as process,
        ):
            try:
                yield process
            finally:
                process.kill()

    def ask(self, probe: str) -> int:
        """Return the status that a kubelet would see, 0 where nothing answers in its time."""
        found: dict[str, Any] = self.container[probe]
        named = {one["name"]: one["containerPort"] for one in self.container["ports"]}
        assert found["httpGet"]["port"] in named
        within_s = patient(found["timeoutSeconds"])
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=within_s)
        try:
            host = {"Host": f"{POD_ADDRESS}:{self.port}"}
            connection.request("GET", found["httpGet"]["path"], headers=host)
            return connection.getresponse().status
        except OSError:
            return 0
        finally:
            connection.close()

    def told(self) -> str:
        return self.log.read_text()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


class Gated(BaseHTTPRequestHandler):
    """A shop whose product pages wait until the gate is open."""

    gate: ClassVar[threading.Event]
    asked: ClassVar[set[str]]

    def do_GET(self) -> None:
        product = self.path.startswith("/p/")
        if product:
            self.asked.add(self.path)
            self.gate.wait(patient(60))
        links = "".join(f'<a href="/p/{n}">product {n}</a>' for n in range(PRODUCTS))
        body = f"<html><body><h1>A page</h1>{'' if product else links}</body></html>".encode()
        self.send_response(200 if product or self.path == "/" else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def shop() -> Iterator[tuple[str, type[Gated]]]:
    class Shop(Gated):
        gate = threading.Event()
        asked: ClassVar[set[str]] = set()

    with serving(Shop) as url:
        yield url, Shop
        Shop.gate.set()


@pytest.mark.timeout(400)
def test_a_workers_probes_answer_while_it_crawls_without_redis_and_after_sigterm(
    servers: Servers, shop: tuple[str, type[Gated]], tmp_path: Path
) -> None:
    url, kind = shop
    # The gate is open when the test says so, and no sooner.
    pod = Pod("worker", servers, tmp_path, SEINE_DRAIN_SECONDS=str(patient(20)))
    place = layout(servers.data)
    with pod.running() as worker:
        wait_until(lambda: pod.ask(STARTUP) == 200, 30, "the worker has started")
        wait_until(lambda: pod.ask(READINESS) == 200, 30, "the worker takes work")
        with blocking_client(servers.redis_url) as redis:
            redis.lpush(f"{pod.env['SEINE_CRAWL']}:start_urls", f"{url}/")
        wait_until(lambda: len(kind.asked) > 1, 30, "it holds pages")
        assert [pod.ask(probe) for probe in (STARTUP, LIVENESS, READINESS)] == [200] * 3

        valkey.stop(place)
        wait_until(lambda: "Redis" in pod.told().rpartition("joins crawl")[2], 30, "it is missed")
        assert [pod.ask(probe) for probe in (STARTUP, LIVENESS, READINESS)] == [200] * 3
        valkey.start(place, "auto")

        worker.send_signal(signal.SIGTERM)
        wait_until(lambda: pod.ask(READINESS) == 503, 15, "a worker that drains takes no work")
        assert pod.ask(LIVENESS) == 200
        assert worker.poll() is None
        kind.gate.set()
        assert worker.wait(patient(60)) == 0
    assert "Traceback" not in pod.told()


@pytest.mark.timeout(200)
def test_what_shows_the_fleet_is_not_restarted_because_redis_is_away(
    servers: Servers, tmp_path: Path
) -> None:
    """The exporter alone says that it has nothing to export; the dashboard says so to people."""
    shown, exported = Pod("dashboard", servers, tmp_path), Pod("exporter", servers, tmp_path)
    with shown.running() as dashboard, exported.running() as exporter:
        for pod in (shown, exported):
            wait_until(lambda pod=pod: pod.ask(STARTUP) == 200, 30, "it has started")
            wait_until(lambda pod=pod: pod.ask(READINESS) == 200, 30, "it is ready")
        valkey.stop(layout(servers.data))
        wait_until(lambda: exported.ask(READINESS) == 503, 30, "the exporter misses Redis")
        assert shown.ask(READINESS) == 200
        assert [pod.ask(LIVENESS) for pod in (shown, exported)] == [200, 200]
        for process in (dashboard, exporter):
            process.send_signal(signal.SIGTERM)
        assert [process.wait(patient(30)) for process in (dashboard, exporter)] == [0, 0]

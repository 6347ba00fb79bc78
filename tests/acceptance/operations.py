"""Programs that watch a crawl: the fleet's exporter, the dashboard, a Prometheus."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

from crawler.demo.worker_processes import Worker
from tests import started
from tests.acceptance.conftest import Crawl, said
from tests.helpers import patient, wait_until

_METRICS = re.compile(r"metrics at (http://\S+)")


def environment(crawl: Crawl, redis_url: str) -> dict[str, str]:
    """What a command needs to look at the crawl."""
    stores = {"REDIS_URL": redis_url, "DATABASE_URL": crawl.database_url}
    return {**os.environ, **stores, "SCRAPY_PROJECT": "test", "SEINE_FLEET": crawl.name}


def told(crawl: Crawl, redis_url: str, *command: str) -> Any:
    """Run a command with --json; returns what it prints."""
    call = [sys.executable, "-m", "scrapy", *command, "--crawl", crawl.name, "--json"]
    env = environment(crawl, redis_url)
    done = started.run(
        call, env=env, check=True, capture_output=True, text=True, timeout=patient(60)
    )
    return json.loads(done.stdout)


@contextlib.contextmanager
def watching(crawl: Crawl, redis_url: str, command: str) -> Iterator[str]:
    """Run `scrapy dashboard` or `scrapy exporter`; gives its address, ending in a slash."""
    call = [sys.executable, "-m", "scrapy", command, "--port", "0", "--crawl", crawl.name, "--json"]
    env = environment(crawl, redis_url)
    with started.Popen(call, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.terminate()
            process.wait(patient(20))
    assert process.returncode == 0


def get(url: str) -> str:
    """Ask and read."""
    with urlopen(url, timeout=patient(20)) as response:
        text: str = response.read().decode()
        return text


def metrics_url(worker: Worker) -> str:
    """Address of a worker's metrics, as its log tells."""
    wait_until(lambda: _METRICS.search(said(worker)), 30, "a worker that tells its port")
    found = _METRICS.search(said(worker))
    assert found
    return found.group(1)


def samples(text: str) -> dict[str, float]:
    """Values by name and labels, as they are written."""
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def prometheus(folder: Path, rules: Path, targets: dict[str, list[str]]) -> Iterator[str]:
    """Run a Prometheus that scrapes each second; gives its address."""
    jobs = [
        {"job_name": job, "static_configs": [{"targets": hosts}]} for job, hosts in targets.items()
    ]
    times = {"scrape_interval": "1s", "evaluation_interval": "2s"}
    config = {"global": times, "rule_files": [str(rules)], "scrape_configs": jobs}
    folder.mkdir()
    (folder / "prometheus.yaml").write_text(json.dumps(config), encoding="utf-8")
    url = f"http://127.0.0.1:{_free_port()}"
    call = [
        "prometheus",
        f"--config.file={folder / 'prometheus.yaml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={url.removeprefix('http://')}",
    ]
    log = (folder / "log").open("wb")
    with log, subprocess.Popen(call, stdout=log, stderr=subprocess.STDOUT) as process:
        try:
            wait_until(lambda: _ready(url), 30, "Prometheus is ready")
            yield url
        finally:
            process.terminate()
            process.wait(patient(20))


def _ready(url: str) -> bool:
    try:
        return "Ready" in get(f"{url}/-/ready")
    except OSError:
        return False


def query(prometheus_url: str, expr: str) -> list[Any]:
    """Ask Prometheus; returns the series that have a value."""
    answer = json.loads(get(f"{prometheus_url}/api/v1/query?query={quote(expr)}"))
    assert answer["status"] == "success"
    found: list[Any] = answer["data"]["result"]
    return [series for series in found if series["value"][1] != "NaN"]

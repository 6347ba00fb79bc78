"""`scrapy demo` from the outside: its verdict, its exit status, and nothing left behind."""

import json
import os
import re
import signal
import subprocess
import sys

import psutil
import pytest

from tests.helpers import patient, wait_until
from tests.started import Popen

pytestmark = pytest.mark.acceptance


@pytest.fixture
def demo(redis_url, database, tmp_path):
    """Start a demo with the given options; it is ended with the test."""
    stores = {"REDIS_URL": redis_url, "DATABASE_URL": database, "SCRAPY_PROJECT": "test"}
    started = []

    def start(*options, **environment):
        process = Popen(
            [sys.executable, "-m", "scrapy", "demo", *options],
            env={**os.environ, **stores, "SEINE_DATA_DIR": str(tmp_path), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if "--json" not in options else subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_the_demo_judges_what_was_stored_although_a_worker_was_killed(demo, tmp_path):
    process = demo("--json", PRODUCTS="120", KILL="1", http_proxy="http://127.0.0.1:1")
    out, errors = process.communicate(timeout=patient(90))

    verdict = json.loads(out)
    assert process.returncode == 0, errors
    assert (verdict["expected"], verdict["stored"]) == (120, 120)
    assert verdict["missing"] == verdict["wrong"] == []
    assert "worker 1: killed with SIGKILL" in errors
    assert sorted(p.name for p in (tmp_path / verdict["crawl"]).iterdir()) == [
        "worker-1.log",
        "worker-2.log",
        "worker-3.log",
    ]


def test_an_interrupted_demo_takes_its_shop_and_workers_with_it(demo):
    process = demo("--products", "2000")
    seen = ""
    while "worker 2" not in seen:
        seen += process.stdout.readline()
    children = psutil.Process(process.pid).children()
    assert len(children) == 3

    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=patient(60))

    assert process.returncode == 130
    assert re.search(r"^seine: stopped$", out, re.MULTILINE)
    wait_until(lambda: not any(child.is_running() for child in children), 5, "all are gone")

"""A machine without network, files or name server gives no page up: no site could have answered."""

from __future__ import annotations

import errno
import os
import re
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from crawler.demo.worker_processes import Worker
from tests.acceptance.conftest import Crawl, said
from tests.helpers import serving, wait_until

pytestmark = pytest.mark.acceptance
PAGES = 60
_LINKS = "".join(f'<a href="/{number}">Lamp {number}</a> ' for number in range(PAGES))


@contextmanager
def closing_site() -> Iterator[tuple[str, list[str], threading.Event]]:
    """Serve a site that closes each connection, so that each page needs a new one.

    After a quarter of the pages it answers none until the event is set.
    """
    asked: list[str] = []
    may_answer = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            if len(asked) > PAGES / 4:
                may_answer.wait()
            self.send_response(404 if self.path == "/robots.txt" else 200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f"<title>Lamps</title>{_LINKS}".encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with serving(Handler) as base:
        try:
            yield base, asked, may_answer
        finally:
            may_answer.set()


@contextmanager
def no_more_files(worker: Worker) -> Iterator[None]:
    """Have a worker open no further file, as one at its limit."""
    before = resource.prlimit(worker.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(worker.process.pid, resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        yield
    finally:
        resource.prlimit(worker.process.pid, resource.RLIMIT_NOFILE, before)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="Linux alone changes another's limit")
def test_a_worker_without_files_waits_and_gives_no_page_up(crawl: Crawl) -> None:
    """I10: 140 of 200 pages were buried within 100 s, by a worker that exited with 0."""
    crawl.workers.settings = {
        **crawl.workers.settings,
        "RETRY_TIMES": 0,  # a try that is counted is the last one
        "SEINE_DOMAIN_DELAY_MS": 50,
    }
    with closing_site() as (url, asked, may_answer):
        crawl.seed(f"{url}/")
        worker = crawl.start()
        wait_until(lambda: len(asked) > PAGES / 4, 60, "a quarter of the pages")
        with no_more_files(worker):
            may_answer.set()
            text = f"this machine cannot connect: .*{os.strerror(errno.EMFILE)}"
            wait_until(lambda: _holds(worker.log, text), 60, "it says why it waits")
        crawl.wait_for_end(120)
    assert worker.process.returncode == 0, said(worker)
    assert {f"/{number}" for number in range(PAGES)} <= set(asked)
    assert crawl.total("buried") == 0


def _holds(log: Path, pattern: str) -> bool:
    return re.search(pattern, log.read_text("utf-8", "replace")) is not None

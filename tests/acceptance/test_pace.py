"""Many sites at once: each one's pause is kept, and used (the benchmark's first crawl, smaller)."""

from __future__ import annotations

import contextlib
import json
import shutil
import ssl
import time
from http.server import BaseHTTPRequestHandler
from itertools import count, pairwise
from pathlib import Path

import psutil
import pytest

from tests.acceptance.conftest import Crawl
from tests.benchmarks.politeness import crawl as crawl_sites
from tests.helpers import patient, serving, serving_noted, wait_until
from tests.integration.access.conftest import certificate as certificate  # noqa: PLC0414


@pytest.mark.alone
@pytest.mark.acceptance
@pytest.mark.timeout(180)
async def test_the_pace_of_two_hundred_sites_is_kept_and_used(redis_url, capsys):
    pace = await crawl_sites(redis_url, 200, delay_ms=4000, pages=4, workers=2)
    with capsys.disabled():
        print(f"\n{pace}")
    assert (pace.domains, pace.pages) == (200, 800)
    assert pace.short == 0
    # Where workers wait for a CPU half of the time, it is the machine that sets the pace.
    assert pace.share >= 0.95 or pace.wanted > 0.5


class _Site(BaseHTTPRequestHandler):
    """Pages; `/busy` keeps its reader for some seconds, `/again` loads itself again and again."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        rest = {
            "/busy": "setInterval(() => fetch('/data'), 200)",
            "/again": "setTimeout(() => location.reload(), 20)",
        }.get(self.path, "")
        body = f"<html><title>x</title><p>page<script>{rest}</script></html>".encode()
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def seed_lane(crawl: Crawl, lane: str, urls: list[str]) -> None:
    """Push pages of a lane, in this order."""
    seeds = [{"url": url, "meta": {"site_id": crawl.name, "lane": lane}} for url in urls]
    crawl.redis.rpush(crawl.seeds.seeds, *map(json.dumps, seeds))


def asked_in_browser(
    crawl: Crawl, pages: type[BaseHTTPRequestHandler], paths: list[str], delay_s: float
) -> list[tuple[float, str]]:
    """Crawl these paths of one site in the browser; return when it was asked for what, s."""
    crawl.workers.settings = {
        **crawl.workers.settings,
        "ROBOTSTXT_OBEY": 0,
        "SEINE_BROWSER": 1,
        "SEINE_DOMAIN_DELAY_MS": int(1000 * delay_s),
    }
    with serving_noted(pages) as (site, asked):
        seed_lane(crawl, "browser", [site + path for path in paths])
        crawl.start()
        crawl.wait_for_end(90)
    return asked


@pytest.mark.alone
@pytest.mark.acceptance
@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
def test_pages_that_waited_for_the_browser_do_not_leave_together(crawl: Crawl) -> None:
    """Their slots passed while another site's page had the browser, and they were sent at once."""
    delay_s = 2.0
    crawl.workers.settings = {
        **crawl.workers.settings,
        "SEINE_BROWSER": 1,
        "SEINE_BROWSER_PAGES": 1,
        "SEINE_KEEP_ALIVE": 1,
        "SEINE_DOMAIN_DELAY_MS": int(1000 * delay_s),
    }
    with serving_noted(_Site) as (busy, _), serving_noted(_Site) as (site, asked):
        crawl.start_idle()
        urls = [f"{busy}/busy", *(f"{site}/{n}" for n in range(4))]
        seed_lane(crawl, "browser", urls)
        pages = {f"/{n}" for n in range(4)}
        wait_until(lambda: pages <= {path for _, path in asked}, 60, "all pages are asked for")
    times = [at for at, path in asked if path in pages]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert min(gaps) > 0.9 * delay_s, gaps


@pytest.mark.alone
@pytest.mark.acceptance
@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
def test_pages_of_a_browser_that_is_slow_to_send_keep_their_pause(crawl: Crawl) -> None:
    """The slot was checked before the browser sent: 17 of 148 gaps were short on a busy machine."""
    delay_s = 0.8
    crawl.workers.settings = {
        **crawl.workers.settings,
        "ROBOTSTXT_OBEY": 0,
        "SEINE_BROWSER": 1,
        "SEINE_KEEP_ALIVE": 1,
        "SEINE_DOMAIN_DELAY_MS": int(1000 * delay_s),
    }
    pages = {f"/{n}" for n in range(20)}
    with serving_noted(_Site) as (site, asked):
        worker = crawl.start_idle()
        crawl.start_idle()
        seed_lane(crawl, "browser", [site + path for path in sorted(pages)])
        until = time.monotonic() + patient(60)
        while not pages <= {path for _, path in asked} and time.monotonic() < until:
            _pause_network(worker.pid, 0.6)
            time.sleep(0.5)
    times = [at for at, path in asked if path in pages]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(gaps) == len(pages) - 1
    assert min(gaps) > 0.9 * delay_s, gaps


@pytest.mark.alone
@pytest.mark.acceptance
@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
def test_a_page_that_loads_itself_again_keeps_its_sites_pause(crawl: Crawl) -> None:
    """A page whose script loads it again asked its site ten times a second for a minute."""
    delay_s = 1.0
    asked = asked_in_browser(crawl, _Site, ["/again", "/0"], delay_s)
    times = [at for at, path in asked if path in {"/again", "/0"}]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(gaps) >= 3
    assert min(gaps) > 0.9 * delay_s, gaps
    assert crawl.total("done") == 2, crawl.redis.hgetall(crawl.keys.counters)


def _pause_network(pid: int, pause_s: float) -> None:
    """Stop what sends for the browser of a worker, as a machine does that is busy."""
    processes = []
    for child in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # ended meanwhile
            if any("NetworkService" in word for word in child.cmdline()):
                processes.append(child)
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.suspend()
    time.sleep(pause_s)
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.resume()


@pytest.mark.alone
@pytest.mark.acceptance
@pytest.mark.parametrize("private", ["seeds", "allow"])
def test_a_pause_begins_when_a_slow_connection_of_the_tls_lane_is_there(
    crawl: Crawl, certificate: tuple[Path, Path], private: str
) -> None:
    """It began with the slot, so that the next request came before its time."""
    delay_s, slow_s = 1.5, 1.0
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    asked: list[tuple[float, str]] = []
    connections = count()

    class Secure(_Site):
        def setup(self) -> None:
            if next(connections) % 2 == 0:
                time.sleep(slow_s)
            self.request = context.wrap_socket(self.request, server_side=True)
            super().setup()

        def finish(self) -> None:
            super().finish()
            self.request.close()

        def do_GET(self) -> None:
            asked.append((time.monotonic(), self.path))
            self.close_connection = True
            super().do_GET()

    crawl.workers.settings = {
        **crawl.workers.settings,
        "ROBOTSTXT_OBEY": 0,
        "SEINE_KEEP_ALIVE": 1,
        "SEINE_PRIVATE_ADDRESSES": private,
        "SEINE_DOMAIN_DELAY_MS": int(1000 * delay_s),
    }
    with serving(Secure) as base:
        crawl.start_idle()
        urls = [f"{base.replace('http', 'https')}/{n}" for n in range(4)]
        seed_lane(crawl, "tls", urls)
        wait_until(lambda: len(asked) >= 4, 60, "all pages are asked for")
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(asked)]
    assert min(gaps) > 0.9 * delay_s, gaps

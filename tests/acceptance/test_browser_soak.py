"""A worker's browser renders hundreds of pages, dies twice, and costs no page and no memory."""

from __future__ import annotations

import contextlib
import shutil
import statistics
import time

import psutil
import pytest

from crawler.demo.catalogue import catalogue
from crawler.demo.judge import judge
from crawler.demo.shop_process import served
from tests.acceptance.conftest import Crawl, said
from tests.acceptance.test_ladder import counted

pytestmark = [
    pytest.mark.acceptance,
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed"),
]
PRODUCTS = 450
KILLS = (150, 300)


def browsers(pid: int) -> list[psutil.Process]:
    """The browsers' own processes below a worker, not their helpers."""
    found = []
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                words = child.cmdline()
                if words and "chrom" in words[0] and not any("--type=" in w for w in words):
                    found.append(child)
    return found


def memory_mb(pid: int) -> float:
    """Memory of a process and all below it, what they share counted once."""
    total = 0
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                total += one.memory_full_info().pss
    return total / 1e6


def test_hundreds_of_rendered_pages_survive_two_deaths_of_the_browser(crawl: Crawl) -> None:
    crawl.workers.settings = {
        **crawl.workers.settings,
        "SEINE_FLEET": crawl.name,
        "SEINE_BROWSER": 1,
        "SEINE_RENDER": '{"wait_for": "h1"}',
        "SEINE_BROWSER_RECYCLE_PAGES": 25,
    }
    kills, samples = list(KILLS), []
    with served(products=PRODUCTS, guard=["script"]) as shop:
        worker = crawl.start_idle()
        crawl.seed(shop.url)
        until = time.monotonic() + 800
        while worker.alive and time.monotonic() < until:
            done = crawl.total("done")
            if kills and done >= kills[0]:
                for process in browsers(worker.pid):
                    process.kill()
                kills.pop(0)
            samples.append((done, memory_mb(worker.pid)))
            time.sleep(1)
    assert not worker.alive
    assert worker.process.returncode == 0
    verdict = judge(catalogue(PRODUCTS), crawl.rows())
    assert verdict.passed, (verdict, said(worker)[-3000:])
    assert crawl.redis.zcard(crawl.keys.dead) == 0
    assert not kills
    assert counted(crawl, "playwright/browser_count") >= 1 + len(KILLS)
    early = [mb for done, mb in samples if 100 <= done < 200]
    late = [mb for done, mb in samples if done >= PRODUCTS - 100]
    print(f"{statistics.median(early):.0f} MB early, {statistics.median(late):.0f} MB late")
    assert statistics.median(late) <= 1.2 * statistics.median(early)

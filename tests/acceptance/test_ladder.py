"""A fleet gets every product of a shop that defends itself, by the cheapest means that works."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from crawler.access.ladder_store import NO_BROWSER
from crawler.demo.catalogue import catalogue
from crawler.demo.judge import judge
from crawler.demo.shop_process import served
from tests.acceptance.conftest import Crawl, said
from tests.helpers import wait_until

pytestmark = [
    pytest.mark.acceptance,
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed"),
]
PRODUCTS = 40
#: Of a shop that a browser renders, half a second of CPU a page.
RENDERED = 16


def counted(crawl: Crawl, name: str) -> int:
    """Sum of one number over all workers' closing statistics."""
    found = [re.search(rf"'{name}': (\d+)", said(w)) for w in crawl.workers.workers]
    return sum(int(match[1]) for match in found if match)


def climb(crawl: Crawl, guard: str, *, products: int = PRODUCTS, **settings: object) -> None:
    """Crawl a guarded shop with a plain worker and one that has a browser."""
    common = {
        **crawl.workers.settings,
        "SEINE_FLEET": crawl.name,
        "SEINE_LADDER": "on",
        "SEINE_IDENTITY": "chrome-windows",
        **settings,
    }
    with served(products=products, guard=[guard]) as shop:
        crawl.workers.settings = {**common, "SEINE_BROWSER": 1}
        crawl.start_idle()
        crawl.workers.settings = common
        crawl.start()
        crawl.seed(shop.url)
        crawl.wait_for_end(100)
    verdict = judge(catalogue(products), crawl.rows())
    logs = "\n".join(said(w)[-3000:] for w in crawl.workers.workers)
    assert verdict.passed, (verdict, logs)
    assert [w.process.returncode for w in crawl.workers.workers] == [0, 0]
    assert crawl.redis.zcard(crawl.keys.dead) == 0


@pytest.mark.parametrize("guard", ["headers", "captcha"])
def test_a_shop_that_wants_a_browsers_headers_gets_them_and_no_browser(
    crawl: Crawl, guard: str
) -> None:
    climb(crawl, guard)
    assert counted(crawl, "ladder/climb/tls") == 1
    assert counted(crawl, "ladder/requests/tls") >= PRODUCTS
    assert counted(crawl, "ladder/requests/browser") == 0


def test_a_shop_made_of_javascript_is_rendered_by_the_worker_that_can(crawl: Crawl) -> None:
    climb(crawl, "script", products=RENDERED)
    with_browser, plain = (said(worker) for worker in crawl.workers.workers)
    assert counted(crawl, "ladder/climb/browser") == 1
    assert "'playwright/page_count'" in with_browser
    assert "playwright" not in plain
    state = crawl.redis.hgetall(f"{{{crawl.name}}}:ladder:d:" + domain_of(crawl))
    assert state[b"step"] == b"browser"


def test_a_domain_waits_for_a_browser_worker_and_goes_on_when_one_joins(crawl: Crawl) -> None:
    common = {
        **crawl.workers.settings,
        "SEINE_FLEET": crawl.name,
        "SEINE_LADDER": "on",
        "SEINE_IDENTITY": "chrome-windows",
    }
    with served(products=RENDERED, guard=["script"]) as shop:
        crawl.workers.settings = common
        plain = crawl.start()
        crawl.seed(shop.url)
        wait_until(lambda: NO_BROWSER in said(plain), 60, "the plain worker says what it lacks")
        crawl.workers.settings = {**common, "SEINE_BROWSER": 1}
        crawl.start()
        crawl.wait_for_end(100)
    assert judge(catalogue(RENDERED), crawl.rows()).passed
    assert said(plain).count(NO_BROWSER) == 1
    assert counted(crawl, "ladder/climb/browser") == 1
    assert "left alone" not in said(plain)
    assert crawl.redis.zcard(crawl.keys.dead) == 0


def program(path: Path, text: str) -> str:
    """A program that says why it cannot start, as the dynamic linker does."""
    path.write_text(f"#!/bin/sh\necho '{text}' >&2\nexit 127\n")
    path.chmod(0o755)
    return str(path)


def test_a_worker_whose_browser_does_not_start_ends_and_loses_no_page(
    crawl: Crawl, tmp_path: Path
) -> None:
    """Its pages keep their tries and go to a worker whose browser starts."""
    why = "libnss3.so: cannot open shared object file"
    common = {
        **crawl.workers.settings,
        "SEINE_FLEET": crawl.name,
        "SEINE_LADDER": "on",
        "SEINE_IDENTITY": "chrome-windows",
        "SEINE_BROWSER": 1,
    }
    with served(products=RENDERED, guard=["script"]) as shop:
        path = program(tmp_path / "broken-browser", why)
        crawl.workers.settings = {**common, "SEINE_BROWSER_PATH": path}
        broken = crawl.start()
        crawl.seed(shop.url)
        wait_until(lambda: not broken.alive, 60, "the worker without a browser ends")
        crawl.workers.settings = common
        crawl.start()
        crawl.wait_for_end(100)
    assert broken.process.returncode == 1
    assert said(broken).count("worker exits") == 1
    assert f"worker exits: its browser does not start: {why}" in said(broken)
    assert "Traceback" not in said(broken)
    assert crawl.redis.zcard(crawl.keys.dead) == 0
    verdict = judge(catalogue(RENDERED), crawl.rows())
    assert verdict.passed, (verdict, *(said(worker)[-3000:] for worker in crawl.workers.workers))


def test_a_worker_whose_playwright_does_not_start_ends_at_its_start(
    crawl: Crawl, tmp_path: Path
) -> None:
    """It went on as if nothing was, and each rendered page became a dead letter."""
    node = program(tmp_path / "node", "libatomic.so.1: cannot open shared object file")
    crawl.workers.settings = {**crawl.workers.settings, "SEINE_BROWSER": 1}
    crawl.workers.environment = {**crawl.workers.environment, "PLAYWRIGHT_NODEJS_PATH": node}
    worker = crawl.start()
    wait_until(lambda: not worker.alive, 60, "the worker ends")
    assert worker.process.returncode == 1
    assert said(worker).count("worker exits: its browser does not start") == 1
    assert "Traceback" not in said(worker)


def drivers(pid: int) -> list[psutil.Process]:
    """Playwright's own programs below a worker."""
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # a browser's process that ends at this moment
            found += [child] if "driver/node" in " ".join(child.cmdline()[:1]) else []
    return found


def test_a_worker_whose_playwright_is_killed_ends_and_loses_no_page(crawl: Crawl) -> None:
    """As the kernel kills it where memory is short; each page after it became a dead letter."""
    crawl.workers.settings = {
        **crawl.workers.settings,
        "SEINE_FLEET": crawl.name,
        "SEINE_LADDER": "on",
        "SEINE_IDENTITY": "chrome-windows",
        "SEINE_BROWSER": 1,
    }
    with served(products=RENDERED, guard=["script"]) as shop:
        first = crawl.start()
        crawl.seed(shop.url)
        wait_until(lambda: len(crawl.rows()) >= 3, 60, "pages are rendered")
        (driver,) = drivers(first.pid)
        driver.kill()
        wait_until(lambda: not first.alive, 60, "the worker without Playwright ends")
        crawl.start()
        crawl.wait_for_end(100)
    assert first.process.returncode == 1
    assert said(first).count("worker exits: its browser does not start") == 1
    assert crawl.redis.zcard(crawl.keys.dead) == 0
    verdict = judge(catalogue(RENDERED), crawl.rows())
    assert verdict.passed, (verdict, *(said(worker)[-3000:] for worker in crawl.workers.workers))


def test_a_wall_of_consent_opens_for_a_visitor_with_cookies(crawl: Crawl) -> None:
    climb(crawl, "cookie", COOKIES_ENABLED=1)
    assert counted(crawl, "ladder/requests/browser") == 0


def test_a_robot_under_its_own_name_renders_but_pretends_nothing(crawl: Crawl) -> None:
    climb(crawl, "script", products=RENDERED, SEINE_IDENTITY="bot")
    assert counted(crawl, "ladder/climb/browser") == 1
    assert counted(crawl, "ladder/requests/tls") == 0


def domain_of(crawl: Crawl) -> str:
    """The only domain that the fleet's ladder knows."""
    (name,) = crawl.redis.zrange(f"{{{crawl.name}}}:ladder:domains", 0, -1)
    return str(name.decode())

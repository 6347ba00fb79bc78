"""A fleet gets every product of a shop that defends itself, by the cheapest means that works."""

from __future__ import annotations

import re
import shutil

import pytest

from crawler.access.ladder_store import NO_BROWSER
from crawler.demo.catalogue import catalogue
from crawler.demo.judge import judge
from crawler.demo.served import served
from tests.acceptance.conftest import Crawl, said
from tests.helpers import wait_until

pytestmark = [
    pytest.mark.acceptance,
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed"),
]
PRODUCTS = 40


def counted(crawl: Crawl, name: str) -> int:
    """Sum of one number over all workers' closing statistics."""
    found = [re.search(rf"'{name}': (\d+)", said(w)) for w in crawl.workers.workers]
    return sum(int(match[1]) for match in found if match)


def climb(crawl: Crawl, guard: str, **settings: object) -> None:
    """Crawl a guarded shop with a plain worker and one that has a browser."""
    common = {
        **crawl.workers.settings,
        "SEINE_FLEET": crawl.name,
        "SEINE_LADDER": "on",
        "SEINE_IDENTITY": "chrome-windows",
        **settings,
    }
    with served(products=PRODUCTS, guard=[guard]) as shop:
        crawl.workers.settings = {**common, "SEINE_BROWSER": 1}
        crawl.start_idle()
        crawl.workers.settings = common
        crawl.start()
        crawl.seed(shop.url)
        crawl.wait_for_end(100)
    verdict = judge(catalogue(PRODUCTS), crawl.rows())
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
    climb(crawl, "script")
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
    with served(products=PRODUCTS, guard=["script"]) as shop:
        crawl.workers.settings = common
        plain = crawl.start()
        crawl.seed(shop.url)
        wait_until(lambda: NO_BROWSER in said(plain), 60, "the plain worker says what it lacks")
        crawl.workers.settings = {**common, "SEINE_BROWSER": 1}
        crawl.start()
        crawl.wait_for_end(100)
    assert judge(catalogue(PRODUCTS), crawl.rows()).passed
    assert said(plain).count(NO_BROWSER) == 1
    assert counted(crawl, "ladder/climb/browser") == 1
    assert "left alone" not in said(plain)
    assert crawl.redis.zcard(crawl.keys.dead) == 0


def test_a_wall_of_consent_opens_for_a_visitor_with_cookies(crawl: Crawl) -> None:
    climb(crawl, "cookie", COOKIES_ENABLED=1)
    assert counted(crawl, "ladder/requests/browser") == 0


def test_a_robot_under_its_own_name_renders_but_pretends_nothing(crawl: Crawl) -> None:
    climb(crawl, "script", SEINE_IDENTITY="bot")
    assert counted(crawl, "ladder/climb/browser") == 1
    assert counted(crawl, "ladder/requests/tls") == 0


def domain_of(crawl: Crawl) -> str:
    """The only domain that the fleet's ladder knows."""
    (name,) = crawl.redis.zrange(f"{{{crawl.name}}}:ladder:domains", 0, -1)
    return str(name.decode())

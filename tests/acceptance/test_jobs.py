"""Jobs as an operator runs them: `scrapy jobs`, workers, `scrapy coordinate`."""

from __future__ import annotations

import json
import os
import sys

import pytest

from crawler.demo.shop_process import served
from tests import started
from tests.acceptance.conftest import said
from tests.acceptance.site import serve_pages
from tests.helpers import patient

pytestmark = [pytest.mark.acceptance, pytest.mark.redis, pytest.mark.postgres]
PRODUCTS = 60


@pytest.fixture
def scrapy(crawl):
    """Run a command on the crawl; returns what it prints."""

    def run(*command: str, status: int = 0) -> str:
        done = started.run(
            [sys.executable, "-m", "scrapy", *command, "-s", f"SEINE_CRAWL={crawl.name}"],
            env={**os.environ, **crawl.workers.environment},
            capture_output=True,
            text=True,
            timeout=patient(60),
            check=False,
        )
        assert done.returncode == status, done.stderr
        return done.stdout + (done.stderr if status else "")

    return run


def newest(scrapy):
    return json.loads(scrapy("jobs", "list", "--json"))["jobs"]


def test_a_shop_with_a_gate_before_each_page_is_told_of_while_it_is_read_and_with_its_job(
    crawl, scrapy
):
    """Each page answers 200, nothing is stored and nothing fails; the job shows it."""
    gate = "<title>Wine</title><h1>Welcome</h1><p>Are you over 18?</p><form><button>Yes</button>"
    paths = [f"/product/wine-{n}" for n in range(30)]
    pages = dict.fromkeys(paths, gate + "</form>")
    links = "".join(f'<a href="{path}">wine</a>' for path in paths)
    pages["/"] = f"<title>Wine</title><h1>Our wines</h1>{links}"
    with serve_pages(pages) as url:
        scrapy("jobs", "start", f"{url}/")
        worker = crawl.start()
        crawl.wait_for_end()
    scrapy("coordinate", "--once")
    (job,) = newest(scrapy)
    assert job["state"] == "finished"
    assert "none showed a product" in job["note"]
    assert "none showed a product" in scrapy("jobs", "show", job["id"])
    log = said(worker)
    assert log.count("pages of products or listings look alike and show neither") == 1
    assert "it asks for the visitor's age" in log


def test_a_job_is_crawled_counted_and_closed(crawl, scrapy):
    with served(products=PRODUCTS) as shop:
        scrapy("jobs", "start", shop.url, shop.url)  # named twice, it is one job all the same
        crawl.start()
        crawl.wait_for_end()
        (job,) = newest(scrapy)
        assert job["left"] == 0
        ended = sum(job[end] for end in ("done", "ignored", "failed", "cancelled"))
        assert job["total"] == ended >= PRODUCTS
        assert job["total"] == crawl.total("pushed")
        scrapy("coordinate", "--once")
    (job,) = newest(scrapy)
    assert job["state"] == "finished"
    assert crawl.query("SELECT state, total, done, failed FROM jobs") == [
        ("finished", job["total"], job["done"], job["failed"])
    ]
    assert crawl.query("SELECT count(*) FROM products") == [(PRODUCTS,)]


def test_a_site_whose_crawl_runs_keeps_no_other_one_from_its_own(crawl, scrapy):
    """The first site's crawl began, and nobody was told; the third one's did not."""
    one, running, three = (f"http://127.0.0.{n}:9/" for n in (1, 2, 3))
    scrapy("jobs", "start", running, f"{running}sale")
    told = scrapy("jobs", "start", one, running, three, status=1)
    assert "127.0.0.1" in told
    assert "127.0.0.3" in told
    assert f"{running[7:-1]}" in told
    assert crawl.query("SELECT count(*) FROM jobs WHERE state = 'running'") == [(3,)]


def test_a_cancelled_job_fetches_no_more(crawl, scrapy, tmp_path):
    with served(log=tmp_path / "log", products=PRODUCTS) as shop:
        scrapy("jobs", "start", shop.url)
        (job,) = newest(scrapy)
        scrapy("jobs", "cancel", job["id"])
        actions = [json.loads(raw) for raw in crawl.redis.lrange(crawl.keys.actions, 0, -1)]
        assert [(action["verb"], action["target"]) for action in actions] == [
            ("jobs cancel", job["id"]),
            ("jobs start", job["id"]),
        ]
        crawl.start_idle()  # nothing is left of it
        assert shop.visits() == []
    (job,) = newest(scrapy)
    assert (job["state"], job["left"]) == ("cancelled", 0)
    assert crawl.query("SELECT count(*) FROM products") == [(0,)]

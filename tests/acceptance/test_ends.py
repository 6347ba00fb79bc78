"""Workers alone end what they crawl: the job finished, quality measured, and gone what says so."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import attrs
import pytest

from crawler.catalogue.jobs.in_redis import Jobs
from crawler.catalogue.jobs.model import Job
from crawler.stores.store_endpoints import redis_client
from scrapy_seine.frontier.frontier import Frontier
from tests.acceptance.conftest import Crawl, said
from tests.helpers import execute, serving

pytestmark = [pytest.mark.acceptance, pytest.mark.redis, pytest.mark.postgres]

FRAME = (
    "<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body>"
    '<nav><a href="/">Home</a></nav><main>{body}</main></body></html>'
)


def product(number: int, price: str = "9.90") -> str:
    offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR",
             "availability": "https://schema.org/InStock"}  # fmt: skip
    data = {"@context": "https://schema.org", "@type": "Product", "name": f"Lamp {number}",
            "sku": f"L-{number}", "offers": offer}  # fmt: skip
    head = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    return FRAME.format(title=f"Lamp {number}", head=head, body=f"<h1>Lamp {number}</h1>")


def over(number: int, words: str) -> str:
    return FRAME.format(
        title=f"Lamp {number}", head="", body=f"<h1>Lamp {number}</h1><p>{words}</p>"
    )


def links(title: str, *paths: str) -> str:
    body = "".join(f'<li><a href="{path}">{path}</a></li>' for path in paths)
    return FRAME.format(title=title, head="", body=f"<h1>{title}</h1><ul>{body}</ul>")


def shop() -> dict[str, tuple[int, str]]:
    """Twelve products in two categories; each path with its status and body (or where it leads)."""
    pages = {f"/p/{n}": (200, product(n)) for n in range(1, 13)}
    return {
        **pages,
        "/": (200, links("Lamps", "/c/1", "/c/2")),
        "/c/1": (200, links("Small", *(f"/p/{n}" for n in range(1, 6)))),
        "/c/2": (200, links("Large", *(f"/p/{n}" for n in range(6, 13)))),
    }


@attrs.define
class Site:
    """A site whose pages a test may change, with what was asked of it."""

    pages: dict[str, tuple[int, str]]
    asked: Counter[str] = attrs.Factory(Counter)
    lock: threading.Lock = attrs.Factory(threading.Lock)
    url: str = ""


@contextmanager
def site(pages: dict[str, tuple[int, str]]) -> Iterator[Site]:
    made = Site(pages)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with made.lock:
                made.asked[self.path] += 1
            status, body = made.pages.get(self.path, (404, "not here"))
            self.send_response(status)
            if status in {301, 302}:
                self.send_header("Location", body)
                body = ""
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    with serving(Handler) as url:
        made.url = url
        yield made


def begin(crawl: Crawl, name: str, url: str) -> None:
    """Begin a full crawl, as `scrapy jobs start` does."""

    async def work() -> None:
        redis = redis_client(crawl.redis_url)
        try:
            jobs = Jobs(Frontier(redis, crawl.name))
            await jobs.begin(name, site_id=crawl.name, kind="full", urls=[f"{url}/"])
        finally:
            await redis.aclose()

    asyncio.run(work())


def job_of(crawl: Crawl, name: str) -> Job:
    async def work() -> Job:
        redis = redis_client(crawl.redis_url)
        try:
            job = await Jobs(Frontier(redis, crawl.name)).get(name)
            assert job is not None
            return job
        finally:
            await redis.aclose()

    return asyncio.run(work())


def run(crawl: Crawl, name: str, url: str, workers: int = 2) -> Job:
    """Crawl the site in a job of its own, with workers alone."""
    begin(crawl, name, url)
    for _ in range(workers):
        crawl.start()
    crawl.wait_for_end()
    assert {w.process.returncode for w in crawl.workers.workers} == {0}, "".join(
        said(w) for w in crawl.workers.workers
    )
    return job_of(crawl, name)


def gone(crawl: Crawl) -> set[str]:
    found = crawl.query("SELECT external_id FROM products WHERE gone_at IS NOT NULL")
    return {key for (key,) in found}


def test_workers_alone_end_the_job_and_only_what_says_so_is_gone(crawl: Crawl) -> None:
    crawl.workers.settings = {**crawl.workers.settings, "RETRY_TIMES": 0}
    with site(shop()) as found:
        first = run(crawl, "one", found.url, workers=3)
        assert (first.state, first.left, first.failed) == ("finished", 0, 0)
        assert crawl.query("SELECT count(*), count(gone_at) FROM products") == [(12, 0)]
        assert crawl.query("SELECT job_id, products FROM quality") == [("one", 12)]
        assert crawl.query("SELECT state, finished_at IS NOT NULL FROM jobs") == [
            ("finished", True)
        ]
        execute(crawl.database_url, "UPDATE products SET scraped_at = scraped_at - interval '1 d'")
        found.pages.update(
            {
                "/c/2": (500, "broken"),  # its links are lost for this crawl
                "/p/4": (200, "<title>Lamps</title><h1>We will be back soon</h1>"),
                "/p/5": (200, over(5, "Sold out")),
                "/p/2": (200, "<html><head></head><body></body></html>"),
                "/p/6": (200, product(6, "7.50")),
                "/p/3": (302, "/c/1"),
                "/p/7": (404, "no such page"),
                "/p/8": (200, over(8, "This product is no longer available.")),
                "/p/9": (301, "/c/1"),
                "/p/10": (410, "gone"),
            }
        )
        found.asked.clear()
        second = run(crawl, "two", found.url, workers=3)
    assert second.state == "finished"
    assert second.left == 0
    assert gone(crawl) == {"L-7", "L-9", "L-10"}
    doubts = crawl.query(
        "SELECT external_id, reason FROM doubtful WHERE field = 'availability' ORDER BY 1"
    )
    absent = "its page shows no product"
    assert doubts == [("L-2", "its page is blank"), ("L-3", absent), ("L-4", absent)]
    rows = {
        key: (name, price, stock)
        for key, name, price, stock in crawl.query(
            "SELECT external_id, name, price::text, availability FROM products"
        )
    }
    assert rows["L-5"] == ("Lamp 5", None, "OutOfStock")
    assert rows["L-6"] == ("Lamp 6", "7.50", "InStock")
    assert rows["L-8"] == ("Lamp 8", None, "Discontinued")
    assert rows["L-1"] == ("Lamp 1", "9.90", "InStock")
    assert crawl.query("SELECT job_id FROM quality ORDER BY measured_at") == [("one",), ("two",)]
    assert all(found.asked[f"/p/{n}"] == 1 for n in (1, 6, 7, 8, 9, 10))


def test_a_job_with_nothing_unseen_asks_for_no_page_twice(crawl: Crawl) -> None:
    with site(shop()) as found:
        run(crawl, "one", found.url)
        found.asked.clear()
        assert run(crawl, "two", found.url).state == "finished"
    assert max(n for path, n in found.asked.items() if path.startswith("/p/")) == 1


def test_a_shop_that_answers_404_to_all_for_an_hour_loses_no_product(crawl: Crawl) -> None:
    with site(shop()) as found:
        run(crawl, "one", found.url)
        execute(crawl.database_url, "UPDATE products SET scraped_at = scraped_at - interval '1 d'")
        found.pages = {"/": (200, links("Lamps", "/c/1"))}
        assert run(crawl, "two", found.url).state == "finished"
        assert gone(crawl) == set()
        found.pages = shop()
        assert run(crawl, "three", found.url).state == "finished"
    assert gone(crawl) == set()
    assert crawl.query("SELECT count(*) FROM products WHERE missing_at IS NOT NULL") == [(0,)]

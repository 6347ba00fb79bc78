"""The log of attempts: one row each, cheap, and never in the way of a page."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.statscollectors import MemoryStatsCollector

from crawler.storage import storage_of
from crawler.stores.attempts import keep_days
from crawler.stores.migrations import migrate
from middlewares.attempts import Attempts, Redirects
from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import MigrationError
from tests.helpers import execute
from tests.integration.storage.kit import lesser_role, rows_of

pytestmark = pytest.mark.postgres
URL = "https://shop.example/p/1"


def made(**settings: Any) -> Attempts:
    crawler: Any = Crawler(FrontierSpider, settings)
    crawler.stats = MemoryStatsCollector(crawler)
    worker_of(crawler).name = "worker-1"
    return Attempts.from_crawler(crawler)


async def test_answers_and_failures_become_rows(database: str) -> None:
    log = made(DATABASE_URL=database)
    await log.storage.open()
    meta = {
        "job_id": "j", "site_id": "s", "task_id": "t", "download_latency": 0.25, "retry_count": 1,
        "proxy_id": "p1", "proxy_provider": "acme", "page_verdict": "captcha",
    }  # fmt: skip
    request = Request(URL, meta=meta)
    log.process_response(request, Response(URL, status=200, body=b"12345"))
    log.process_response(Request(URL), Response(URL, status=503, headers={"Content-Length": "9"}))
    log.process_response(Request(URL), Response(URL, flags=["cached"]))
    log.process_exception(Request(URL), TimeoutError("slow"))
    log.process_exception(Request(URL), IgnoreRequest("robots.txt"))
    await log.storage.close()
    found = rows_of(
        database,
        "SELECT outcome, status, bytes, duration_ms, retry, proxy_provider, proxy_id, worker, lane,"
        " domain, job_id, site_id, task_id FROM attempts ORDER BY outcome",
    )
    direct = (0, None, None, "worker-1", "plain", "shop.example", None, None, None)
    assert found == [
        ("TimeoutError", None, None, None, *direct),
        ("captcha", 200, 5, 250, 1, "acme", "p1", *direct[3:6], "j", "s", "t"),
        ("http 503", 503, 9, None, *direct),
    ]  # fmt: skip
    view = rows_of(database, "SELECT provider, attempts, ok FROM attempts_by_provider_and_hour")
    assert sorted(view) == [("acme", 1, 0), ("direct", 2, 0)]


async def test_a_full_buffer_leaves_attempts_out(database: str) -> None:
    log = made(DATABASE_URL=database, SEINE_BUFFER_BYTES=1, SEINE_BATCH_SECONDS=60)
    await log.storage.open()
    for _ in range(3):
        log.process_response(Request(URL), Response(URL))
    await log.storage.close()
    assert rows_of(database, "SELECT count(*) FROM attempts") == [(1,)]
    stats: Any = log.storage.crawler.stats
    assert stats.get_value("seine/store/attempts_dropped") == 2


async def test_an_attempt_without_a_row_is_counted_and_fails_no_page(database: str) -> None:
    log = made(DATABASE_URL=database)
    await log.storage.open()
    log.process_response(Request(URL, meta={"task_id": "\ud800"}), Response(URL))
    log.process_response(Request("data:,x"), Response("data:,x"))
    await log.storage.close()
    assert rows_of(database, "SELECT count(*) FROM attempts") == [(0,)]
    stats: Any = log.storage.crawler.stats
    assert stats.get_value("seine/store/attempts_dropped") == 1


@pytest.mark.alone
async def test_a_row_costs_less_than_a_tenth_of_a_millisecond(database: str) -> None:
    log = made(DATABASE_URL=database)
    await log.storage.open()
    request, response = Request(URL, meta={"download_latency": 0.1}), Response(URL, body=b"x")
    best = 1.0
    for _ in range(5):
        began = time.thread_time()
        for _ in range(200):
            log.process_response(request, response)
        best = min(best, (time.thread_time() - began) / 200)
    await log.storage.close()
    assert best < 100e-6


def test_it_can_be_switched_off() -> None:
    with pytest.raises(NotConfigured):
        made(SEINE_ATTEMPTS=False)


def test_rows_outside_the_days_that_exist_are_kept_and_dropped_in_time(database: str) -> None:
    assert keep_days(database, 30) == 9
    assert keep_days(database, 30) == 0
    for days in (3, 60):
        execute(
            database,
            "INSERT INTO attempts (at, url, outcome) VALUES"
            f" (now() - interval '{days} days', 'u', 'ok')",
        )
    keep_days(database, 30)
    found = rows_of(database, "SELECT now() - at FROM attempts")
    assert [age > timedelta(days=2) for (age,) in found] == [True]


def test_a_role_that_owns_no_table_is_told_who_makes_the_days(
    database: str, database_url_empty: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The server's line went on with its QUERY and CONTEXT, which say nothing to an operator."""
    with lesser_role(database) as url:
        assert keep_days(url, 30) == 0
    assert caplog.messages == [
        "partitions of attempts: permission denied for schema public (the tables' owner can make "
        "them: docs/deploying.md)"
    ]
    with (
        lesser_role(database_url_empty) as url,
        pytest.raises(MigrationError, match=r"denied for schema public; run .* owner$"),
    ):
        migrate(url)


def test_an_unreachable_database_is_no_reason_to_stop() -> None:
    assert keep_days("postgresql://127.0.0.1:1/none", 30) == 0


async def test_the_worker_is_named_as_its_leases_are() -> None:
    crawler: Any = Crawler(FrontierSpider, {})
    crawler.stats = MemoryStatsCollector(crawler)
    assert storage_of(crawler).worker == worker_of(crawler).name


async def test_a_redirect_is_an_attempt_of_its_own_and_noted_once(database: str) -> None:
    log = made(DATABASE_URL=database)
    await log.storage.open()
    before = Redirects(log.storage)
    moved = Response(URL, status=302, headers={"Location": "/x"})
    for response in (moved, Response(URL), Response(URL, status=304)):
        before.process_response(Request(URL), response)
    before.process_exception(Request(URL), TimeoutError())
    await log.storage.close()
    assert rows_of(database, "SELECT status, outcome FROM attempts") == [(302, "ok")]

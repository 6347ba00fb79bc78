"""A worker whose clock is wrong: what it stores is dated by the frontier's clock all the same."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crawler.demo import worker_processes
from crawler.demo.catalogue import catalogue
from crawler.demo.judge import judge
from crawler.demo.shop_process import served
from crawler.stores.store_endpoints import redis_client
from scrapy_seine.reads.kept_log_lines import log_names
from scrapy_seine.reads.outcome_history import read_minutes
from tests.acceptance.conftest import Crawl
from tests.acceptance.test_storage import free_port, run
from tests.helpers import patient

pytestmark = pytest.mark.acceptance

PRODUCTS = 60
DAY_S = 86_400
SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int got = real(id, at);
    const char *by = getenv("AHEAD_S");
    if (got == 0 && id == CLOCK_REALTIME && by) at->tv_sec += atol(by);
    return got;
}
"""


@pytest.fixture
def shim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A library that sets the clock of one process, which no forked worker would load."""
    monkeypatch.setattr(worker_processes, "subprocess", subprocess)
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler: the clock of one process cannot be set")
    source, library = tmp_path / "clock.c", tmp_path / "clock.so"
    source.write_text(SHIM)
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"],
        check=True,
        timeout=patient(60),
    )
    return str(library)


def test_changes_after_a_worker_whose_clock_was_a_day_ahead_are_not_stale(
    crawl: Crawl, shim: str
) -> None:
    right, port = dict(crawl.workers.environment), free_port()
    with served(products=PRODUCTS, port=port) as shop:
        crawl.workers.environment = {**right, "LD_PRELOAD": shim, "AHEAD_S": str(DAY_S)}
        run(crawl, shop.url)
    ((newest,),) = crawl.query("SELECT max(scraped_at) FROM products")
    assert newest < datetime.now(UTC) + timedelta(minutes=1)
    crawl.workers.environment = right
    with served(products=PRODUCTS, port=port, day=2) as shop:
        run(crawl, shop.url)
    wanted = {product.sku for product in catalogue(PRODUCTS, day=2)}
    rows = [row for row in crawl.rows() if row["external_id"] in wanted]
    assert judge(catalogue(PRODUCTS, day=2), rows).passed


def test_pages_of_a_worker_whose_clock_is_wrong_are_in_the_plots(crawl: Crawl, shim: str) -> None:
    """They were in tomorrow's, and another worker's log was forgotten."""
    crawl.redis.zadd(crawl.keys.logs, {"other": time.time()})
    environment = crawl.workers.environment
    crawl.workers.environment = {**environment, "LD_PRELOAD": shim, "AHEAD_S": str(2 * DAY_S)}
    with served(products=5, port=free_port()) as shop:
        crawl.seed(shop.url)
        crawl.start()
        crawl.wait_for_end()

    async def read() -> tuple[float, list[str]]:
        redis = redis_client(crawl.redis_url)
        try:
            minutes = await read_minutes(redis, crawl.keys, time.time(), 10)
            return sum(minute.done for minute in minutes), await log_names(redis, crawl.keys)
        finally:
            await redis.aclose()

    done, names = asyncio.run(read())
    assert done >= 5
    assert "other" in names
    assert len(names) > 1

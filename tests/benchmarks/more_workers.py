"""What more workers give: pages a second while a fleet runs, seen from the site."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import orjson
import psutil
import psycopg2
from redis import Redis

from crawler.demo.worker_processes import Fleet, fleet
from tests.benchmarks.processes import Cpu, cpu_of, spent, tree
from tests.benchmarks.stage import Stage
from tests.benchmarks.target import Target
from tests.helpers import wait_until

#: From the first page until the rate counts, in seconds.
WARM_S = 3.0
START_S = 60


def steady(
    workers: int, stage: Stage, site: Target, settings: Mapping[str, object], seconds: float
) -> dict[str, Any]:
    """Run a fleet that has more to do than the time allows, and count what the site answers."""
    stage.clear()
    name = f"fleet-{uuid.uuid4().hex[:8]}"
    options = {
        "REDIS_START_URLS_KEY": "%(crawl)s:start_urls",
        "SEINE_KEEP_ALIVE": 1,
        **settings,
    }
    stores = {
        "REDIS_URL": stage.redis_url,
        "DATABASE_URL": stage.database_url,
        "SEINE_CRAWL": name,
    }
    with fleet(options, stores, stage.folder / name) as running:
        for _ in range(workers):
            running.start()
        _ready(running)
        with Redis.from_url(stage.direct_redis_url) as redis:
            redis.lpush(f"{name}:start_urls", *(orjson.dumps({"url": url}) for url in site.urls))
        wait_until(lambda: site.stats()["pages"], START_S, "the fleet begins")
        time.sleep(WARM_S)
        return {"workers": workers, "domains": site.hosts, **_window(running, stage, site, seconds)}


def _ready(running: Fleet) -> None:
    for worker in running.workers:
        wait_until(
            lambda log=worker.log: b"Spider opened" in log.read_bytes(), START_S, "workers start"
        )


def _window(running: Fleet, stage: Stage, site: Target, seconds: float) -> dict[str, Any]:
    before, rows = _cpu(running), _rows(stage)
    site.stats()
    psutil.cpu_percent()
    began = time.monotonic()
    with spent(stage.stores) as stores:
        time.sleep(seconds)
    lasted, seen, busy = time.monotonic() - began, site.stats(), psutil.cpu_percent()
    pages, used = max(1, seen["pages"]), _cpu(running) - before
    return {
        "pages_per_s": round(seen["pages"] / lasted, 1),
        "at_once": seen["at_once"],
        "rows_per_s": round((_rows(stage) - rows) / lasted, 1),
        "cpu_ms": round(1000 * used.total / pages, 3),
        "redis_ms": round(1000 * stores["redis"].total / pages, 3),
        "postgres_ms": round(1000 * stores["postgres"].total / pages, 3),
        "target_ms": round(1000 * seen["cpu_s"] / pages, 3),
        "machine_busy_percent": busy,
        "rss_mb": round(max(_rss(worker.pid) for worker in running.alive), 1),
    }


def _cpu(running: Fleet) -> Cpu:
    total = Cpu()
    for worker in running.alive:
        total += cpu_of(tree(worker.pid))
    return total


def _rss(pid: int) -> float:
    return float(psutil.Process(pid).memory_info().rss) / (1 << 20)


def _rows(stage: Stage) -> int:
    """Products stored so far."""
    with (
        closing(psycopg2.connect(stage.direct_database_url)) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT count(*) FROM products")
        return int(cursor.fetchone()[0])

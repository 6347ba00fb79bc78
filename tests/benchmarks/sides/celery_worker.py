"""The tutorials' Celery crawler: a task a URL, Redis as broker, requests and BeautifulSoup.

usage: python -m tests.benchmarks.sides.celery_worker BASE_URL REDIS_URL DATABASE_URL RUN

Runs a worker until nothing is left to do. One requests.Session and one database connection a
process are as far as the tutorials go.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from functools import cache
from typing import Any

import requests
from bs4 import BeautifulSoup
from celery import Celery
from celery.signals import worker_ready
from celery.worker import state
from redis import Redis

from tests.benchmarks.sides import soup
from tests.benchmarks.sides.rows import Rows

BASE, REDIS_URL, DATABASE_URL, RUN = sys.argv[1:5]
#: As many as Scrapy sends to one domain at a time.
PROCESSES = 8

# kombu names a unix socket redis+socket://, redis-py unix://
app = Celery("tasks", broker=REDIS_URL.replace("unix://", "redis+socket://").split("?")[0])
app.conf.task_default_queue = RUN
app.conf.task_ignore_result = True


@cache
def session() -> requests.Session:
    return requests.Session()


@cache
def redis() -> Redis:
    return Redis.from_url(REDIS_URL)


@cache
def rows() -> Rows:
    return Rows(DATABASE_URL, RUN)


@app.task(name="crawl")
def crawl(url: str) -> None:
    """Fetch a page, store its product, and queue the links that nobody has queued yet."""
    response = session().get(url, timeout=30)
    page = BeautifulSoup(response.text, "html.parser")
    product = soup.product(page, response.url)
    if product is not None:
        rows().store(product)
    for link in soup.links(page, response.url):
        if redis().sadd(f"{RUN}:seen", link):
            crawl.delay(link)


@worker_ready.connect
def begin(**_: Any) -> None:
    """Queue the first page, and leave when all is done."""
    redis().sadd(f"{RUN}:seen", BASE)
    crawl.delay(BASE)
    threading.Thread(target=_leave_when_done, daemon=True).start()


def _leave_when_done() -> None:
    quiet = 0
    while quiet < 3:
        time.sleep(0.2)
        busy = state.active_requests or state.reserved_requests or redis().llen(RUN)
        quiet = 0 if busy else quiet + 1
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.modules["tests.benchmarks.sides.celery_worker"] = sys.modules["__main__"]
    options = ["worker", f"--concurrency={PROCESSES}", "--loglevel=INFO"]
    app.worker_main([*options, "--without-mingle", "--without-gossip"])

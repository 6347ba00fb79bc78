"""A worker's start costs CPU each time, so it loads nothing that its crawl does not use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from crawler.demo.served import served
from tests.helpers import patient

ROOT = Path(__file__).parents[2]
#: What is loaded where it is used: by other commands, or with a setting that is off here.
LATER = {
    "crawler.catalogue.coordinator",
    "crawler.demo",
    "croniter",
    "prometheus_client",
    "requests",
    "rich",
    "scrapy.core.downloader.handlers.http11",
    "tldextract",
    "urllib3",
}


def loaded(*command: str, **environment: str) -> set[str]:
    """The modules that a Python process imports, to its end."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *command],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=True,
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def test_a_crawl_loads_nothing_that_it_does_not_use(
    redis_url: str, database: str, namespace: str
) -> None:
    with served(products=1) as shop:
        modules = loaded(
            *("-m", "scrapy", "crawl", "catalog", "-a", f"url={shop.url}"),
            REDIS_URL=redis_url,
            DATABASE_URL=database,
            SEINE_CRAWL=namespace,
            SCRAPY_PROJECT="test",
        )

    assert "crawler.extract.default" in modules  # a page was read
    assert LATER & modules == set()

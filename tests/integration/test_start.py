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


EARLY = """
from scrapy import Spider
from scrapy_seine.engine.scheduler import Scheduler


class Early(Scheduler):
    async def _open(self):
        await super()._open()
        self.worker.stop("state_lost")


class Empty(Spider):
    name = "empty"
    custom_settings = {"SCHEDULER": Early}
"""


def test_a_worker_that_is_told_to_end_while_it_opens_ends_by_that_reason(
    redis_url: str, namespace: str, tmp_path: Path
) -> None:
    """Redis may lose a crawl at that very moment: Scrapy closes no part that is not open."""
    (tmp_path / "empty.py").write_text(EARLY)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "scrapy", "runspider", "empty.py"),
            *("-s", 'ADDONS={"scrapy_seine.Addon": 500}', "-s", f"REDIS_URL={redis_url}"),
            *("-s", f"SEINE_CRAWL={namespace}"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "Spider closed (state_lost)" in done.stderr
    assert "Traceback" not in done.stderr

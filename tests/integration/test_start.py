"""A worker's start costs CPU each time, so it loads nothing that its crawl does not use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from crawler.demo.shop_process import served
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

    assert "crawler.extract.default_parser" in modules  # a page was read
    assert LATER & modules == set()


COUNTED = """
import gc, sys
looks = []
gc.callbacks.append(lambda phase, told: phase == "stop" and gc.isenabled() and looks.append(told))
import crawler.commands.crawl as crawl
begin, ready = crawl.Command.process_options, crawl.freeze_loaded_objects

def process_options(*given):
    looks.clear()
    begin(*given)

def freeze_loaded_objects():
    print("looks before all is loaded:", len(looks), file=sys.stderr)
    ready()
    print("left out:", gc.get_freeze_count(), gc.isenabled(), file=sys.stderr)

crawl.Command.process_options = process_options
crawl.freeze_loaded_objects = freeze_loaded_objects
from scrapy.cmdline import execute
execute()
"""


def test_the_collector_looks_at_nothing_that_a_start_loads(
    redis_url: str, database: str, namespace: str
) -> None:
    """Each look is a fortieth of a start, and all that is loaded stays for good."""
    with served(products=1) as shop:
        done = subprocess.run(
            [sys.executable, "-c", COUNTED, "crawl", "catalog", "-a", f"url={shop.url}"],
            cwd=ROOT,
            env=os.environ
            | {
                "REDIS_URL": redis_url,
                "DATABASE_URL": database,
                "SEINE_CRAWL": namespace,
                "SCRAPY_PROJECT": "test",
            },
            capture_output=True,
            text=True,
            timeout=patient(60),
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "looks before all is loaded: 0\n" in done.stderr
    left_out, enabled = done.stderr.partition("left out: ")[2].split()[:2]
    assert (int(left_out) > 100_000, enabled) == (True, "True")


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

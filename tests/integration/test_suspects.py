"""A page that kills its workers is found among those that were in flight beside it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from redis import Redis

from scrapy_seine.frontier.keys import Keys
from tests import started
from tests.benchmarks.projects.site import Site
from tests.helpers import patient, serving

SPIDER = """
import os, signal
import scrapy

class Spider(scrapy.Spider):
    name = "spider"

    async def start(self):
        for n in range(12):
            yield scrapy.Request(f"{self.site}/author/{n}/")

    def parse(self, response):
        if response.url.endswith("/3/"):
            os.kill(os.getpid(), signal.SIGKILL)
        yield {"url": response.url}
"""


@pytest.mark.redis
def test_a_killer_is_buried_and_what_was_beside_it_is_read(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    """I1: of a worker's requests only one that it died of alone is set aside."""
    (tmp_path / "spider.py").write_text(SPIDER, "utf-8")
    settings = {
        "ADDONS": '{"scrapy_seine.Addon": 500}',
        "REDIS_URL": redis_url,
        "SEINE_CRAWL": namespace,
        "SEINE_RUN": "one",
        "SEINE_LEASE_SECONDS": "4",
        "SEINE_MAX_DELIVERIES": "2",
    }
    command = [sys.executable, "-m", "scrapy", "runspider", "spider.py", "-o", "items.jsonl"]
    command += [part for pair in settings.items() for part in ("-s", "=".join(pair))]
    statuses, told = [], ""
    with serving(Site) as site:
        while 0 not in statuses and len(statuses) < 6:
            ended = started.run(
                [*command, "-a", f"site={site}"],
                cwd=tmp_path,
                stderr=subprocess.PIPE,
                text=True,
                timeout=patient(60),
                check=False,
            )
            statuses.append(ended.returncode)
            told += ended.stderr
    assert statuses == [-signal.SIGKILL] * 2 + [0], told[-3000:]
    with Redis.from_url(redis_url) as redis:
        [note] = redis.hvals(Keys(namespace).autopsy)
    said = json.loads(note)
    assert said["reason"] == "deliveries"
    assert said["error"] == (
        "its worker stopped 2 times while it held this request, "
        "1 of them while it had no other request"
    )
    lines = (tmp_path / "items.jsonl").read_text("utf-8").splitlines()
    items = [json.loads(line)["url"] for line in lines]
    assert sorted(items) == sorted(f"{site}/author/{n}/" for n in range(12) if n != 3)
    assert "tried alone, because 1 workers stopped" in told

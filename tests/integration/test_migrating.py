"""docs/migrating.md, done: six spiders of scrapy-redis yield the same items with the add-on."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from tests import started
from tests.helpers import patient, serving
from tests.integration.feeds import kit
from tests.integration.test_cookies import Members

pytestmark = pytest.mark.redis
ROOT = Path(__file__).parents[2]
PAGES = 15


def crawl(redis_url: str, when: str, tree: str, members: str) -> list[dict[str, Any]]:
    """Fill the spiders' lists of seeds, and run all six; returns their items."""
    redis = Redis.from_url(redis_url)
    redis.lpush("lists:start_urls", f"{tree}/0")
    redis.lpush("rules:begin", f"{tree}/1")
    redis.lpush("jobs:todo", *(json.dumps({"page": n, "label": f"job {n}"}) for n in (3, 4)))
    redis.close()
    done = started.run(
        [sys.executable, "-m", "tests.integration.migrating.run", redis_url, when],
        cwd=ROOT,
        env={**os.environ, "TREE": tree, "MEMBERS": members},
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return sorted(found, key=lambda item: json.dumps(item, sort_keys=True))


def test_six_spiders_of_scrapy_redis_yield_the_same_items_with_the_add_on(redis_url: str) -> None:
    plain = redis_url.replace("db=0", "db=3")
    with serving(kit.site_of(PAGES)) as tree, serving(Members) as members:
        before = crawl(plain, "before", tree, members)
        after = crawl(plain, "after", tree, members)
    assert {item["spider"] for item in before} == {
        *("lists", "rules", "jobs", "plain", "errors", "login")
    }
    assert after == before

"""A site that means no good holds no worker up: each page has an outcome, a count and a class."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from tests.acceptance.conftest import Crawl, said
from tests.integration.access.misdeeds import hostile_site

pytestmark = pytest.mark.acceptance
#: What the site does -> class of the failure, and how often a page is asked for with one retry.
MISDEEDS = {
    "bomb": ("size", 1),
    "endless": ("size", 1),
    "circle": ("redirects", 21),
    "drip": ("timeout", 2),
    "silence": ("timeout", 2),
    "cut": ("connection", 2),
    "garbage": ("connection", 2),
}


@pytest.mark.parametrize("lane", ["plain", "tls"])
def test_each_misdeed_has_an_outcome_a_count_and_a_retry_class(crawl: Crawl, lane: str) -> None:
    crawl.workers.settings = {
        **crawl.workers.settings,
        "DOWNLOAD_MAXSIZE": 2_000_000,
        "DOWNLOAD_TIMEOUT": 3,
        "RETRY_TIMES": 1,
    }
    with hostile_site() as (url, asked):
        tls = url.replace("http:", "https:") + "/tls"
        for address in [*(f"{url}/{kind}/0" for kind in MISDEEDS), tls]:
            seed = {"url": address, "meta": {"lane": lane}}
            crawl.redis.lpush(crawl.seeds.seeds, json.dumps(seed))
        worker = crawl.start()
        crawl.wait_for_end(100)
    reasons = {}
    for id_, text in crawl.redis.hgetall(crawl.keys.autopsy).items():
        found = re.search(rb"127.0.0.1:\d+/(\w+)", crawl.redis.hget(crawl.keys.requests, id_))
        assert found
        reasons[found[1].decode()] = json.loads(text)["reason"]
    # Where TLS cannot be spoken, robots.txt cannot be read either, and comes first.
    classes = {kind: reason for kind, (reason, _) in MISDEEDS.items()}
    assert reasons == {**classes, "tls": "robots"}
    assert {kind: asked[kind] for kind in MISDEEDS} == {k: n for k, (_, n) in MISDEEDS.items()}
    for kind, count in Counter(reasons.values()).items():
        assert f"'seine/buried/{kind}': {count}," in said(worker)

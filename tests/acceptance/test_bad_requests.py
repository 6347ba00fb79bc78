"""I8, I9: hundreds of bad seeds and stored requests cost nothing but themselves."""

from __future__ import annotations

import json

import pytest

from scrapy_seine.frontier.priority_level import level_of
from scrapy_seine.printable import printable, redact
from tests import bad_requests
from tests.helpers import wait_until

pytestmark = pytest.mark.acceptance


def test_bad_seeds_are_rejected_with_key_and_value_and_the_good_ones_of_their_claim_enter(crawl):
    bad = list(bad_requests.seeds())
    good = list(bad_requests.good_seeds(60))
    assert len(bad) > 400
    crawl.workers.settings = {**crawl.workers.settings, "SEINE_KEEP_ALIVE": 1}
    step = len(bad) // len(good)
    mixed = [seed for seed, _ in bad]
    for i, seed in enumerate(good):
        mixed.insert(i * (step + 1), seed)
    crawl.redis.rpush(crawl.seeds.seeds, *mixed)
    workers = [crawl.start(), crawl.start()]
    wait_until(
        lambda: (
            not crawl.redis.llen(crawl.seeds.seeds) and not crawl.redis.zcard(crawl.seeds.claims)
        ),
        60,
        "all seeds are settled",
    )

    assert [w.process.poll() for w in workers] == [None, None], "no worker stops"
    assert crawl.total("pushed") == len(good)
    rejects = crawl.rejects()
    assert len(rejects) == len(bad)
    told: dict[str, list[str]] = {}
    for note in rejects:
        told.setdefault(note["seed"], []).append(note["reason"])
    for seed, reason in bad:
        shown = printable(redact(seed[:2000].decode("utf-8", "backslashreplace")))
        assert any(reason in text for text in told[shown]), (shown[:200], reason, told[shown])


def test_bad_stored_requests_become_dead_letters_and_no_worker_stops(crawl):
    bad = list(bad_requests.stored())
    assert len(bad) > 400
    pipe = crawl.redis.pipeline()
    for i, stored in enumerate(bad):
        pipe.hset(crawl.keys.requests, str(i + 1), stored)
        pipe.zadd(crawl.keys.queue(bad_requests.HOST), {str(i + 1): level_of(0) * 2**40 + i})
    pipe.hset(crawl.keys.control, "seq", len(bad) + 10)
    pipe.zadd(crawl.keys.ready, {bad_requests.HOST: 1})
    pipe.execute()
    worker = crawl.start()
    wait_until(lambda: crawl.redis.zcard(crawl.keys.dead) == len(bad), 60, "all are set aside")
    crawl.wait_for_end()

    assert worker.process.returncode == 0
    notes = [json.loads(note) for note in crawl.redis.hgetall(crawl.keys.autopsy).values()]
    assert {note["reason"] for note in notes} == {"decode"}
    assert all(note["error"] for note in notes)

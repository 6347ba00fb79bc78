"""I8: junk under the names that a worker reads beside its requests neither stops nor steers it."""

from __future__ import annotations

import zlib

import pytest

from crawler.demo.shop_process import served
from tests.acceptance.conftest import said
from tests.helpers import wait_until

pytestmark = pytest.mark.acceptance

JUNK = (b"\xff\xfe", b"", b"nan", b"1e999", b"{", b"[[[[", b"-1", b"x\x1b[31m\n")


def strew(crawl, origin: str, host: str) -> None:
    """Write junk of the right type under all names but those of the queues themselves."""
    k, pipe = crawl.keys, crawl.redis.pipeline()
    for i, junk in enumerate(JUNK):
        pipe.lpush(k.actions, junk)
        pipe.hset(k.worker_info, junk, junk)
        pipe.zadd(k.workers, {junk: 9e15})
        pipe.sadd(k.cancelled, junk)
        pipe.zadd(k.jobs, {junk: i})
        pipe.hset(k.autopsy, junk, junk)
        pipe.zadd(k.dead, {junk: i})
        pipe.hset(k.control, junk, junk)
        pipe.hset(k.held, junk, junk)
        pipe.zadd(k.leases, {junk: i})
        pipe.zadd(k.leases, {f"9{i}": i})
        pipe.hset(k.held, f"9{i}", junk)
        pipe.zadd(k.delayed, {junk: i})
        pipe.zadd(k.waiting, {junk: i})
        pipe.zadd(k.ready, {junk: i})
        pipe.zadd(k.busiest, {junk: i})
        pipe.publish(k.wake, junk)
        pipe.publish(k.wake, b"block " + junk)
        pipe.publish(k.wake, b"cancel")
        for field in ("delay", "cap", "jitter", "throttle", "paused_at", "ended", "job_pages"):
            pipe.hset(k.control, field, junk)
        for field in (
            "delay",
            "cap",
            "due",
            "jitter",
            "robots",
            "measured",
            "spread_until",
            "spread",
        ):
            pipe.hset(f"{k.prefix}d:{host}", field, JUNK[(i + 1) % len(JUNK)])
        for field in ("total", "done", "failed", "domains", "state", "pace", "plan", "started_at"):
            pipe.hset(f"{k.prefix}job:j{i}", field, junk)
        for field in ("state", "body", "failures", "until"):
            pipe.hset(f"robots:{{{origin}}}", field, junk)
    pipe.hset(k.control, mapping={"throttle": "junk"})
    pipe.execute()


def test_junk_beside_the_requests_stops_no_worker(crawl):
    crawl.workers.settings = {**crawl.workers.settings, "SEINE_KEEP_ALIVE": 1}
    with served(products=30) as shop:
        host = shop.url.split("/")[2]
        strew(crawl, shop.url.rstrip("/"), host)
        worker = crawl.start()
        crawl.seed(*(f"{shop.url}p/{n}/x" for n in range(1, 4)))
        wait_until(lambda: "joins crawl" in said(worker), 30, "the worker is there")
        for _ in range(3):  # while it works, too
            strew(crawl, shop.url.rstrip("/"), host)
            crawl.seed(f"{shop.url}p/{_ + 5}/x")
            done = crawl.total("done")
            wait_until(lambda done=done: crawl.total("done") > done or not worker.alive, 30, "work")
        assert worker.alive, said(worker)[-3000:]
        wait_until(lambda: len(crawl.rows()) >= 6, 30, "the good pages are stored")
        assert worker.alive
    assert "Traceback" not in said(worker), said(worker)


BODIES = (b"\xff\xff", b"", zlib.compress(b"User-agent: *\nDisallow: /")[:-5], b"x" * 5000)


@pytest.mark.parametrize(("state", "body"), [("rules", body) for body in BODIES] + [(b"\xff", b"")])
def test_a_damaged_copy_of_robots_txt_is_fetched_anew(crawl, state, body):
    with served(products=30) as shop:
        origin = shop.url.rstrip("/")
        crawl.redis.hset(
            f"robots:{{{origin}}}",
            mapping={"state": state, "body": body, "failures": 0, "until": 9 * 10**15},
        )
        crawl.seed(f"{shop.url}p/1/x")
        worker = crawl.start()
        crawl.wait_for_end()
    assert worker.process.returncode == 0
    assert len(crawl.rows()) >= 1
    assert "Traceback" not in said(worker), said(worker)

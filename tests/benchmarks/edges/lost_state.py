"""Redis that loses the crawl's state, or falls back to an older one: the fleet says so."""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from redis.exceptions import RedisError

from tests.benchmarks.edges.scene import WORKERS, Scene, pause
from tests.helpers import wait_until


def flushed(scene: Scene) -> None:
    """FLUSHALL: every worker says so and ends with another status than 0."""
    name = scene.fault("7 Redis loses all: FLUSHALL")
    host, seed = scene.shelf(name, 300)
    scene.settings["SEINE_DOMAIN_CONCURRENCY"] = 4
    scene.seed(seed)
    workers = scene.start()
    # Who joins after the loss begins on the new state, and rightly waits for seeds there.
    wait_until(
        lambda: all("joins crawl" in scene.log_of(worker) for worker in workers),
        scene.patience_s,
        "each worker is in the crawl",
    )
    scene.asked(name, host, 60)
    with scene.redis.client() as redis:
        redis.flushall()
    scene.wait_end(name)
    for worker in workers:
        said = scene.log_of(worker)
        if worker.returncode == 0:
            scene.wrong("false_done", name, f"a worker ends with 0: {said[-200:]}")
        if not re.search("state.lost|lost.*state", said):
            scene.wrong("false_done", name, "a worker says nothing of the lost state")
    # What the lost state held is not known to anybody; it must only not be called done.
    scene.expected.clear()
    scene.judge()


def flushed_job(scene: Scene) -> None:
    """FLUSHALL under workers that stay: a job whose seeds are known is not called finished."""
    name = scene.fault("7 Redis loses a job: FLUSHALL with SEINE_KEEP_ALIVE")
    scene.environment["EDGES_KEEP_ALIVE"] = "1"
    scene.settings |= {"SEINE_KEEP_ALIVE": 1, "SEINE_DOMAIN_CONCURRENCY": 4}
    host, _ = scene.shelf(name, 200)
    begun = scene.scrapy("jobs", "start", f"http://{host}/shelf")
    if begun.returncode:
        scene.wrong("stuck", name, begun.stderr)
    scene.start()
    scene.asked(name, host, 60)
    with scene.redis.client() as redis:
        redis.flushall()
    pause(8)
    scene.settle(name)
    states = scene.query("SELECT job_id, state FROM jobs")
    open_ = [one for one in scene.expected if one.url not in scene.evidence().rows]
    things = [one for one in open_ if one.fate == "stored"]
    if things and any(row["state"] == "finished" for row in states):
        scene.wrong("false_done", name, f"{len(things)} products lack, yet {states}")
    scene.stop()
    scene.judge()


@contextmanager
def leases_watched(scene: Scene, name: str) -> Iterator[None]:
    """See each token name one lease only, whatever state of the crawl Redis falls back to.

    Numbers move on after a fall and workers let go of what they hold, so that a token that can be
    guessed or repeats harms nobody most of the time: the pages alone would never show it.
    """
    holders: dict[bytes, set[bytes]] = defaultdict(set)
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.02):
            with suppress(RedisError, OSError), scene.redis.client() as redis:
                for request, held in redis.hgetall(scene.keys.held).items():
                    holders[held.split(b" ")[0]].add(request)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(10)
    shared = [token for token, requests in holders.items() if len(requests) > 1]
    if shared or not holders:
        text = f"{len(shared)} of {len(holders)} tokens named several leases"
        scene.wrong("false_done", name, text)


def rolled_back(scene: Scene) -> None:
    """Fall back to the state of some seconds ago, twice: nothing is lost, nothing is wrong."""
    with leases_watched(scene, "6 tokens of leases"):
        _fall_back_twice(scene)


def _fall_back_twice(scene: Scene) -> None:
    scene.environment["EDGES_KEEP_ALIVE"] = "1"
    scene.settings |= {"SEINE_KEEP_ALIVE": 1, "SEINE_DOMAIN_CONCURRENCY": 4}
    scene.start()
    for number in range(2):
        name = scene.fault(f"6 Redis falls back to an older state, {number + 1}")
        host, seed = scene.shelf(name, 150, late_s=0.5)
        scene.seed(seed)
        scene.asked(name, host, 30)
        place = scene.folder / "older"
        scene.redis.copy_to(place)
        scene.asked(name, host, 70)
        scene.redis.fall_back_to(place)
        scene.settle(name)
    if len(scene.alive) != WORKERS:
        scene.wrong("stopped_workers", name, f"{len(scene.alive)} of {WORKERS} run")
    scene.stop()
    scene.exits("rolled back")
    scene.judge()

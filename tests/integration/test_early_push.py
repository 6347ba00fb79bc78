"""A page with more links than enter with its ack: what a worker's death between costs (I3)."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from pathlib import Path

import pytest
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

from scrapy_seine.engine.lease.early_push import MOST
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import Keys
from tests.helpers import patient
from tests.integration import roam

pytestmark = [pytest.mark.redis, pytest.mark.timeout(240)]
LINKS = MOST + 200


@pytest.mark.parametrize(("partitions", "how"), [(1, ("raises",)), (2, ())])
def test_a_worker_killed_between_the_first_links_and_the_ack_repeats_that_page_alone(
    redis_url: str, namespace: str, tmp_path: Path, partitions: int, how: tuple[str, ...]
) -> None:
    """I3, I1: the page is read again; each of its links is fetched, and twice only if in flight.

    So it is where the page's end is its burial, because its callback raised in the end.
    """
    logs = [tmp_path / "dies", tmp_path / "goes on"]
    with roam.web(LINKS + 1, fan_out=LINKS) as web, Redis.from_url(redis_url) as redis:
        redis.rpush(f"{namespace}:start_urls", web.url(0))
        dying = roam.start(redis_url, namespace, partitions, logs[0], "dies", *how)
        assert dying.wait(patient(60)) == -signal.SIGKILL, logs[0].read_text()
        parts = Keys(namespace, partitions).parts if partitions > 1 else [Keys(namespace)]
        entered = sum(redis.hlen(part.requests) for part in parts)
        assert entered == 1 + MOST, "the first links are there, and the page is not acked"
        #: With two partitions the links of the first may be fetched while the other's are pushed.
        early = [n for _, _, n in web.visits]
        assert early[0] == 0
        assert len(early) == len(set(early))
        other = roam.start(redis_url, namespace, partitions, logs[1], "stays", *how)
        assert other.wait(patient(120)) == 0, logs[1].read_text()
        asked = Counter(n for _, _, n in web.visits)
    assert asked.keys() == set(range(LINKS + 1))
    assert {n for n, times in asked.items() if times > 1} <= set(early), "in flight at the death"
    assert max(asked.values()) <= 2


def test_a_replay_reads_the_page_again_and_brings_none_of_its_links_twice(
    redis_url: str, namespace: str, tmp_path: Path
) -> None:
    """I3: the links entered with the burial; one of them skips the filter."""
    log = tmp_path / "log"
    with roam.web(4) as web, Redis.from_url(redis_url) as redis:
        redis.rpush(f"{namespace}:start_urls", web.url(0))
        for asked in ([0, 1, 2, 3], [0, 0, 1, 2, 3]):
            worker = roam.start(redis_url, namespace, 1, log, "stays", "raises")
            assert worker.wait(patient(60)) == 0, log.read_text()
            assert sorted(n for _, _, n in web.visits) == asked
            keys = Keys(namespace)
            (letter,) = redis.hvals(keys.autopsy)
            assert b"ValueError: as asked" in letter
            assert asyncio.run(_replay(redis_url, namespace)) == 1


async def _replay(redis_url: str, namespace: str) -> int:
    async with AsyncRedis.from_url(redis_url) as redis:
        frontier = Frontier(redis, namespace)
        letters = await redis.zrange(frontier.keys.dead, 0, -1)
        return await frontier.requeue_dead([letter.decode() for letter in letters])
